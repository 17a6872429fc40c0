// The list of commands of the bucket-based API.
import type { ClientCommand } from "../command.ts";
import { ACCOUNT_COMMANDS } from "./accounts.ts";
import { AUTHORIZATION_COMMANDS } from "./authorizations.ts";
import { BACKUP_COMMANDS } from "./backup.ts";
import { BUCKET_COMMANDS } from "./buckets.ts";
import { CONNECTION_COMMANDS } from "./connections.ts";
import { INFLUXQL_SHELL } from "./influxql-shell.ts";
import { RESOURCE_COMMANDS } from "./resources.ts";
import { TASK_COMMANDS } from "./tasks.ts";
import { TEMPLATE_COMMANDS } from "./templates.ts";

export const V2_COMMANDS: readonly ClientCommand[] = [
  ...CONNECTION_COMMANDS,
  ...BUCKET_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...AUTHORIZATION_COMMANDS,
  INFLUXQL_SHELL,
  ...TASK_COMMANDS,
  ...RESOURCE_COMMANDS,
  ...TEMPLATE_COMMANDS,
  ...BACKUP_COMMANDS,
];
