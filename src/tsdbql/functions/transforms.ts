// All transforms by name.
import { AVERAGES } from "./averages.ts";
import { FORECASTS } from "./holt-winters.ts";
import type { Transform } from "./operator.ts";
import { RATES } from "./rates.ts";

export const TRANSFORMS: ReadonlyMap<string, Transform> = new Map(
  [...RATES, ...AVERAGES, ...FORECASTS].map((transform) => [transform.name, transform]),
);
