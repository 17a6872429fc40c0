// The recorded requests at one server: each answer is the vendor's in names, values, types, marks and status, but for what the tables here
// name. `npm test` asks some of them, `npm run test:long` all. Answers in other states of the rows are states.long.test.ts's.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { differenceOf, isSameValue } from "./compare-answer.ts";
import { DIFFERENT, type Difference } from "./different-answers.ts";
import { playStatement, SQL_PATH, TSDBQL_PATH } from "./played-answer.ts";
import {
  DATABASE,
  exactJson,
  parseExact,
  play,
  type RecordedVector,
  requestVectors,
  sqlVectors,
  tsdbqlVectors,
  vectorSteps,
} from "./vectors.ts";

const TIMEOUT_MS = 300_000;
/** Requests on their way at a time. */
const LANES = 4;

interface Recorded {
  readonly id: string;
  readonly class?: string;
}

/** Ids with what differs, in the order of the vectors; those that have a class are asked too, but may differ. */
async function differences<T extends Recorded>(vectors: readonly T[], difference: (vector: T) => Promise<string | null>) {
  const found: (string | null)[] = [];
  let next = 0;
  const lane = async () => {
    while (next < vectors.length) {
      const at = next++;
      found[at] = await difference(vectors[at]!);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return vectors.flatMap(({ id, class: known }, i) => (found[i] === null || known !== undefined ? [] : [{ id, what: found[i]! }]));
}

/** What differs is what the tables name of these vectors, no more and no less. */
async function expectKnown<T extends Recorded & { readonly request: unknown }>(
  vectors: readonly T[],
  difference: (vector: T) => Promise<string | null>,
): Promise<void> {
  const found = await differences(vectors, difference);
  const requests = new Map(vectors.map(({ id, request }) => [id, exactJson(request)]));
  const known = new Set(DIFFERENT.map(([id]: Difference) => id).filter((id) => requests.has(id)));
  const unknown = found.filter(({ id }) => !known.has(id)).map(({ id, what }) => `${id} ${requests.get(id)}\n  ${what.slice(0, 600)}`);
  const ids = new Set(found.map(({ id }) => id));
  expect({ unknown, noMore: [...known].filter((id) => !ids.has(id)) }).toEqual({ unknown: [], noMore: [] });
}

/** A text as its JSON documents, which may stand apart or indented; errors without their text. */
function documentsOf(answer: unknown): unknown {
  if (typeof answer !== "string") return documentsOf(exactJson(answer));
  const documents = answer.trim().split(/(?<=\})\s*(?=\{\s*"results")/);
  if (!documents[0]!.startsWith("{")) return answer;
  return documents.map((text) => withoutErrors(parseExact(text)));
}

function withoutErrors(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutErrors);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, name === "error" ? "" : withoutErrors(one)]));
}

/** Of every `oneIn` vectors the last is asked. */
export function recordedAnswers(oneIn: number): void {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    for (const step of vectorSteps()) {
      const query = new URLSearchParams({ db: DATABASE, precision: "nanosecond" });
      const body = "lines" in step ? step.lines : "";
      const response = await fetch(`${server.url}/api/v3/write_lp?${query}`, { method: "POST", body });
      expect(response.status).toBe(204);
    }
  }, TIMEOUT_MS);
  afterAll(() => server.dispose());

  const some = <T>(vectors: readonly T[]) => vectors.filter((_, i) => i % oneIn === oneIn - 1);
  const statements = (path: string, vectors: readonly RecordedVector[]) => () =>
    expectKnown(some(vectors), async (vector) =>
      differenceOf(vector, await playStatement(server.url, path, vector), { isByTime: path === TSDBQL_PATH }),
    );

  test("recorded SQL statements", statements(SQL_PATH, sqlVectors()), TIMEOUT_MS);

  test("recorded InfluxQL statements", statements(TSDBQL_PATH, tsdbqlVectors()), TIMEOUT_MS);

  test(
    "/query",
    () =>
      expectKnown(some(requestVectors()), async (vector) => {
        const played = await play(server.url, vector);
        const status = Number(played.slice(0, 3));
        const text = Buffer.from(played.slice(4), "latin1").toString();
        const isSame = status >= 400 || isSameValue(documentsOf(vector.answer), documentsOf(text), 1e-9);
        if (status === vector.status && isSame) return null;
        return `${status} ${text} for ${vector.status} ${JSON.stringify(vector.answer)}`;
      }),
    TIMEOUT_MS,
  );
}
