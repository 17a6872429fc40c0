// Programs in other languages that use clients of others, unmodified: `.ci/clients` installs what it can, and what is not there is left
// out.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../support/servers/server.ts";

const INSTALLED = join(import.meta.dir, "../../node_modules/.native-clients");

export type NativeClient = "python" | "go" | "java" | "influx" | "telegraf";

/** Where a client is installed. */
export function installed(...path: readonly string[]): string {
  return join(INSTALLED, ...path);
}

/** False, and a line that says why, for a client that is not installed. */
export function isInstalled(name: NativeClient): boolean {
  if (existsSync(installed(`${name}.done`))) return true;
  const log = installed(`${name}.log`);
  const reason = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").slice(-2).join(" ") : "run .ci/clients to install them";
  console.log(`clients in ${name} are left out: ${reason}`);
  return false;
}

/** The command of a program for Java: a file of source, and libraries. */
export function javaCommand(file: string): string[] {
  const flags = ["--add-opens=java.base/java.nio=ALL-UNNAMED", "-Dfile.encoding=UTF-8", "-cp", installed("java", "*")];
  return ["java", ...flags, join(import.meta.dir, "java", file)];
}

/** What the program prints. @throws Error, with what both said, unless it ends with 0 */
async function outputOf(command: readonly string[], server: TestServer, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe", env: { ...process.env, ...env } });
  const [code, output, errors] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if (code !== 0) throw new Error(`${command.join(" ")}: exit ${code}\n${errors}\n${output}\n${server.output}`);
  return output;
}

export type Findings = Record<string, Record<string, unknown>>;

/** What the program found, a JSON object; null when it is not installed. */
export async function findings(name: NativeClient, command: readonly string[], server: TestServer): Promise<Findings | null> {
  return isInstalled(name) ? (JSON.parse(await outputOf(command, server)) as Findings) : null;
}
