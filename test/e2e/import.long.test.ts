// Imports over rows in every state.
import { ROW_STATES } from "../support/row-states.ts";
import { importSuite } from "./import-states-suite.ts";

importSuite(ROW_STATES);
