// The file of named connections: sections with url, token and org, one of them active. Other clients of the v2 line read the same file.
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TsdbError } from "../../../model/errors.ts";
import type { Environment } from "../../flags.ts";

/** One connection. */
export interface Connection {
  readonly url?: string;
  readonly token?: string;
  readonly org?: string;
  readonly active?: boolean;
}

/** Connections by their names. */
export type Connections = Readonly<Record<string, Connection>>;

const FILE = ".influxdbv2/configs";
const OWNER_ONLY = 0o600;

/** Where the file is: `~/.influxdbv2/configs` unless a path is given. */
export function configsPath(given: string | undefined, environment: Environment): string {
  return given ?? join(environment["HOME"] ?? ".", FILE);
}

/** Empty if there is no file. @throws TsdbError config: the file cannot be read */
export function readConnections(path: string): Connections {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new TsdbError("config", `--configs-path: cannot read the file: ${(error as Error).message}`);
  }
  let content: Record<string, unknown>;
  try {
    content = Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new TsdbError("config", `${path}: ${(error as Error).message}`);
  }
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, connectionOf(path, name, value)]));
}

function connectionOf(path: string, name: string, value: unknown): Connection {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TsdbError("config", `${path}: ${name} must be a table: write [${name}]`);
  }
  const { url, token, org, active } = value as Record<string, unknown>;
  for (const [key, each] of Object.entries({ url, token, org })) {
    if (each !== undefined && typeof each !== "string") throw new TsdbError("config", `${path}: ${name}.${key} must be a text`);
  }
  if (active !== undefined && typeof active !== "boolean") throw new TsdbError("config", `${path}: ${name}.active must be true or false`);
  return value as Connection;
}

/** Replaces the file as a whole; its owner alone can read it, because it holds tokens. @throws TsdbError io */
export function writeConnections(path: string, connections: Connections): void {
  const quoted = (text: string) => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
  const sections = Object.entries(connections).map(([name, connection]) => {
    const lines = Object.entries(connection).map(([key, value]) => `  ${key} = ${typeof value === "string" ? quoted(value) : value}\n`);
    return `[${/^[\w-]+$/.test(name) ? name : quoted(name)}]\n${lines.join("")}`;
  });
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const next = `${path}.next`;
    writeFileSync(next, sections.join("\n"), { mode: OWNER_ONLY });
    chmodSync(next, OWNER_ONLY);
    renameSync(next, path);
  } catch (error) {
    throw new TsdbError("io", `cannot write ${path}: ${(error as Error).message}`, {}, { cause: error });
  }
}

/** With `name` as the only active one. */
export function activated(connections: Connections, name: string): Connections {
  return Object.fromEntries(
    Object.entries(connections).map(([each, { active: _, ...connection }]) => [
      each,
      each === name ? { ...connection, active: true } : connection,
    ]),
  );
}

/** The named connection, otherwise the active one, otherwise none. @throws TsdbError config: there is none of that name */
export function chosenConnection(connections: Connections, name: string | undefined): Connection {
  if (name === undefined) return Object.values(connections).find(({ active }) => active === true) ?? {};
  if (Object.hasOwn(connections, name)) return connections[name]!;
  const names = Object.keys(connections);
  throw new TsdbError(
    "config",
    `--active-config: no connection "${name}"; ${names.length === 0 ? "tsdb v2 config create makes one" : `there are ${names.join(", ")}`}`,
  );
}
