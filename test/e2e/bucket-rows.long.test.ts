// Rows of buckets in every state.
import { ROW_STATES } from "../support/rows/row-states.ts";
import { bucketRowsSuite } from "./bucket-rows-suite.ts";

bucketRowsSuite(ROW_STATES, 120_000);
