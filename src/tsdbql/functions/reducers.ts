// All reducers by name.
import { AGGREGATES } from "./aggregates.ts";
import type { Reducer } from "./operator.ts";
import { SELECTORS } from "./selectors.ts";

export const REDUCERS: ReadonlyMap<string, Reducer> = new Map([...AGGREGATES, ...SELECTORS].map((reducer) => [reducer.name, reducer]));
