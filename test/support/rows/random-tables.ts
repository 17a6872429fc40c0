// Random tables of typical kinds: one series, one row, tags on all rows or only some, columns added later, several days and their
// boundaries, rewritten points, deletions. As steps of row-states.ts, and as the list of remaining points.

import { ALL_TIME } from "../../../src/model/query/scan.ts";
import { ColumnType } from "../../../src/model/rows/column.ts";
import type { DeleteRequest } from "../../../src/model/rows/deletion.ts";
import { type Below, pick } from "../prng.ts";
import { lineText, type ModelField, type ModelLine, StorageModel } from "../storage/storage-model.ts";
import type { RowStep } from "./row-states.ts";

const TABLE = "cpu";
const SECOND_NS = 1_000_000_000n;
const DAY_NS = 86_400n * SECOND_NS;
const HOSTS = ["a", "b", "host with a long name", "é", "B"];
const REGIONS = ["eu", "us"];

export interface RandomTable {
  readonly steps: readonly RowStep[];
  readonly model: StorageModel;
  /** No two rows have the same time. */
  readonly areTimesUnique: boolean;
}

/** Common properties of a table's rows. */
interface Kind {
  readonly tags: (below: Below) => Record<string, string>;
  readonly rowsMax: number;
  readonly days: readonly bigint[];
  readonly areTimesUnique: boolean;
}

const TAGS: readonly Kind["tags"][] = [
  () => ({ host: "a" }),
  () => ({ host: "a", Region: "eu" }),
  (below) => ({ host: pick(below, HOSTS), Region: "eu" }),
  (below) => (below(3) === 0 ? {} : { host: "a" }),
  (below) => ({ ...(below(4) > 0 ? { host: pick(below, HOSTS) } : {}), ...(below(2) === 0 ? { Region: pick(below, REGIONS) } : {}) }),
  () => ({}),
];

/** Table `cpu` of database `db`, with columns of TWIN_COLUMNS (sql-twins.ts), some of which may have no values. */
export function randomTable(below: Below): RandomTable {
  const kind: Kind = {
    tags: pick(below, TAGS),
    rowsMax: pick(below, [1, 4, 40, 120]),
    days: pick(below, [[0n], [0n], [-2n, -1n, 0n, 1n]]),
    areTimesUnique: below(3) > 0,
  };
  const model = new StorageModel();
  const series = new Map<string, number>();
  const steps: RowStep[] = [];
  const bodies = 1 + below(4);
  const late = pick(below, ["f", "s", "none"]);
  for (let body = 0; body < bodies; body++) {
    const columns = body < bodies - 1 ? FIELDS.filter(({ name }) => name !== late) : FIELDS;
    const lines = Array.from({ length: 1 + below(kind.rowsMax) }, () => randomLine(below, kind, series, columns));
    model.write(lines);
    steps.push({ database: "db", lines: lines.map(lineText).join("\n") });
    if (below(6) > 0) continue;
    const request = randomDeletion(below);
    model.delete(request);
    steps.push({ delete: request });
  }
  return { steps, model, areTimesUnique: kind.areTimesUnique };
}

const FIELDS: readonly { readonly name: string; readonly make: (below: Below) => ModelField }[] = [
  { name: "f", make: (below) => ({ type: ColumnType.float, value: below(5) === 0 ? -0.5 : below(400) / 4 - 50 }) },
  { name: "i", make: (below) => ({ type: ColumnType.integer, value: BigInt(below(100) - 50) }) },
  { name: "u", make: (below) => ({ type: ColumnType.unsigned, value: BigInt(below(100)) }) },
  { name: "s", make: (below) => ({ type: ColumnType.string, value: `text ${below(5)}` }) },
  { name: "b", make: (below) => ({ type: ColumnType.boolean, value: below(2) === 0 }) },
];

function randomLine(below: Below, kind: Kind, series: Map<string, number>, columns: typeof FIELDS): ModelLine {
  const tags = kind.tags(below);
  const key = JSON.stringify(tags);
  if (!series.has(key)) series.set(key, series.size);
  const [first, ...others] = columns.toSorted(() => below(3) - 1);
  const fields = Object.fromEntries(
    [first!, ...others.filter(() => below(4) > 0)].map(({ name, make }): [string, ModelField] => [name, make(below)]),
  );
  const offsetNs = kind.areTimesUnique ? BigInt(series.get(key)!) * SECOND_NS : 0n;
  return { table: TABLE, tags, fields, timeNs: randomTime(below, kind.days) + offsetNs };
}

/** Multiples of 20 seconds, and the ends of days: each series has its own times between these. */
function randomTime(below: Below, days: readonly bigint[]): bigint {
  const dayNs = pick(below, days) * DAY_NS;
  if (days.length > 1 && below(3) === 0) return dayNs + pick(below, [0n, DAY_NS - 20n * SECOND_NS, DAY_NS - 1n - 20n * SECOND_NS]);
  return dayNs + BigInt(below(30) - 15) * 20n * SECOND_NS;
}

function randomDeletion(below: Below): DeleteRequest {
  const minNs = BigInt(below(600) - 300) * SECOND_NS;
  return {
    ...{ database: "db", table: TABLE },
    range: pick(below, [ALL_TIME, { minNs, maxNs: minNs + 100n * SECOND_NS }, { minNs: -DAY_NS, maxNs: -1n }]),
    tags: pick(below, [[], [{ tag: "host", values: ["a"] }], [{ tag: "host", values: [null, "b"] }]]),
  };
}
