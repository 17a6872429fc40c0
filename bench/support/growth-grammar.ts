// What a grammar is to the bench of growing statements: its productions, each a text that is as long, as deep or as large as is asked for.
import type { TestServer } from "../../test/support/server.ts";
import type { Size } from "./bench.ts";

export interface Production {
  /** With what is counted: `OR of n equalities`. */
  readonly name: string;
  /** The first n of each size of bench; it is asked at n, 2n, 4n and 8n. */
  readonly n: Readonly<Record<Size, number>>;
  text(n: number): string;
}

export interface Grammar {
  readonly name: string;
  readonly productions: readonly Production[];
  /** Writes what the statements read. The database is there already. */
  prepare(server: TestServer, database: string, size: Size): Promise<void>;
  /** What its clients send. */
  request(server: TestServer, database: string, text: string): Request;
}

/** `make(0)` to `make(n - 1)`, with `separator` between. */
export function list(n: number, separator: string, make: (i: number) => string): string {
  return Array.from({ length: n }, (_, i) => make(i)).join(separator);
}

/** `inner` between n openings and n closings. */
export function nested(n: number, open: string, inner: string, close: string): string {
  return `${open.repeat(n)}${inner}${close.repeat(n)}`;
}

/** Lines in bodies of 10,000, one after the other. @throws Error with the answer unless all are taken */
export async function writeLines(server: TestServer, database: string, count: number, line: (i: number) => string): Promise<void> {
  const BODY_LINES = 10_000;
  for (let from = 0; from < count; from += BODY_LINES) {
    const body = list(Math.min(BODY_LINES, count - from), "\n", (i) => line(from + i));
    const response = await fetch(`${server.url}/write?db=${database}`, { method: "POST", body });
    if (!response.ok) throw new Error(`write: ${response.status} ${await response.text()}`);
  }
}
