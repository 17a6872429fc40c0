// What commands on a data folder have in common: which folder, of which node, and with which key.
import type { Option } from "../client/options.ts";

export const FOLDER_OPTIONS: readonly Option[] = [
  {
    name: "data-dir",
    value: "FOLDER",
    help: "Data folder of a server that is stopped.",
    default: "./.tsdb",
    env: ["TSDB_DATA_DIR", "INFLUXDB3_DATA_DIR", "INFLUXDB3_DB_DIR"],
  },
  {
    name: "node-id",
    value: "NAME",
    help: "Name of the server in the folder.",
    default: "node0",
    env: ["TSDB_NODE_ID", "INFLUXDB3_NODE_ID", "INFLUXDB3_NODE_IDENTIFIER_PREFIX"],
  },
];

export const KEY_OPTION: Option = {
  name: "v2-secret-key-file",
  value: "FILE",
  help: "Key of API tokens, as the server has it.",
  env: ["TSDB_V2_SECRET_KEY_FILE"],
};

export const KEY_TEXT_OPTION: Option = {
  name: "v2-secret-key",
  value: "KEY",
  help: "The key itself; by environment, because flags are seen by others.",
  env: ["TSDB_V2_SECRET_KEY"],
};

export const FORMAT_OPTION: Option = { name: "format", value: "FORMAT", help: "pretty or json.", default: "pretty" };
