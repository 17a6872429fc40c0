// SHOW by the rules of v3: a list with a condition has what rows within the range have that satisfy it, whatever it compares; lists of
// names without a condition are those of the schema.
import type { TimeRange } from "../../../model/query/scan.ts";
import { compareTexts } from "../../../model/rows/text-order.ts";
import { StepCounter, type Steps } from "../../../model/steps.ts";
import type { Expression, Select } from "../../parse/ast.ts";
import { parseQuery } from "../../parse/parser.ts";
import { checkSelect } from "../../plan/check-select.ts";
import { planSelect } from "../../plan/select.ts";
import { settledCondition } from "../../plan/settled.ts";
import { type SeriesCondition, seriesCondition, type TagFilter, type TextCondition } from "../../plan/show-condition.ts";
import { planWhere } from "../../plan/where.ts";
import type { OpenTable } from "../context.ts";
import { MeasurementTable } from "../rows/table.ts";
import { SelectRun } from "../select.ts";
import { hasSeries, type SeriesChoice, schemaTagKeys, tagKeys, tagValues } from "./series.ts";
import type { ShownMeasurement } from "./tables.ts";

/** What rows of a measurement have. */
export interface ShownRows {
  exist(): Promise<boolean>;
  /** In order. */
  tagKeys(): Promise<string[]>;
  /** The values of each tag that `accepts`, both in order. */
  tagValues(accepts: (key: string) => boolean): Promise<Map<string, string[]>>;
}

/** Those of the series that the choice has, as in 1.x. */
export function rowsOfSeries(choice: SeriesChoice, measurement: ShownMeasurement): ShownRows {
  return {
    exist: () => hasSeries(choice, measurement),
    tagKeys: () => tagKeys(choice, measurement),
    tagValues: (accepts) => tagValues(choice, measurement, accepts),
  };
}

/** Of their tags, those that pass a filter. */
export function filteredTags({ turns }: SeriesChoice, rows: ShownRows, { keys, values }: TagFilter): ShownRows {
  if (keys.length + values.length === 0) return rows;
  const acceptsKey = (key: string) => keys.every((condition) => condition.accepts(key));
  const tagValues = async (accepts: (key: string) => boolean) => {
    const left = new Map<string, string[]>();
    for (const [key, all] of await rows.tagValues((name) => accepts(name) && acceptsKey(name))) {
      const found = await turns.run(passing(all, values));
      if (found.length > 0) left.set(key, found);
    }
    return left;
  };
  const tagKeys = async () => {
    if (values.length > 0) return [...(await tagValues(() => true)).keys()];
    return (await rows.tagKeys()).filter(acceptsKey);
  };
  return { exist: rows.exist, tagKeys, tagValues };
}

/** Both may be many. */
function* passing(texts: readonly string[], conditions: readonly TextCondition[]): Steps<string[]> {
  const counter = new StepCounter();
  const found: string[] = [];
  for (const text of texts) {
    if (conditions.every((condition) => condition.accepts(text))) found.push(text);
    if (counter.isDue(conditions.length)) yield;
  }
  return found;
}

/** All columns that the table has, with or without rows; values are those of its rows. */
export function rowsOfSchema(choice: SeriesChoice, measurement: ShownMeasurement): ShownRows {
  return {
    exist: () => Promise.resolve(true),
    tagKeys: () => Promise.resolve(schemaTagKeys(measurement)),
    tagValues: (accepts) => tagValues(choice, measurement, accepts),
  };
}

/** @param rest the condition without times; null: every row @throws TsdbError bad_query for what is no condition */
export function rowsOfCondition(choice: SeriesChoice, { name, tables }: ShownMeasurement, rest: Expression | null): ShownRows {
  return joined(tables.map((table) => rowsOfTable(choice, name, table, rest)));
}

function rowsOfTable(choice: SeriesChoice, name: string, table: OpenTable, rest: Expression | null): ShownRows {
  const measurement = new MeasurementTable(choice.kernel, table);
  const { isNever, fields, rows } = planWhere({ condition: rest, isTable: true }, measurement.schema);
  if (!isNever && fields.length + rows.length > 0) return new FoundRows(choice, name, measurement, rest!);
  const none: SeriesCondition = { kind: "none" };
  // series answer conditions of tags, without reading rows
  const condition = isNever ? none : seriesCondition(rest === null ? null : settledCondition(rest, measurement.schema), none);
  return rowsOfSeries({ ...choice, condition }, { name, tables: [table] });
}

function joined(all: readonly ShownRows[]): ShownRows {
  if (all.length === 1) return all[0]!;
  return {
    exist: async () => {
      for (const one of all) if (await one.exist()) return true;
      return false;
    },
    tagKeys: async () => {
      const keys = new Set<string>();
      for (const one of all) for (const key of await one.tagKeys()) keys.add(key);
      return [...keys].sort(compareTexts);
    },
    tagValues: async (accepts) => {
      const found = new Map<string, Set<string>>();
      for (const one of all) {
        for (const [key, values] of await one.tagValues(accepts)) found.set(key, new Set([...(found.get(key) ?? []), ...values]));
      }
      return new Map([...found].sort(([a], [b]) => compareTexts(a, b)).map(([key, values]) => [key, [...values].sort(compareTexts)]));
    },
  };
}

const ONE_ROW = parseQuery("SELECT *::field FROM rows LIMIT 1")[0]!.statement as Select;

/** Finds rows by reading some: one of each value of a tag. */
class FoundRows implements ShownRows {
  constructor(
    private readonly choice: SeriesChoice,
    private readonly name: string,
    private readonly table: MeasurementTable,
    private readonly condition: Expression,
  ) {}

  async exist(): Promise<boolean> {
    for await (const _value of this.valuesOf(null)) return true;
    return false;
  }

  async tagKeys(): Promise<string[]> {
    const keys: string[] = [];
    for (const { name } of this.table.tagColumns) {
      for await (const value of this.valuesOf(name)) {
        if (value === "") continue;
        keys.push(name);
        break;
      }
    }
    return keys.sort(compareTexts);
  }

  async tagValues(accepts: (key: string) => boolean): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>();
    for (const key of this.table.tagColumns.map(({ name }) => name).sort(compareTexts)) {
      if (!accepts(key)) continue;
      const values = new Set<string>();
      for await (const value of this.valuesOf(key)) if (value !== "") values.add(value);
      if (values.size > 0) found.set(key, [...values].sort(compareTexts));
    }
    return found;
  }

  /** The values of a tag, "" for none; without a tag once, if there is a row. */
  private async *valuesOf(tag: string | null): AsyncGenerator<string> {
    const { choice, name, table } = this;
    const dimensions = tag === null ? [] : [{ kind: "ref", name: tag, cast: null } as const];
    const checked = { ...checkSelect({ ...ONE_ROW, dimensions }, 0n, true), condition: this.condition };
    const plan = planSelect(checked, () => [{ kind: "table", name, schema: table.schema, table }]);
    const run = new SelectRun(choice.turns, choice.memory, true);
    const heldBytes = choice.memory.used;
    const range: TimeRange = choice.range;
    for await (const { tags } of run.blocks(plan, name, { range, groupBy: tag === null ? [] : [tag] })) yield tags[0] ?? "";
    choice.memory.giveDownTo(heldBytes);
  }
}
