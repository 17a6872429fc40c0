// What tests of databases and tables send to a real server, and how they read its lists.
import { expect } from "bun:test";
import type { TestServer } from "../support/servers/server.ts";
import { query } from "./client.ts";

export const CONFIGURE = "/api/v3/configure";

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Sends a request with a JSON body. */
export async function send(server: TestServer, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: typeof body === "string" ? body : JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, text: await response.text() };
}

export const create = (server: TestServer, body: unknown) => send(server, "POST", `${CONFIGURE}/database`, body);
export const remove = (server: TestServer, params: Record<string, string>) =>
  send(server, "DELETE", `${CONFIGURE}/${"table" in params ? "table" : "database"}?${new URLSearchParams(params)}`);
export const restore = (server: TestServer, body: Record<string, string>) =>
  send(server, "POST", `${CONFIGURE}/${"table" in body ? "table" : "database"}/restore`, body);

/** The databases that the server lists. */
export async function databases(server: TestServer, showDeleted = false): Promise<{ "iox::database": string; deleted?: boolean }[]> {
  const { status, text } = await send(server, "GET", `${CONFIGURE}/database?format=json${showDeleted ? "&show_deleted=true" : ""}`);
  expect(status).toBe(200);
  return JSON.parse(text) as { "iox::database": string }[];
}

export const names = async (server: TestServer) => (await databases(server)).map((row) => row["iox::database"]);

/** What the deleted ones are called now. */
export async function deletedNames(server: TestServer, former: string): Promise<string[]> {
  const rows = await databases(server, true);
  return rows.filter((row) => row.deleted === true && row["iox::database"].startsWith(`${former}-`)).map((row) => row["iox::database"]);
}

/** Names of the deleted tables of a database. */
export async function deletedTables(server: TestServer, database: string): Promise<string[]> {
  const rows = await server.sql<{ table_name: string }>(database, "SELECT table_name FROM system.tables WHERE deleted ORDER BY 1");
  return rows.map((row) => row.table_name);
}

export const sum = async (server: TestServer, database: string, table = "t") =>
  (await query(server, database, `SELECT count(*) AS n, sum(v) AS s FROM ${table}`, { format: "json" })).text;
