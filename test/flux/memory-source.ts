// Buckets of recorded line protocol in memory, read without the server: a slow and obvious source for scripts.
import type { BucketInfo, FluxSource, OrganizationInfo, ReadRequest, SourceSeries } from "../../src/flux/interpret/flux-source.ts";
import { newCells, setCell } from "../../src/flux/tables/column.ts";
import type { FluxColumnType } from "../../src/flux/values/column-type.ts";
import { UInt, type Value } from "../../src/flux/values/value.ts";

interface Series {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly field: string;
  readonly type: FluxColumnType;
  readonly points: Map<bigint, Value>;
}

/** A source of rows in memory. */
export class MemorySource implements FluxSource {
  private readonly series = new Map<string, Map<string, Series>>();
  private readonly infos: BucketInfo[] = [];

  addBucket(name: string, lines: string, retentionPeriodNs = 0n): void {
    const id = (this.infos.length + 1).toString(16).padStart(16, "b");
    this.infos.push({ id, name, organizationId: ORGANIZATION_ID, retentionPeriodNs });
    this.empty(id);
    for (const point of pointsOf(lines)) addPoint(this.series.get(id)!, point);
  }

  empty(bucketId: string): void {
    this.series.set(bucketId, new Map());
  }

  /** Fields of another type than stored ones are refused. */
  async write(bucketId: string, lines: string): Promise<string | null> {
    const series = this.series.get(bucketId)!;
    const types = new Map([...series.values()].map(({ measurement, field, type }) => [`${measurement}\0${field}`, type]));
    let [refused, first] = [0, ""];
    for (const point of pointsOf(lines)) {
      const wrong = point.fields.find(([field, , type]) => (types.get(`${point.measurement}\0${field}`) ?? type) !== type);
      if (wrong === undefined) {
        addPoint(series, point);
        continue;
      }
      const [name, , type] = wrong;
      const [got, known] = [TYPE_NAMES[type], TYPE_NAMES[types.get(`${point.measurement}\0${name}`)!]];
      refused++;
      first ||= `input field "${name}" on measurement "${point.measurement}" is type ${got}, already exists as type ${known}`;
    }
    return refused === 0 ? null : `partial write: field type conflict: ${first} dropped=${refused}`;
  }

  organization(): OrganizationInfo {
    return { id: ORGANIZATION_ID, name: "o" };
  }

  buckets(): readonly BucketInfo[] {
    return this.infos;
  }

  bucket(find: { readonly name: string } | { readonly id: string }): BucketInfo | undefined {
    return this.infos.find(({ id, name }) => ("name" in find ? name === find.name : id === find.id));
  }

  *read({ bucketId, startNs, stopNs }: ReadRequest): Iterable<SourceSeries | null> {
    const keys = [...(this.series.get(bucketId) ?? [])].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const [, { points, ...rest }] of keys) {
      const times = [...points.keys()].filter((ns) => ns >= startNs && ns < stopNs).sort((a, b) => (a < b ? -1 : 1));
      if (times.length === 0) continue;
      const values = newCells(rest.type, times.length);
      times.forEach((ns, i) => {
        setCell(values, i, points.get(ns)!);
      });
      yield { ...rest, timesNs: BigInt64Array.from(times), values };
    }
  }
}

const TYPE_NAMES: Readonly<Record<FluxColumnType, string>> = {
  bool: "boolean",
  float: "float",
  int: "integer",
  string: "string",
  time: "integer",
  uint: "unsigned",
};

export const ORGANIZATION_ID = "0cafe0000000000a";

interface Point {
  readonly measurement: string;
  readonly tags: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, Value, FluxColumnType])[];
  readonly ns: bigint;
}

function addPoint(all: Map<string, Series>, { measurement, tags, fields, ns }: Point): void {
  for (const [field, value, type] of fields) {
    const key = `${[measurement, ...tags.map(([name, tag]) => `${name}=${tag}`)].join(",")}\0${field}`;
    // several types of one field are in several shards, of which the reference reads the first
    let found = all.get(key);
    if (found === undefined) {
      found = { measurement, tags, field, type, points: new Map() };
      all.set(key, found);
    }
    if (found.type === type) found.points.set(ns, value);
  }
}

function* pointsOf(lines: string): Generator<Point> {
  let at = 0;
  const until = (ends: string): string => {
    let text = "";
    while (at < lines.length && !ends.includes(lines[at]!)) {
      if (lines[at] === "\\" && ",= \\".includes(lines[at + 1] ?? "\n")) at++;
      text += lines[at++];
    }
    return text;
  };
  while (at < lines.length) {
    if (lines[at] === "\n" || lines[at] === "#") {
      at = (lines.indexOf("\n", at) + 1 || lines.length + 1) as number;
      continue;
    }
    const measurement = until(", ");
    const tags: [string, string][] = [];
    while (lines[at] === ",") {
      at++;
      const name = until("=");
      at++;
      tags.push([name, until(", ")]);
    }
    const fields: [string, Value, FluxColumnType][] = [];
    do {
      at++;
      const name = until("=");
      at++;
      fields.push([name, ...fieldValue()]);
    } while (lines[at] === ",");
    at++;
    const end = lines.indexOf("\n", at) < 0 ? lines.length : lines.indexOf("\n", at);
    const ns = BigInt(lines.slice(at, end).trim());
    at = end + 1;
    yield { measurement, tags: tags.sort(([a], [b]) => (a < b ? -1 : 1)), fields, ns };
  }

  function fieldValue(): [Value, FluxColumnType] {
    if (lines[at] !== '"') return plainValue(until(", "));
    let text = "";
    for (at++; lines[at] !== '"'; at++) {
      if (lines[at] === "\\" && (lines[at + 1] === '"' || lines[at + 1] === "\\")) at++;
      text += lines[at];
    }
    at++;
    return [text, "string"];
  }
}

function plainValue(text: string): [Value, FluxColumnType] {
  if (/^-?\d+i$/.test(text)) return [BigInt(text.slice(0, -1)), "int"];
  if (/^\d+u$/.test(text)) return [new UInt(BigInt(text.slice(0, -1))), "uint"];
  if (/^(t|T|true|True|TRUE)$/.test(text)) return [true, "bool"];
  if (/^(f|F|false|False|FALSE)$/.test(text)) return [false, "bool"];
  return [Number(text), "float"];
}
