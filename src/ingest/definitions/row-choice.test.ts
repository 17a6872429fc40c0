// The same rows, for the same reasons, as when every row is asked about with all that it has.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import type { ParsedColumn } from "../../kernel/parse/parser-view.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "../../storage/catalog/catalog.ts";
import { SchemaPlan } from "../../storage/catalog/resolve.ts";
import { chooseRows } from "./row-choice.ts";

const { float, integer, tag } = ColumnType;

/** A row of the body: its series, and indexes of its fields. */
interface Row {
  readonly series: number;
  readonly fields: readonly number[];
}

interface Body {
  readonly tags: readonly string[];
  readonly fields: readonly { readonly name: string; readonly type: ColumnType }[];
  /** Of series that are new to the table: indexes of tags. */
  readonly tagsOf: ReadonlyMap<number, readonly number[]>;
  readonly rows: readonly Row[];
}

interface Limits {
  readonly columnsPerTableMax: number;
  readonly tablesMax: number;
  readonly databasesMax: number;
}

async function planOf({ tags, fields }: Body, known: Record<string, ColumnType> | null, limits: Limits): Promise<SchemaPlan> {
  const catalog = await Catalog.open(new MemoryObjectStore(), { prefix: "n/catalog" });
  if (known !== null) {
    const names = Object.entries(known);
    const table = {
      name: "t",
      tags: names.filter(([, type]) => type === tag).map(([name]) => name),
      fields: names.filter(([, type]) => type !== tag).map(([name, type]) => ({ name, type })),
    };
    catalog.apply(new SchemaPlan(catalog, "db", [table]).finish().operations);
  }
  return new SchemaPlan(catalog, "db", [{ name: "t", tags, fields }], { limits: { ...catalog.limits, ...limits } });
}

type Choice = { kept: number[]; reasons: [row: number, reason: string][]; plan: SchemaPlan };

async function asked(body: Body, known: Record<string, ColumnType> | null, limits: Limits): Promise<Choice> {
  const plan = await planOf(body, known, limits);
  const choice: Choice = { kept: [], reasons: [], plan };
  body.rows.forEach(({ series, fields }, row) => {
    const reason = plan.needsRows(0) ? plan.acceptRow(0, body.tagsOf.get(series) ?? [], fields) : null;
    if (reason === null) choice.kept.push(row);
    else choice.reasons.push([row, reason]);
  });
  return choice;
}

/** Lays the rows out as the parser does. */
function layOut({ fields, rows }: Body): { u32: Uint32Array; columns: ParsedColumn[] } {
  const words = Math.ceil(rows.length / 64) * 2;
  const u32 = new Uint32Array(rows.length + fields.length * words);
  rows.forEach(({ series }, row) => {
    u32[row] = series;
  });
  const columns = fields.map((field, index): ParsedColumn => {
    const first = rows.length + index * words;
    let presentCount = 0;
    rows.forEach((row, at) => {
      if (!row.fields.includes(index)) return;
      u32[first + (at >>> 5)]! |= 1 << (at & 31);
      presentCount++;
    });
    return { index, ...field, dataPtr: 0, validityPtr: presentCount === rows.length ? 0 : first * 4, presentCount };
  });
  return { u32, columns };
}

async function chosen(body: Body, known: Record<string, ColumnType> | null, limits: Limits): Promise<Choice> {
  const plan = await planOf(body, known, limits);
  const choice: Choice = { kept: [], reasons: [], plan };
  if (!plan.needsRows(0)) return { ...choice, kept: body.rows.map((_, row) => row) };
  // the series are the first words of the memory
  const { u32, columns } = layOut(body);
  const parsed = { rowCount: body.rows.length, columns, seriesPtr: 0 };
  const keep = chooseRows({ plan, tableIndex: 0, parsed, tagsOf: body.tagsOf, u32 }, (row, reason) => choice.reasons.push([row, reason]));
  choice.kept = [...keep];
  return choice;
}

const LIMITS: Limits = { columnsPerTableMax: 500, tablesMax: 10, databasesMax: 10 };

async function expectSame(body: Body, known: Record<string, ColumnType> | null, limits: Limits): Promise<Choice> {
  const [want, got] = [await asked(body, known, limits), await chosen(body, known, limits)];
  expect(got.kept).toEqual(want.kept);
  expect(got.reasons).toEqual(want.reasons);
  expect(got.plan.finish()).toEqual(want.plan.finish());
  return got;
}

function randomBody(below: (n: number) => number, rowCount: number): Body {
  const names = Array.from({ length: 2 + below(12) }, (_, i) => (below(30) === 0 ? "time" : `c${i}`));
  // the same name with two types, or as tag and field
  const tags = names.filter(() => below(4) === 0);
  const fields = names.flatMap((name) => {
    const types = [float, integer, ColumnType.string].filter(() => below(3) > 0);
    return types.slice(0, below(8) === 0 ? 2 : 1).map((type) => ({ name, type }));
  });
  const tagsOf = new Map<number, number[]>();
  for (let series = 0; series < 6; series++)
    if (below(2) === 0)
      tagsOf.set(
        series,
        tags.map((_, i) => i).filter(() => below(3) === 0),
      );
  const often = fields.map(() => [1, 1, 3, 50][below(4)]!);
  const used = new Set<number>();
  const rows = Array.from({ length: rowCount }, (): Row => {
    const present = fields.map((_, i) => i).filter((i) => below(often[i]!) === 0);
    const kept = present.filter((i, at) => present.findIndex((other) => fields[other]!.name === fields[i]!.name) === at);
    for (const i of kept) used.add(i);
    return { series: below(6), fields: kept };
  });
  // the parser reports only columns with a value
  const places = new Map([...used].sort((a, b) => a - b).map((old, place) => [old, place]));
  return {
    tags,
    fields: fields.filter((_, i) => used.has(i)),
    tagsOf,
    rows: rows.map((row) => ({ ...row, fields: row.fields.map((i) => places.get(i)!) })),
  };
}

describe("chooseRows", () => {
  test.each(Array.from({ length: 12 }, (_, i) => i + 1))("random bodies, seed %i", async (seed) => {
    const below = prng(seed);
    let rejected = 0;
    for (let round = 0; round < 25; round++) {
      const body = randomBody(below, [1, 2, 31, 32, 33, 65, 400][below(7)]!);
      const types = [float, integer, ColumnType.string, tag];
      const known =
        below(3) === 0
          ? null
          : Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`c${i}`, types[below(4)]!] as const).filter(() => below(3) === 0));
      const limits = below(3) === 0 ? { ...LIMITS, columnsPerTableMax: 1 + below(8), tablesMax: 1 + below(2) } : LIMITS;
      rejected += (await expectSame(body, known, limits)).reasons.length;
    }
    expect(rejected).toBeGreaterThan(100);
  });

  test("more rows than are gathered at a time", async () => {
    const below = prng(1);
    const fields = Array.from({ length: 40 }, (_, i) => ({ name: `c${i % 30}`, type: i < 30 ? float : integer }));
    const rows = Array.from({ length: 50_000 }, (): Row => {
      // ten columns have two types
      const [first, second] = [below(30), 30 + below(10)];
      return { series: 0, fields: first === second - 30 || below(3) === 0 ? [first] : [first, second] };
    });
    const { kept, reasons } = await expectSame({ tags: [], fields, tagsOf: new Map(), rows }, { c3: integer }, LIMITS);
    expect(kept.length).toBeGreaterThan(10_000);
    expect(reasons.length).toBeGreaterThan(10_000);
  });
});
