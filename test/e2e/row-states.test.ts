// The suite of row-states-suite.ts in two states; row-states.long.test.ts has them all.
import { FEW_STATES } from "../support/rows/served-rows.ts";
import { rowStatesSuite } from "./row-states-suite.ts";

rowStatesSuite(FEW_STATES);
