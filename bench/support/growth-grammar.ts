// A grammar for the benchmark of growing statements: its productions, each a text of adjustable length, depth or size.
import type { TestServer } from "../../test/support/servers/server.ts";
import type { Size } from "./bench.ts";

export interface Production {
  /** Includes what is counted: `OR of n equalities`. */
  readonly name: string;
  /** The first n for each size of benchmark; it runs at n, 2n, 4n and 8n. */
  readonly n: Readonly<Record<Size, number>>;
  text(n: number): string;
}

export interface Grammar {
  readonly name: string;
  readonly productions: readonly Production[];
  /** Writes the rows that the statements read. The database exists. */
  prepare(server: TestServer, database: string, size: Size): Promise<void>;
  /** The request that sends the text. */
  request(server: TestServer, database: string, text: string): Request;
}

/** `make(0)` to `make(n - 1)`, joined by `separator`. */
export function list(n: number, separator: string, make: (i: number) => string): string {
  return Array.from({ length: n }, (_, i) => make(i)).join(separator);
}

/** `inner` within n opening and n closing texts. */
export function nested(n: number, open: string, inner: string, close: string): string {
  return `${open.repeat(n)}${inner}${close.repeat(n)}`;
}

/** Writes lines in bodies of 10,000, sequentially. @throws Error with the answer unless all are accepted */
export async function writeLines(server: TestServer, database: string, count: number, line: (i: number) => string): Promise<void> {
  const BODY_LINES = 10_000;
  for (let from = 0; from < count; from += BODY_LINES) {
    const body = list(Math.min(BODY_LINES, count - from), "\n", (i) => line(from + i));
    const response = await fetch(`${server.url}/write?db=${database}`, { method: "POST", body });
    if (!response.ok) throw new Error(`write: ${response.status} ${await response.text()}`);
  }
}
