// The suite of flight-schema-suite.ts in two states; flight-schema.long.test.ts has them all.
import { FEW_STATES } from "../support/rows/served-rows.ts";
import { flightSchemaSuite } from "./flight-schema-suite.ts";

flightSchemaSuite(FEW_STATES);
