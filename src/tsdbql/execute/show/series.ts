// Information about those series of a measurement that have rows in a range and satisfy a condition: tag keys and values, series keys and
// counts, also grouped by tags.
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import type { TimeRange } from "../../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import type { DictionaryView } from "../../../model/rows/run.ts";
import { compareTexts } from "../../../model/rows/text-order.ts";
import { inRange, inSteps, type Steps, sortTexts } from "../../../model/steps.ts";
import type { Turns } from "../../../model/turns.ts";
import { chooseSeries, codesOf, hasValue, type Marks, SeriesTagUnion, textsOf } from "../../../scan/series-tags.ts";
import { ofMeasurement, type SeriesCondition } from "../../plan/show-condition.ts";
import type { OpenTable } from "../context.ts";
import type { StatementMemory } from "../memory.ts";
import type { ShownMeasurement } from "./tables.ts";

export interface SeriesChoice {
  readonly kernel: Kernel;
  readonly turns: Turns;
  readonly memory: StatementMemory;
  readonly range: TimeRange;
  readonly condition: SeriesCondition;
}

interface ChosenSet {
  readonly table: OpenTable;
  readonly dictionary: DictionaryView;
  readonly marks: Marks;
}

/** Approximate memory of a string. */
const TEXT_BYTES = 64;

const isTag = ({ type }: ColumnDef) => type === ColumnType.tag;
const isField = ({ type }: ColumnDef) => type !== ColumnType.tag && type !== ColumnType.time;

async function* chosenSets(
  { kernel, turns, range, condition }: SeriesChoice,
  name: string,
  tables: readonly OpenTable[],
): AsyncGenerator<ChosenSet> {
  const decided = ofMeasurement(condition, name);
  if (decided.kind === "none") return;
  for (const table of tables) {
    for (const set of table.visibleSeries(range)) {
      const chosen = await turns.run(chooseSeries(kernel, set, table.columns, decided));
      if (chosen !== "none") yield { table, dictionary: set.dictionary, marks: chosen.marks };
      const pause = turns.pause();
      if (pause !== null) await pause;
    }
  }
}

/** True if such a series exists. */
export async function hasSeries(choice: SeriesChoice, { name, tables }: ShownMeasurement): Promise<boolean> {
  choice.turns.check();
  const decided = ofMeasurement(choice.condition, name);
  if (decided.kind === "all") return tables.some((table) => table.hasRows(choice.range));
  for await (const _set of chosenSets(choice, name, tables)) return true;
  return false;
}

/** Tags of these series, in order. */
export async function tagKeys(choice: SeriesChoice, { name, tables }: ShownMeasurement): Promise<string[]> {
  const keys = new Set<string>();
  for await (const { table, dictionary, marks } of chosenSets(choice, name, tables)) {
    for (const tag of dictionary.tags) {
      const key = table.columns.find(({ id }) => id === tag.columnId)?.name;
      if (key !== undefined && !keys.has(key) && hasValue(choice.kernel, dictionary, tag, marks)) keys.add(key);
    }
  }
  return [...keys].sort(compareTexts);
}

/** Tags of the measurement's schema, in order. */
export function schemaTagKeys({ tables }: ShownMeasurement): string[] {
  return [...new Set(tables.flatMap(({ columns }) => columns.filter(isTag).map(({ name }) => name)))].sort(compareTexts);
}

/** The values of each tag that `accepts` and that some series has; both in order. */
export async function tagValues(
  choice: SeriesChoice,
  { name, tables }: ShownMeasurement,
  accepts: (key: string) => boolean,
): Promise<Map<string, string[]>> {
  const { kernel, turns } = choice;
  const found = new Map<string, string[]>();
  for (const table of tables) {
    const wanted = table.columns.filter((column) => isTag(column) && accepts(column.name));
    const unions = wanted.map((column) => new SeriesTagUnion(kernel, [column]));
    try {
      if (wanted.length > 0) {
        for await (const { dictionary, marks } of chosenSets(choice, name, [table]))
          for (const union of unions) union.add(dictionary, marks);
      }
      for (const [i, column] of wanted.entries()) {
        const tag = unions[i]!.view.tags[0];
        choice.memory.check((tag?.valueCount ?? 0) * TEXT_BYTES);
        // the first text stands for absent
        const values = tag === undefined ? [] : (await turns.run(textsOf(kernel, tag))).slice(1);
        const known = found.get(column.name);
        if (values.length > 0) found.set(column.name, known === undefined ? values : [...new Set([...known, ...values])]);
      }
    } finally {
      for (const union of unions) union.release();
    }
  }
  for (const values of found.values()) await turns.run(sortTexts(values));
  const keys = [...found.keys()].sort(compareTexts);
  return new Map(keys.map((key) => [key, found.get(key)!]));
}

/** Fields with their types, in order. */
export function fieldKeys({ tables }: ShownMeasurement): (readonly [name: string, type: string])[] {
  const keys = new Map<string, readonly [string, string]>();
  for (const { name, type } of tables.flatMap(({ columns }) => columns.filter(isField)))
    keys.set(`${name}\0${type}`, [name, FIELD_TYPE[type]!]);
  return [...keys.values()].sort(([a, x], [b, y]) => compareTexts(a, b) || compareTexts(x, y));
}

const FIELD_TYPE: Readonly<Partial<Record<ColumnType, string>>> = {
  [ColumnType.float]: "float",
  [ColumnType.integer]: "integer",
  [ColumnType.unsigned]: "unsigned",
  [ColumnType.string]: "string",
  [ColumnType.boolean]: "boolean",
};

// Single series ----------------------------------------------------------------------------------------------------------------------

/** Series with their tags by name; a series in two policies appears twice. */
interface TaggedSeries {
  readonly seriesCount: number;
  /** Ordered by name. */
  readonly tags: readonly { readonly name: string; readonly codes: Uint32Array; readonly texts: readonly string[] }[];
}

async function taggedSeries(choice: SeriesChoice, { name, tables }: ShownMeasurement): Promise<TaggedSeries[]> {
  const { kernel } = choice;
  const found: TaggedSeries[] = [];
  for (const table of tables) {
    const union = new SeriesTagUnion(kernel, table.columns.filter(isTag));
    try {
      for await (const { dictionary, marks } of chosenSets(choice, name, [table])) union.add(dictionary, marks);
      const { view } = union;
      choice.memory.check(view.seriesCount * TEXT_BYTES * (1 + view.tags.length));
      const tags: { name: string; codes: Uint32Array; texts: readonly string[] }[] = [];
      for (const tag of view.tags) {
        const texts = await choice.turns.run(textsOf(kernel, tag));
        const { name: tagName } = table.columns.find(({ id }) => id === tag.columnId)!;
        tags.push({ name: tagName, codes: codesOf(kernel, view, tag).slice(), texts });
      }
      found.push({ seriesCount: view.seriesCount, tags: tags.sort((a, b) => compareTexts(a.name, b.name)) });
    } finally {
      union.release();
    }
  }
  return found;
}

const escapeName = (text: string) => text.replace(/[, ]/g, "\\$&");
const escapeTag = (text: string) => text.replace(/[,= ]/g, "\\$&");

/** `measurement,tag=value,…` of each series, escaped as in line protocol, in order. */
export async function seriesKeys(choice: SeriesChoice, measurement: ShownMeasurement): Promise<string[]> {
  const keys: string[] = [];
  for (const series of await taggedSeries(choice, measurement)) {
    for (const key of await choice.turns.run(keysOf(measurement.name, series))) keys.push(key);
  }
  const distinct = measurement.tables.length > 1 ? [...new Set(keys)] : keys;
  await choice.turns.run(sortTexts(distinct));
  return distinct;
}

function* keysOf(name: string, { seriesCount, tags }: TaggedSeries): Steps<string[]> {
  const keys: string[] = new Array(seriesCount).fill(escapeName(name));
  for (const { name: tag, codes, texts } of tags) {
    const parts: string[] = new Array(texts.length).fill("");
    yield* inRange(1, texts.length, (from, to) => {
      for (let code = from; code < to; code++) parts[code] = `,${escapeTag(tag)}=${escapeTag(texts[code]!)}`;
    });
    yield* inSteps(seriesCount, (from, to) => {
      for (let i = from; i < to; i++) keys[i] += parts[codes[i]!]!;
    });
  }
  return keys;
}

/** The number of distinct series. */
export async function countSeries(choice: SeriesChoice, measurement: ShownMeasurement): Promise<number> {
  if (measurement.tables.length > 1) return (await seriesKeys(choice, measurement)).length;
  const [table] = measurement.tables;
  const union = new SeriesTagUnion(choice.kernel, table!.columns.filter(isTag));
  try {
    for await (const { dictionary, marks } of chosenSets(choice, measurement.name, [table!])) union.add(dictionary, marks);
    return union.seriesCount;
  } finally {
    union.release();
  }
}

// Groups -----------------------------------------------------------------------------------------------------------------------------

export interface SeriesGroup {
  /** Values of the grouping tags, in the given order. */
  readonly values: readonly string[];
  /** Number of distinct results of `facts` for the group's series. */
  readonly count: number;
}

/** Series grouped by tags, sorted by their values. `facts`: the counted items of a series, by its tags and key. */
export async function countByTags(
  choice: SeriesChoice,
  measurement: ShownMeasurement,
  by: readonly string[],
  facts: (tags: ReadonlyMap<string, string>, key: string) => readonly string[],
): Promise<SeriesGroup[]> {
  const groups = new Map<string, { readonly values: readonly string[]; readonly found: Set<string> }>();
  for (const series of await taggedSeries(choice, measurement)) {
    const keys = await choice.turns.run(keysOf(measurement.name, series));
    const count = (i: number) => {
      const present = series.tags.filter(({ codes }) => codes[i] !== 0);
      const tags = new Map(present.map(({ name, codes, texts }) => [name, texts[codes[i]!]!]));
      const values = by.map((tag) => tags.get(tag) ?? "");
      const id = values.join("\0");
      const group = groups.get(id) ?? { values, found: new Set() };
      groups.set(id, group);
      for (const fact of facts(tags, keys[i]!)) group.found.add(fact);
    };
    await choice.turns.run(
      inSteps(series.seriesCount, (from, to) => {
        for (let i = from; i < to; i++) count(i);
      }),
    );
  }
  const order = [...groups.values()].sort((a, b) => {
    const differing = a.values.findIndex((value, i) => value !== b.values[i]);
    return differing < 0 ? 0 : compareTexts(a.values[differing]!, b.values[differing]!);
  });
  return order.map(({ values, found }) => ({ values, count: found.size }));
}
