// SHOW statements in the query worker: lists based on a snapshot. In the 1.x form only objects with visible rows are listed, whatever the
// catalog contains; in v3 lists of names without a condition are of the schema. There is no default time range.
import { TsdbError } from "../../../model/errors.ts";
import { ALL_TIME, type TimeRange } from "../../../model/query/scan.ts";
import { compareTexts } from "../../../model/rows/text-order.ts";
import { Turns } from "../../../model/turns.ts";
import type { SeriesAnswer, SeriesHead, SeriesPiece } from "../../functions/series.ts";
import type { Dimension, Expression, Show, TagKeyCondition } from "../../parse/ast.ts";
import { isEstimate } from "../../parse/estimates.ts";
import {
  EVERY_MEASUREMENT,
  EVERY_TAG,
  type MeasurementFilter,
  measurementFilter,
  presentCondition,
  seriesCondition,
  tagFilter,
} from "../../plan/show-condition.ts";
import { splitCondition } from "../../plan/time-range.ts";
import { compileRegex } from "../../regex/matcher.ts";
import type { TsdbqlContext } from "../context.ts";
import { StatementMemory } from "../memory.ts";
import { type Limits, list, listHead, RunningList } from "./lists.ts";
import { countByTags, countSeries, fieldKeys, hasSeries, type SeriesChoice, seriesKeys, tagKeys, tagValues } from "./series.ts";
import { showServer } from "./server.ts";
import { filteredTags, rowsOfCondition, rowsOfSchema, rowsOfSeries, type ShownRows } from "./table-conditions.ts";
import { NO_TABLES, openShowTables, type ShownMeasurement, type ShowSources, type ShowTables } from "./tables.ts";

type ScopedShow = Extract<Show, { readonly sources: unknown }>;
type ShowOf<K extends ScopedShow["kind"]> = Extract<ScopedShow, { readonly kind: K }>;
type Cardinality = Extract<ScopedShow, { readonly exact: boolean }>;
type Pieces = AsyncGenerator<SeriesPiece>;

/** Names used by version 1.x for statements whose condition cannot contain time. */
const WITHOUT_TIME: Readonly<Partial<Record<ScopedShow["kind"], string>>> = {
  "show measurements": "SHOW MEASUREMENTS",
  "show series cardinality": "SHOW SERIES EXACT CARDINALITY",
  "show measurement cardinality": "SHOW MEASUREMENT EXACT CARDINALITY",
  "show tag key cardinality": "SHOW TAG KEY EXACT CARDINALITY",
  "show field key cardinality": "SHOW FIELD KEY CARDINALITY",
};

const COUNTS = listHead({ name: "" }, { count: new BigInt64Array(0) });

/** The columns of empty lists. */
const EMPTY_HEADS: Readonly<Record<ScopedShow["kind"], SeriesHead>> = {
  "show measurements": listHead({ name: "" }, { name: [] }),
  "show series": listHead({ name: "" }, { key: [] }),
  "show tag keys": listHead({ name: "" }, { tagKey: [] }),
  "show tag values": listHead({ name: "" }, { key: [], value: [] }),
  "show field keys": listHead({ name: "", hasPlainName: true }, { fieldKey: [], fieldType: [] }),
  "show series cardinality": COUNTS,
  "show measurement cardinality": COUNTS,
  "show tag key cardinality": COUNTS,
  "show tag values cardinality": COUNTS,
  "show field key cardinality": COUNTS,
};

/** @throws TsdbError bad_query, unknown_database, overloaded, cancelled; then nothing needs to be closed */
export async function runShow(statement: Show, context: TsdbqlContext): Promise<SeriesAnswer> {
  if (!("sources" in statement)) return { pieces: await showServer(statement, context), close: () => Promise.resolve() };
  const isTable = context.isTable === true;
  const isOfRows = isTable && LISTS_OF_ROWS.has(statement.kind);
  const { range, rest: ofRows } = rangeOf(statement, context, isOfRows);
  const { rest, ...listed } = LISTS_OF_TAGS.has(statement.kind) && !isOfRows ? tagFilter(ofRows) : { ...EVERY_TAG, rest: ofRows };
  // SHOW MEASUREMENTS applies its condition to measurements, which was checked before
  const conditionOf = statement.kind === "show tag values cardinality" ? presentCondition : seriesCondition;
  const condition = statement.kind === "show measurements" || isOfRows ? { kind: "all" as const } : conditionOf(rest);
  const filter = statement.kind === "show measurements" && !isOfRows ? measurementFilter(rest) : EVERY_MEASUREMENT;
  const tables = await open(statement, context);
  const choice: SeriesChoice = {
    ...{ kernel: context.kernel, turns: new Turns(context.signal), range, condition },
    memory: new StatementMemory(context.memoryBytesMax),
  };
  const close = () => {
    tables.close();
    return Promise.resolve();
  };
  const isOfSchema = isTable && statement.where === null;
  const rowsOf = (measurement: ShownMeasurement) => {
    if (isOfSchema) return rowsOfSchema(choice, measurement);
    return isOfRows ? rowsOfCondition(choice, measurement, rest) : filteredTags(choice, rowsOfSeries(choice, measurement), listed);
  };
  const measurements = isTable && statement.hasLimitZero ? [] : tables.measurements;
  const pieces = piecesOf(statement, { measurements, choice, filter, rowsOf, isTable });
  return { pieces, close, emptyHead: EMPTY_HEADS[statement.kind] };
}

/** Lists whose conditions are about rows in v3. */
const LISTS_OF_ROWS: ReadonlySet<ScopedShow["kind"]> = new Set(["show measurements", "show tag keys", "show tag values"]);

const LISTS_OF_TAGS: ReadonlySet<ScopedShow["kind"]> = new Set(["show tag keys", "show tag values"]);

interface ShownRange {
  readonly range: TimeRange;
  readonly rest: Expression | null;
}

function rangeOf({ kind, where }: ScopedShow, { nowNs }: TsdbqlContext, isOfRows: boolean): ShownRange {
  const { bounds, rest } = splitCondition(where, { nowNs, zone: null, isTable: isOfRows });
  const withoutTime = isOfRows ? undefined : WITHOUT_TIME[kind];
  if (withoutTime !== undefined && (bounds.minNs !== null || bounds.maxNs !== null)) {
    throw new TsdbError("bad_query", `${withoutTime} doesn't support time in WHERE clause`);
  }
  const within = (ns: bigint) => (ns < ALL_TIME.minNs ? ALL_TIME.minNs : ns > ALL_TIME.maxNs ? ALL_TIME.maxNs : ns);
  return { range: { minNs: within(bounds.minNs ?? ALL_TIME.minNs), maxNs: within(bounds.maxNs ?? ALL_TIME.maxNs) }, rest };
}

/** For an unknown database, lists of measurements and estimates are empty; other lists are errors. */
async function open(statement: ScopedShow, context: TsdbqlContext): Promise<ShowTables> {
  const sources: ShowSources = statement.kind === "show measurements" ? measurementSources(statement) : policySources(statement);
  try {
    return await openShowTables(context, sources);
  } catch (error) {
    const isQuiet = statement.kind === "show measurements" || isEstimate(statement);
    if (isQuiet && error instanceof TsdbError && error.kind === "unknown_database") return NO_TABLES;
    throw error;
  }
}

/** Fields and exact cardinalities cover one policy in 1.x, lists of series and tags cover all. */
function policySources(statement: ScopedShow): ShowSources {
  return { ...statement, isOfDefaultPolicy: statement.kind === "show field keys" || ("exact" in statement && !isEstimate(statement)) };
}

function measurementSources({ database, measurement }: ShowOf<"show measurements">): ShowSources {
  return { database, sources: measurement === null ? [] : [measurement.source] };
}

interface Listed {
  readonly measurements: readonly ShownMeasurement[];
  readonly choice: SeriesChoice;
  readonly filter: MeasurementFilter;
  rowsOf(measurement: ShownMeasurement): ShownRows;
  readonly isTable: boolean;
}

function piecesOf(statement: ScopedShow, listed: Listed): Pieces {
  const { measurements, choice } = listed;
  switch (statement.kind) {
    case "show measurements":
      return measurementList(listed, statement);
    case "show series":
      return seriesList(measurements, choice, statement);
    case "show tag keys":
      return tagKeyLists(listed, statement);
    case "show tag values":
      return tagValueLists(listed, statement);
    case "show field keys":
      return fieldKeyLists(listed, statement);
    default:
      return isEstimate(statement) ? estimate(statement, measurements, choice) : cardinalities(statement, measurements, choice);
  }
}

// Lists ------------------------------------------------------------------------------------------------------------------------------

async function* measurementList({ measurements, filter, rowsOf }: Listed, limits: Limits): Pieces {
  const names: string[] = [];
  for (const measurement of measurements) {
    const rows = rowsOf(measurement);
    if (!(await rows.exist())) continue;
    const values = filter.tags.length === 0 ? null : await rows.tagValues((key) => filter.tags.includes(key));
    if (filter.accepts(measurement.name, (tag) => values?.get(tag) ?? [])) names.push(measurement.name);
  }
  yield* list({ name: "measurements" }, { name: names }, limits);
}

async function* seriesList(measurements: readonly ShownMeasurement[], choice: SeriesChoice, limits: Limits): Pieces {
  const keys = new RunningList({ name: "" }, "key", limits);
  for (const measurement of measurements) {
    if (keys.isFull) return;
    yield* keys.add(await seriesKeys(choice, measurement));
  }
}

async function* tagKeyLists({ measurements, rowsOf, isTable }: Listed, statement: ScopedShow): Pieces {
  const hasPlainColumns = isTable && statement.where !== null;
  for (const measurement of measurements) {
    yield* list({ name: measurement.name, hasPlainColumns }, { tagKey: await rowsOf(measurement).tagKeys() }, statement);
  }
}

/** LIMIT and OFFSET apply to the values of a measurement, in v3 to those of each key. */
async function* tagValueLists({ measurements, rowsOf, isTable }: Listed, statement: ShowOf<"show tag values">): Pieces {
  const accepts = keyTest(statement.with);
  for (const measurement of measurements) {
    const found = [...(await rowsOf(measurement).tagValues(accepts))];
    for (const part of isTable ? found.map((one) => [one]) : [found]) {
      const keys = part.flatMap(([key, values]) => values.map(() => key));
      yield* list({ name: measurement.name }, { key: keys, value: part.flatMap(([, values]) => values) }, statement);
    }
  }
}

function keyTest({ operator, keys, regex }: TagKeyCondition): (key: string) => boolean {
  const isNegated = operator === "!=" || operator === "!~";
  if (regex === null) return (key) => keys.includes(key) !== isNegated;
  const compiled = compileRegex(regex.source);
  return (key) => compiled.test(key) !== isNegated;
}

async function* fieldKeyLists({ measurements, rowsOf }: Listed, limits: Limits): Pieces {
  for (const measurement of measurements) {
    if (!(await rowsOf(measurement).exist())) continue;
    const keys = fieldKeys(measurement);
    const head = { name: measurement.name, hasPlainName: true };
    yield* list(head, { fieldKey: keys.map(([name]) => name), fieldType: keys.map(([, type]) => type) }, limits);
  }
}

// Cardinalities ----------------------------------------------------------------------------------------------------------------------

/** Exact nevertheless. */
async function* estimate({ kind }: ScopedShow, measurements: readonly ShownMeasurement[], choice: SeriesChoice): Pieces {
  let total = 0;
  for (const measurement of measurements) {
    if (kind === "show series cardinality") total += await countSeries(choice, measurement);
    else if (await hasSeries(choice, measurement)) total++;
  }
  yield* list({ name: "" }, { "cardinality estimation": BigInt64Array.of(BigInt(total)) });
}

async function* cardinalities(
  statement: Exclude<ScopedShow, { kind: "show measurements" }>,
  measurements: readonly ShownMeasurement[],
  choice: SeriesChoice,
): Pieces {
  const { dimensions } = statement as Cardinality;
  if (dimensions.length > 0) yield* groupedCardinalities(statement as Cardinality, measurements, choice);
  else if (statement.kind === "show measurement cardinality") {
    let total = 0;
    for (const measurement of measurements) if (await hasSeries(choice, measurement)) total++;
    yield* countList({ name: "" }, total, statement);
  } else {
    for (const measurement of measurements)
      yield* countList(measurement, await countOf(statement as Cardinality, measurement, choice), statement);
  }
}

function countList(head: Parameters<typeof list>[0], count: number, { limit, offset }: Limits): Generator<SeriesPiece> {
  return list(
    { name: head.name, tags: head.tags ?? null },
    { count: count === 0 ? new BigInt64Array(0) : BigInt64Array.of(BigInt(count)) },
    { limit, offset },
  );
}

async function countOf(statement: Cardinality, measurement: ShownMeasurement, choice: SeriesChoice): Promise<number> {
  switch (statement.kind) {
    case "show series cardinality":
      return countSeries(choice, measurement);
    case "show tag key cardinality":
      return (await tagKeys(choice, measurement)).length;
    case "show tag values cardinality":
      return new Set([...(await tagValues(choice, measurement, keyTest(statement.with))).values()].flat()).size;
    default:
      return (await hasSeries(choice, measurement)) ? fieldKeys(measurement).length : 0;
  }
}

/** A number for each combination of tag values; for measurements, over all of them. */
async function* groupedCardinalities(statement: Cardinality, measurements: readonly ShownMeasurement[], choice: SeriesChoice): Pieces {
  const by = await groupingTags(statement.dimensions, measurements, choice);
  const tagsOf = (values: readonly string[]) => by.map((tag, i) => [tag, values[i]!] as const);
  const totals = new Map<string, { readonly values: readonly string[]; count: number }>();
  for (const measurement of measurements) {
    for (const { values, count } of await countByTags(choice, measurement, by, factsOf(statement, measurement))) {
      if (statement.kind !== "show measurement cardinality")
        yield* countList({ name: measurement.name, tags: tagsOf(values) }, count, statement);
      else {
        const total = totals.get(values.join("\0")) ?? { values, count: 0 };
        total.count += count;
        totals.set(values.join("\0"), total);
      }
    }
  }
  const order = [...totals].sort(([a], [b]) => compareTexts(a, b));
  for (const [, { values, count }] of order) yield* countList({ name: "", tags: tagsOf(values) }, count, statement);
}

async function groupingTags(
  dimensions: readonly Dimension[],
  measurements: readonly ShownMeasurement[],
  choice: SeriesChoice,
): Promise<string[]> {
  const named = dimensions.flatMap((dimension) => (dimension.kind === "ref" ? [dimension.name] : []));
  const regexes = dimensions.flatMap((dimension) => (dimension.kind === "regex" ? [compileRegex(dimension.source)] : []));
  const isAll = dimensions.some(({ kind }) => kind === "wildcard");
  if (!isAll && regexes.length === 0) return [...new Set(named)].sort(compareTexts);
  const keys: string[] = [];
  for (const measurement of measurements) keys.push(...(await tagKeys(choice, measurement)));
  const chosen = keys.filter((key) => isAll || regexes.some((regex) => regex.test(key)));
  return [...new Set([...named, ...chosen])].sort(compareTexts);
}

/** The items counted for a series. */
function factsOf(statement: Cardinality, measurement: ShownMeasurement): Parameters<typeof countByTags>[3] {
  switch (statement.kind) {
    case "show series cardinality":
      return (_tags, key) => [key];
    case "show measurement cardinality":
      return () => [measurement.name];
    case "show tag key cardinality":
      return (tags) => [...tags.keys()];
    case "show tag values cardinality": {
      const accepts = keyTest(statement.with);
      return (tags) => [...tags].flatMap(([key, value]) => (accepts(key) ? [value] : []));
    }
    default: {
      const keys = fieldKeys(measurement).map(([name, type]) => `${name}\0${type}`);
      return () => keys;
    }
  }
}
