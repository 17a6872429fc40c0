// Random requests over raw sockets, to the HTTP port and the Flight port, with and without TLS. What ran is compared with what access was
// checked for, with the table of routes, and with the path that another parser finds in the bytes. Without a token only open routes answer,
// no service is called, and no token is made. `ROUNDS=… SEED=… bun test test/fuzz/access.long.test.ts` runs longer or again.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { AccessControl, type AccessObserver } from "../../src/api/shared/access.ts";
import type { AccessRule } from "../../src/model/access.ts";
import { mayAsk, ROUTES, tokenWorld } from "../api/access-table.ts";
import { fakes } from "../api/fakes.ts";
import { exchange, type Listeners, listen, statusesOf } from "../api/listeners.ts";
import { pick, prng } from "../support/prng.ts";
import { ID_HEADER, randomExchange, type Sent } from "./requests.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const ROUNDS = Number(process.env["ROUNDS"] ?? 1000);

interface Check {
  readonly rule: AccessRule;
  readonly isAdmitted: boolean;
}
interface Run {
  readonly id: number;
  readonly route: string;
  readonly rule: AccessRule;
  /** The check before it, of the same request. */
  readonly check: Check | undefined;
}

const runs: Run[] = [];
const calls: string[] = [];
const checks = new WeakMap<Request, Check>();
const observer: AccessObserver = {
  checked: (request, rule, isAdmitted) => void checks.set(request, { rule, isAdmitted }),
  running: (request, route, rule) => {
    runs.push({ id: Number(request.headers.get(ID_HEADER)), route, rule, check: checks.get(request) });
  },
};

const { catalog, tokens, authorizer, texts } = await tokenWorld();
const fake = fakes({
  access: new AccessControl(authorizer, observer),
  tokens,
  onCall: (service, method) => calls.push(`${service}.${method}`),
});
const NEEDS = new Map(ROUTES.map(([method, path, need]) => [`${method} ${path}`, need]));
/** Those that count for nothing most often: they must never get anywhere. */
const TOKENS = [null, null, null, "reader", "everything of another", "all pages", "auditor", "user without roles"];
/** What open routes call. */
const OPEN_CALLS = /^(?:signIns\.|provider\.config$|users\.createFirst$)/;
/** What an auditor may. */
const READS_OF_USERS = /^users\.(?:list|get|ofOauth|rolesOf|roles|roleNamed|role)$/;
/** Answers that hold only what the token may read. */
const FILTERED_READS = new Set(["databaseList.list", "definitions.show", "exports.databases", "rowDeletes.list"]);
/** The table of routes asks them for database d only. */
const READS_OF_D = new Set(["exports.tables", "exports.windows", "exports.archive"]);
let listeners: Listeners;
beforeAll(async () => {
  listeners = await listen(fake.services);
});
afterAll(() => listeners[Symbol.asyncDispose]());

/** What no request without an admin's token may change. */
const state = () => JSON.stringify([catalog.tokens(), catalog.nextIds]);

/** A parameter of a route's path stands for any text of one segment. */
function isOf(pattern: string, path: string | undefined): boolean {
  const segments = path?.split("/") ?? [];
  const wanted = pattern.split("/");
  return segments.length === wanted.length && wanted.every((text, i) => (text.startsWith(":") ? segments[i] !== "" : text === segments[i]));
}

/** A request that ran, against the request that was sent, the table of routes, and the check. */
function judge({ id, route, rule, check }: Run, sent: readonly Sent[]): string | undefined {
  const request = sent[id];
  const need = NEEDS.get(route);
  if (request === undefined) return "a request that was not sent";
  if (need === undefined) return "a route that the table does not have";
  if (check === undefined || !check.isAdmitted) return "it was not admitted";
  if (check.rule !== rule) return `it was checked for ${check.rule}`;
  const [method, path] = route.split(" ");
  const isMeant = path!.endsWith("/*") ? request.path?.startsWith(path!.slice(0, -1)) : isOf(path!, request.path);
  if (!isMeant) return `the request was for ${request.path}`;
  if (method !== "ALL" && request.method !== method) return `the request was ${request.method}`;
  if (need === "nothing") return undefined;
  if (request.token === null) return "there was no token";
  // what a token may do to a database is asked by the handler; that is seen by what it calls
  return need.startsWith("db:") || mayAsk(need, request.token) ? undefined : `the token was ${request.token}`;
}

test(
  `${ROUNDS} exchanges, seed ${SEED}`,
  async () => {
    const below = prng(SEED);
    const before = state();
    let ran = 0;
    // of all rounds: under load a request may run when the next exchange has begun
    const all: Sent[] = [];
    let earlier: readonly Run[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const listener = pick(below, listeners.all);
      const sent = randomExchange(below, texts, TOKENS, all.length);
      all.push(...sent);
      for (const list of [runs, calls, fake.writes, fake.queries]) list.length = 0;
      const received = await exchange(listener, sent.map(({ bytes }) => bytes).join(""));
      const about = `round ${round}, ${listener.name}:\n${sent.map(({ bytes }) => bytes).join("\n---\n")}\ngot\n${received.slice(0, 1000)}`;
      for (const run of runs) expect(judge(run, all), `${run.route} ran, ${about}`).toBeUndefined();
      const answered = statusesOf(received).filter((status) => status >= 200 && status < 300).length;
      const preflights = sent.filter(({ method }) => method === "OPTIONS").length;
      expect(answered, `answers without a route, ${about}`).toBeLessThanOrEqual(runs.length + preflights);
      // what was called is of these requests, or of one of the exchange before that still ran
      const callers = [...sent, ...[...earlier, ...runs].map(({ id }) => all[id]!)];
      earlier = [...runs];
      // none of these tokens may change anything, nor see a row but of database d
      const other = calls.filter((call) => !OPEN_CALLS.test(call));
      const changes = other.filter((call) => !FILTERED_READS.has(call) && !READS_OF_D.has(call) && !READS_OF_USERS.test(call));
      expect([changes, fake.writes], about).toEqual([[], []]);
      if (callers.every(({ token }) => token !== "reader")) {
        expect(
          fake.queries.filter(({ database }) => database === "d"),
          about,
        ).toEqual([]);
        expect(
          calls.filter((call) => READS_OF_D.has(call)),
          about,
        ).toEqual([]);
      }
      if (callers.every(({ token }) => token !== "auditor")) {
        expect(
          other.filter((call) => READS_OF_USERS.test(call)),
          about,
        ).toEqual([]);
      }
      if (callers.every(({ token }) => token === null)) expect([other, fake.queries], about).toEqual([[], []]);
      expect(state(), about).toBe(before);
      ran += runs.length;
    }
    // the fuzz would find nothing in requests that nothing reads
    expect(ran).toBeGreaterThan(ROUNDS / 25);
  },
  60_000 + ROUNDS * 100,
);
