// Rows of buckets in some of their states; the others are in bucket-rows.long.test.ts.
import { FEW_STATES } from "../support/rows/served-rows.ts";
import { bucketRowsSuite } from "./bucket-rows-suite.ts";

bucketRowsSuite(FEW_STATES, 60_000);
