// Small internal packages: `internal/influxql`, `internal/location`, `internal/gen`; and secrets.

import { GroupKey, type KeyColumn, TableBuilder } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { FluxArray, FluxRecord, Time } from "../../values/value.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";

export const INFLUXQL: LibraryPackage = {
  path: "internal/influxql",
  name: "influxql",
  source: `
epoch = 1970-01-01T00:00:00Z
minTime = 1677-09-21T00:12:43.145224194Z
maxTime = 2262-04-11T23:47:16.854775806Z
`,
  natives: {},
};

export const LOCATION: LibraryPackage = {
  path: "internal/location",
  name: "location",
  source: 'option location = {zone: "UTC", offset: 0h}',
  natives: {},
};

export const SECRETS: LibraryPackage = {
  path: "influxdata/influxdb/secrets",
  name: "secrets",
  source: "builtin get : (key: string) => string",
  natives: {
    get: (call) => {
      const found = call.run.services.secret?.(call.string("key")) ?? null;
      if (found === null) throw new FluxError("secret not found", "not found");
      return found;
    },
  },
};

const ROWS_MAX = 10_000_000;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Numbers in [0, 1) from a seed (xorshift, G. Marsaglia, 2003). */
function random(seed: bigint): () => number {
  let state = BigInt.asUintN(64, seed * 0x9e3779b97f4a7c15n + 0x1234567n) || 1n;
  return () => {
    state ^= BigInt.asUintN(64, state << 13n);
    state ^= state >> 7n;
    state ^= BigInt.asUintN(64, state << 17n);
    return Number(state >> 11n) / 2 ** 53;
  };
}

/** A table for each combination of tag values, with `n` random numbers each. */
const tables: NativeBody = (call) => {
  const n = call.int("n");
  const nulls = call.float("nulls", 0);
  if (!(nulls >= 0 && nulls <= 1)) throw new FluxError(`null ratio must be between 0.0 and 1.0, got ${nulls}`);
  const next = random(call.bigint("seed", 0n));
  const tags = call.array("tags", new FluxArray([])).items.map((item) => {
    const record = item instanceof FluxRecord ? item : new FluxRecord(new Map());
    const [label, count] = [record.get("name"), record.get("cardinality")];
    if (typeof label !== "string" || typeof count !== "bigint") throw new FluxError("tags need a name and a cardinality");
    return { label, count: Number(count) };
  });
  const total = tags.reduce((product, { count }) => product * Math.max(0, count), Math.max(0, n));
  // the values of each tag are made even when there is no row
  if (Math.max(total, ...tags.map(({ count }) => count)) > ROWS_MAX) throw new FluxError(`gen.tables makes at most ${ROWS_MAX} rows`);
  if (new Set(tags.map(({ label }) => label)).size < tags.length) throw new FluxError("two tags have one name");
  const values = tags.map(({ label, count }) =>
    Array.from({ length: Math.max(0, count) }, (_, i): KeyColumn => {
      const letters = Array.from({ length: 3 + Math.floor(next() * 5) }, () => LETTERS[Math.floor(next() * LETTERS.length)]);
      return { label, type: "string", value: `${letters.join("")}${i}` };
    }),
  );
  const keys = values.reduce<KeyColumn[][]>((all, each) => all.flatMap((key) => each.map((column) => [...key, column])), [[]]);
  return streamOf(call, [], (_, run) =>
    keys.map((columns) => {
      const builder = new TableBuilder(new GroupKey(columns));
      for (let row = 0; row < n; row++) {
        builder.column("_time", "time").append(new Time(run.nowTime.ns - BigInt(n - row) * 1_000_000_000n));
        for (const { label, type, value } of columns) builder.column(label, type).append(value);
        const column = builder.column("_value", "float");
        if (next() < nulls) column.appendNull();
        else column.append(next() * 100);
        builder.endRow();
      }
      return builder.build();
    }),
  );
};

export const GEN: LibraryPackage = {
  path: "internal/gen",
  name: "gen",
  source:
    "builtin tables : (n: int, ?nulls: float, ?tags: [{name: string, cardinality: int}], ?seed: int) => stream[{A with _time: time, _value: float}]",
  natives: { tables },
};
