// Checks and rules run as tasks: what a task keeps of their scripts.
import type { TaskScript } from "../metadata/resources/tasks.ts";
import { readTaskOptions } from "../tasks/script/options.ts";

/** @throws TsdbError bad_request: the script is none of a task */
export function taskScript(flux: string): TaskScript {
  const { name, every, cron, offset } = readTaskOptions(flux);
  return { flux, name, every, cron, offset };
}
