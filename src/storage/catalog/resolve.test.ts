// Planning a body's schema: what is made, which row is refused and with which words; and the fast way against the row-by-row way.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import type { TsdbError } from "../../model/errors.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "./catalog.ts";
import { type ParsedTable, SchemaPlan } from "./resolve.ts";
import { isSchemaLimit, type SchemaLimits } from "./schema-limits.ts";

const { float, integer, string, unsigned, boolean, tag } = ColumnType;
type Row = readonly [table: number, tags: number[], fields: number[]];

const openCatalog = () => Catalog.open(new MemoryObjectStore(), { prefix: "n/catalog", newClusterUuid: () => "u" });

/** Plans, asks for every row where that is needed, applies. Returns the reasons by row. */
function write(catalog: Catalog, database: string, tables: ParsedTable[], rows: readonly Row[] = [], limits?: Partial<SchemaLimits>) {
  const plan = new SchemaPlan(catalog, database, tables, { limits: { ...catalog.limits, ...limits } });
  const reasons = rows.map(([table, tags, fields]) => (plan.needsRows(table) ? plan.acceptRow(table, tags, fields) : null));
  const finished = plan.finish();
  catalog.apply(finished.operations);
  return { reasons, ...finished };
}

function columnsOf(catalog: Catalog, database: string, table: string): string[] {
  const found = catalog.findTable(catalog.findDatabase(database)!.id, table)!;
  return found.columns.map(({ id, name, type }) => `${id} ${name} ${type}`);
}

const CPU: ParsedTable = {
  name: "cpu",
  tags: ["host", "region"],
  fields: [
    { name: "usage", type: float },
    { name: "count", type: integer },
  ],
};

describe("nothing in the way", () => {
  test("the first body makes database, table and columns; the second needs no operation", async () => {
    const catalog = await openCatalog();
    const first = write(catalog, "db", [CPU]);
    expect(first.operations.map(({ kind }) => kind)).toEqual(["create_database", "create_table", "add_columns"]);
    expect(first.targets).toEqual([{ tableId: 1, tagColumnIds: [1, 2], fieldColumnIds: [3, 4] }]);
    expect(columnsOf(catalog, "db", "cpu")).toEqual(["0 time 0", "1 host 1", "2 region 1", "3 usage 2", "4 count 3"]);
    const def = catalog.findTable(1, "cpu");
    const second = write(catalog, "db", [CPU]);
    expect(second.operations).toEqual([]);
    expect(second.targets).toEqual(first.targets);
    expect(catalog.findTable(1, "cpu")).toBe(def!);
  });

  test("later columns get the next ids; names differ by case; one body, several tables", async () => {
    const catalog = await openCatalog();
    write(catalog, "db", [CPU]);
    const { targets } = write(catalog, "db", [
      { name: "cpu", tags: ["rack", "host"], fields: [{ name: "Usage", type: boolean }] },
      { name: "Cpu", tags: [], fields: [{ name: "v", type: unsigned }] },
      { name: "cpu2", tags: ["host"], fields: [{ name: "v", type: string }] },
    ]);
    expect(targets).toEqual([
      { tableId: 1, tagColumnIds: [5, 1], fieldColumnIds: [6] },
      { tableId: 2, tagColumnIds: [], fieldColumnIds: [1] },
      { tableId: 3, tagColumnIds: [1], fieldColumnIds: [2] },
    ]);
    const other = write(catalog, "other", [CPU]);
    expect(other.databaseId).toBe(2);
    expect(other.targets[0]!.tableId).toBe(4);
  });

  test("a body without a good row makes nothing", async () => {
    const catalog = await openCatalog();
    expect(write(catalog, "db", []).operations).toEqual([]);
    expect(catalog.findDatabase("db")).toBeUndefined();
  });
});

describe("conflicts", () => {
  const CONFLICTS: [title: string, table: ParsedTable, row: Row, reason: string][] = [
    [
      "a field of another type",
      { name: "cpu", tags: [], fields: [{ name: "usage", type: string }] },
      [0, [], [0]],
      "invalid column type for column 'usage', expected iox::column_type::field::float, got iox::column_type::field::string",
    ],
    [
      "an integer for a float",
      { name: "cpu", tags: [], fields: [{ name: "usage", type: integer }] },
      [0, [], [0]],
      "invalid column type for column 'usage', expected iox::column_type::field::float, got iox::column_type::field::integer",
    ],
    [
      "a tag that is a field",
      { name: "cpu", tags: ["usage"], fields: [{ name: "count", type: integer }] },
      [0, [0], [0]],
      "invalid column type for column 'usage', expected iox::column_type::field::float, got iox::column_type::tag",
    ],
    [
      "a field that is a tag",
      { name: "cpu", tags: [], fields: [{ name: "host", type: unsigned }] },
      [0, [], [0]],
      "invalid column type for column 'host', expected iox::column_type::tag, got iox::column_type::field::uinteger",
    ],
    [
      "a tag called time",
      { name: "cpu", tags: ["time"], fields: [{ name: "count", type: integer }] },
      [0, [0], [0]],
      "'time' is a reserved column",
    ],
    [
      "a field called time",
      { name: "new", tags: [], fields: [{ name: "time", type: integer }] },
      [0, [], [0]],
      "'time' is a reserved column",
    ],
    [
      "__chunk_order",
      { name: "new", tags: [], fields: [{ name: "__chunk_order", type: integer }] },
      [0, [], [0]],
      "'__chunk_order' is a reserved column",
    ],
    [
      "tag and field of one row",
      { name: "new", tags: ["a"], fields: [{ name: "a", type: boolean }] },
      [0, [0], [0]],
      "invalid column type for column 'a', expected iox::column_type::tag, got iox::column_type::field::boolean",
    ],
  ];
  test.each(CONFLICTS)("%s", async (_title, table, row, reason) => {
    const catalog = await openCatalog();
    write(catalog, "db", [CPU]);
    const { reasons, operations, targets } = write(catalog, "db", [table], [row]);
    expect(reasons).toEqual([reason]);
    expect(operations).toEqual([]);
    expect(targets).toEqual([null]);
    expect(isSchemaLimit(reason)).toBe(false);
  });

  test("the first accepted row decides the type; what only rejected rows bring is not made", async () => {
    const catalog = await openCatalog();
    write(catalog, "db", [CPU]);
    const table: ParsedTable = {
      name: "cpu",
      tags: ["host", "lost", "kept"],
      fields: [
        { name: "usage", type: string },
        { name: "new", type: string },
        { name: "new", type: integer },
        { name: "gone", type: float },
      ],
    };
    const { reasons, targets } = write(
      catalog,
      "db",
      [table],
      [
        [0, [0, 1], [1, 0]], // brings new as string and the tag lost, then fails on usage
        [0, [0], [2]], // so new is an integer
        [0, [0, 1], [1, 3]], // refused: new is an integer; gone is not made
        [0, [2], [2]],
      ],
    );
    expect(reasons.map((reason) => reason === null)).toEqual([false, true, false, true]);
    expect(reasons[2]).toContain("'new', expected iox::column_type::field::integer, got iox::column_type::field::string");
    expect(targets).toEqual([{ tableId: 1, tagColumnIds: [1, -1, 5], fieldColumnIds: [-1, -1, 6, -1] }]);
    expect(columnsOf(catalog, "db", "cpu").slice(5)).toEqual(["5 kept 1", "6 new 3"]);
  });

  test("a database and table that only rejected rows bring are not made; other tables of the body are", async () => {
    const catalog = await openCatalog();
    const bad: ParsedTable = { name: "bad", tags: [], fields: [{ name: "time", type: float }] };
    write(catalog, "db", [bad], [[0, [], [0]]]);
    expect(catalog.findDatabase("db")).toBeUndefined();
    const { targets } = write(catalog, "db", [bad, CPU], [[0, [], [0]]]);
    expect(targets).toEqual([null, { tableId: 1, tagColumnIds: [1, 2], fieldColumnIds: [3, 4] }]);
  });
});

describe("limits", () => {
  const LIMITS = { columnsPerTableMax: 5, tablesMax: 2, databasesMax: 1 };

  test("columns: the row that brings one too many is refused whole, later rows are not", async () => {
    const catalog = await openCatalog();
    write(catalog, "db", [CPU], [], LIMITS);
    const table: ParsedTable = { name: "cpu", tags: ["host"], fields: ["a", "b", "c"].map((name) => ({ name, type: float })) };
    const { reasons } = write(
      catalog,
      "db",
      [table],
      [
        [0, [0], [0, 1]],
        [0, [0], [2]],
        [0, [0], [0]],
      ],
      LIMITS,
    );
    const text = "Update to schema would exceed number of columns per table limit of 5 columns";
    expect(reasons).toEqual([text, null, text]);
    expect(isSchemaLimit(text)).toBe(true);
    expect(columnsOf(catalog, "db", "cpu").at(-1)).toBe("5 c 2");
  });

  test("500 columns fit by default, 501 do not", async () => {
    const catalog = await openCatalog();
    const table = (count: number): ParsedTable => ({
      name: "wide",
      tags: [],
      fields: Array.from({ length: count }, (_, i) => ({ name: `f${i}`, type: float })),
    });
    expect(new SchemaPlan(catalog, "db", [table(500)]).anyNeedsRows).toBe(false);
    const { reasons } = write(catalog, "db", [table(501)], [[0, [], Array.from({ length: 501 }, (_, i) => i)]]);
    expect(reasons).toEqual(["Update to schema would exceed number of columns per table limit of 500 columns"]);
  });

  test("tables: the first accepted rows of the body get the last places", async () => {
    const catalog = await openCatalog();
    write(catalog, "db", [CPU], [], LIMITS);
    const fields = [
      { name: "v", type: float },
      { name: "time", type: float },
    ];
    const tables = ["x", "y", "z"].map((name): ParsedTable => ({ name, tags: [], fields }));
    const { reasons, targets } = write(
      catalog,
      "db",
      tables,
      [
        [0, [], [1]],
        [1, [], [0]],
        [0, [], [0]],
        [2, [], [0]],
        [1, [], [0]],
      ],
      LIMITS,
    );
    const text = "Update to schema would exceed number of tables limit: attempted to create table but already have 2 table(s) (limit: 2)";
    expect(reasons).toEqual(["'time' is a reserved column", null, text, text, null]);
    expect(targets.map((target) => target?.tableId ?? null)).toEqual([null, 2, null]);
    expect(isSchemaLimit(text)).toBe(true);
  });

  test("databases: the write is refused", async () => {
    const catalog = await openCatalog();
    write(catalog, "db", [CPU], [], LIMITS);
    try {
      write(catalog, "db2", [CPU], [], LIMITS);
      expect.unreachable();
    } catch (error) {
      expect((error as TsdbError).kind).toBe("limit_exceeded");
      expect((error as TsdbError).message).toBe("Adding a new database would exceed limit of 1 databases");
    }
  });
});

const SEED = Number(process.env["SEED"] ?? 1);
test(`random bodies against a plain model of rows (seed ${SEED})`, async () => {
  const below = prng(SEED);
  const types = [float, integer, string, boolean];
  const limits = { columnsPerTableMax: 6, tablesMax: 3, databasesMax: 10 };
  for (let round = 0; round < 60; round++) {
    const catalog = await openCatalog();
    const model = new Map<string, Map<string, number>>(); // table -> column -> type
    for (let body = 0; body < 6; body++) {
      const rows: Row[] = [];
      const tables = new Map<string, { index: number; name: string; tags: string[]; fields: { name: string; type: ColumnType }[] }>();
      const wanted: boolean[] = [];
      for (let r = 0; r < 4; r++) {
        const name = `t${below(4)}`;
        let table = tables.get(name);
        if (table === undefined) {
          table = { index: tables.size, name, tags: [], fields: [] };
          tables.set(name, table);
        }
        const columns = new Map<string, ColumnType>();
        const tags = new Set<number>();
        const fields = new Set<number>();
        for (let i = below(3); i > 0; i--) {
          const key = `c${below(8)}`;
          if (columns.has(key)) continue;
          columns.set(key, tag);
          if (!table.tags.includes(key)) table.tags.push(key);
          tags.add(table.tags.indexOf(key));
        }
        for (let i = 1 + below(2); i > 0; i--) {
          const key = `c${below(8)}`;
          if (columns.has(key)) continue;
          const type = types[below(below(2) === 0 ? 1 : types.length)]!;
          columns.set(key, type);
          if (!table.fields.some((field) => field.name === key && field.type === type)) table.fields.push({ name: key, type });
          fields.add(table.fields.findIndex((field) => field.name === key && field.type === type));
        }
        rows.push([table.index, [...tags], [...fields]]);
        // The model: one row at a time, plain maps.
        const known = model.get(name);
        const fresh = [...columns].filter(([key]) => known?.has(key) !== true);
        const clash = [...columns].some(([key, type]) => known?.has(key) && known.get(key) !== type);
        const good =
          !clash &&
          (known?.size ?? 0) + fresh.length <= limits.columnsPerTableMax &&
          (known !== undefined || model.size < limits.tablesMax);
        wanted.push(good);
        if (good) model.set(name, new Map([...(known ?? []), ...fresh]));
      }
      const { reasons } = write(catalog, "db", [...tables.values()], rows, limits);
      expect(reasons.map((reason) => reason === null)).toEqual(wanted);
      const got = new Map(
        catalog
          .databases()
          .flatMap(({ id }) => catalog.tables(id))
          .map((table) => [table.name, new Map(table.columns.slice(1).map(({ name, type }) => [name, type as number]))]),
      );
      expect([...got].map(([name, columns]) => [name, [...columns].sort()]).sort()).toEqual(
        [...model].map(([name, columns]) => [name, [...columns].sort()]).sort() as never,
      );
    }
  }
});
