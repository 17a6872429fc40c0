// The suite of flight-schema-suite.ts in every state.
import { ROW_STATES } from "../support/rows/row-states.ts";
import { flightSchemaSuite } from "./flight-schema-suite.ts";

flightSchemaSuite(ROW_STATES);
