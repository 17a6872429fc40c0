// Checks and rules run as tasks: the properties of a task that come from their script.
import type { TaskScript } from "../metadata/resources/tasks.ts";
import { readTaskOptions } from "../tasks/script/options.ts";

/** @throws TsdbError bad_request if it is not the script of a task */
export function taskScript(flux: string): TaskScript {
  const { name, every, cron, offset } = readTaskOptions(flux);
  return { flux, name, every, cron, offset };
}
