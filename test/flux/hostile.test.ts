// Every function of the library with arguments that it does not expect: each call gives a value or an error of the script, never another
// error, and comes to an end. FLUX_ROUNDS is the number of calls of each function, FLUX_SEED the seed.
import { expect, test } from "bun:test";
import { AnswerPending } from "../../src/flux/interpret/outside.ts";
import { RUN_LIMITS } from "../../src/flux/interpret/run-limits.ts";
import { ScriptRun } from "../../src/flux/interpret/script-run.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { planProblem, startAll } from "../../src/flux/tables/plan-check.ts";
import { StreamNode } from "../../src/flux/tables/stream.ts";
import { resolve, type Type } from "../../src/flux/types/type.ts";
import { FluxFunction, Time, type Value } from "../../src/flux/values/value.ts";
import { TsdbError } from "../../src/model/errors.ts";
import { prng } from "../support/prng.ts";
import { HostileValues } from "./hostile-values.ts";
import { MemorySource } from "./memory-source.ts";

const ROUNDS = Number(process.env["FLUX_ROUNDS"] ?? 12);
const SEED = Number(process.env["FLUX_SEED"] ?? 7);
/** Small, so that what would be large is refused soon. */
const LIMITS = { ...RUN_LIMITS, stepsMax: 300_000, cellsMax: 200_000, bytesMax: 32 << 20, busyMsMax: 2000 };
const TABLES_MAX = 5000;

const source = new MemorySource();
source.addBucket("a", 'm,host=x v=1,_value=2i,s="t" 1000000000\nm,host=y v=2 2000000000');

function newRun(): ScriptRun {
  return new ScriptRun(new Time(1_709_634_600_000_000_000n), source, fluxLibrary(), LIMITS);
}

/** The function's value for arguments of the types of its parameters; optional ones are given or not. */
function called(fn: FluxFunction, type: Type | null, values: HostileValues, give: () => boolean): Value {
  const args = new Map<string, Value>();
  for (const { name, isOptional, isPipe } of fn.parameters) {
    if (isOptional && !give()) continue;
    const wanted = typeOfParameter(type, name, isPipe);
    args.set(name, wanted === null ? values.any() : values.of(wanted));
  }
  return fn.call(args);
}

function typeOfParameter(given: Type | null, name: string, isPipe: boolean): Type | null {
  const type = given === null ? null : resolve(given);
  if (type?.kind !== "function") return null;
  if (isPipe && type.pipe !== null) return type.pipe.type;
  return [...type.required, ...type.optional].find((each) => each[0] === name)?.[1] ?? null;
}

/** Reads what a call gave: the tables of a stream, the values of a function that it made. */
function used(run: ScriptRun, given: Value, type: Type | null, values: HostileValues, give: () => boolean): void {
  let value = given;
  let of = type;
  for (let depth = 0; depth < 3 && value instanceof FluxFunction; depth++) {
    const known = of === null ? null : resolve(of);
    of = known?.kind === "function" ? known.result : null;
    value = called(value, of, values, give);
  }
  if (!(value instanceof StreamNode) || planProblem([value]) !== null) return;
  startAll([value], run);
  run.outside.stream();
  let tables = 0;
  for (const table of value.open(run)) {
    run.pause();
    if (table === null) {
      run.outside.waiting = null;
      continue;
    }
    for (const column of table.columns) {
      if (column.length !== table.rowCount) throw new Error(`BUG: column ${column.label} has ${column.length} rows of ${table.rowCount}`);
      if (table.rowCount > 0) column.get(table.rowCount - 1);
    }
    if (++tables >= TABLES_MAX) return;
  }
}

const FUNCTIONS = [...fluxLibrary().paths].flatMap((path) =>
  [...fluxLibrary().importPackage(path)!.members.entries()]
    .filter(([, { type }]) => resolve(type).kind === "function")
    .map(([name, { type }]) => ({ path, name, type })),
);

test("the library has its functions", () => {
  expect(FUNCTIONS.length).toBeGreaterThan(500);
});

test.each([...new Set(FUNCTIONS.map(({ path }) => path))])("%s", (path) => {
  const problems: string[] = [];
  for (const { name, type } of FUNCTIONS.filter((each) => each.path === path)) {
    for (let round = 0; round < ROUNDS; round++) {
      const below = prng(SEED * 1_000_003 + round * 7919 + Bun.hash.crc32(`${path}.${name}`));
      const give = () => below(2) === 0;
      const values = new HostileValues(below);
      const run = newRun();
      try {
        const fn = run.importPackage(path).get(name);
        if (!(fn instanceof FluxFunction)) throw new Error(`BUG: ${name} is no function`);
        used(run, called(fn, type, values, give), type, values, give);
      } catch (error) {
        if (error instanceof TsdbError || error instanceof AnswerPending) continue;
        const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
        problems.push(`${name}, round ${round}: ${shown.split("\n").slice(0, 3).join(" | ")}`);
        break;
      }
    }
  }
  expect(problems).toEqual([]);
});
