// The suite of row-states-suite.ts in every state.
import { ROW_STATES } from "../support/rows/row-states.ts";
import { rowStatesSuite } from "./row-states-suite.ts";

rowStatesSuite(ROW_STATES);
