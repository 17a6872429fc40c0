// The process of one request to SQLite: reads it from its input, writes the answer to its output, and ends.
import { deserialize, serialize } from "bun:jsc";
import { insertRows, queryRows } from "./sqlite.ts";
import type { SqliteAnswer, SqliteRequest } from "./sqlite-process.ts";

function answered(request: SqliteRequest): SqliteAnswer {
  try {
    if ("query" in request) return { rows: queryRows(request.file, request.query, request) };
    insertRows(request.file, request.insert);
    return { done: true };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

const request = deserialize(await Bun.stdin.bytes()) as SqliteRequest;
await Bun.write(Bun.stdout, new Uint8Array(serialize(answered(request))));
