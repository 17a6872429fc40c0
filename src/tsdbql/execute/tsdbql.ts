// The entry point of InfluxQL in the query worker: runs a SELECT over pinned snapshots of its databases → series, piece by piece.

import { TsdbError } from "../../model/errors.ts";
import type { ResultColumn, ResultField } from "../../model/query/result-batch.ts";
import { COLUMN_TYPE_LABEL, ColumnType } from "../../model/rows/column.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import type { Steps } from "../../model/steps.ts";
import { Turns } from "../../model/turns.ts";
import type { SeriesAnswer, SeriesHead, SeriesPiece } from "../functions/series.ts";
import type { Explain, FieldType, Select, Show, Statement } from "../parse/ast.ts";
import { checkSelect } from "../plan/check-select.ts";
import { hasTag, planSelect } from "../plan/select.ts";
import type { TsdbqlContext } from "./context.ts";
import { analyzeLines, explainPiece, planLines } from "./explain.ts";
import { StatementMemory } from "./memory.ts";
import { withoutNaN } from "./outputs.ts";
import { emptyCells, partOfCells, textsOf } from "./rows/cells.ts";
import { type AnyCells, resultTypeOf, toResultColumn } from "./rows/columns.ts";
import { keyValue } from "./rows/field-keys.ts";
import { measurementsOf, OpenTables } from "./rows/tables.ts";
import { TagTexts } from "./rows/tag-texts.ts";
import { checkTypes, SelectRun } from "./select.ts";
import type { RowBlock, RunPlan } from "./select-context.ts";
import { runShow } from "./show/show.ts";

/** @throws TsdbError bad_query, unknown_database, query_limit, cancelled; then nothing needs to be closed */
export async function runTsdbql(statement: Statement, context: TsdbqlContext): Promise<SeriesAnswer> {
  if (statement.kind === "select") return runSelect(statement, context);
  if (statement.kind === "explain") return runExplain(statement, context);
  if (isShow(statement)) return runShow(statement, context);
  throw new TsdbError("bad_query", `${statement.kind} is no statement over data`);
}

function isShow(statement: Statement): statement is Show {
  return statement.kind.startsWith("show ");
}

async function runSelect(select: Select, context: TsdbqlContext): Promise<SeriesAnswer> {
  const { plan, tables } = await planOf(select, context);
  const tagTexts = new TagTexts(context.kernel);
  const close = () => {
    tagTexts.release();
    return tables.close();
  };
  const emptyHead = emptyHeadOf(plan);
  return { pieces: piecesOf(plan, runOf(context), tagTexts), close, ...(emptyHead === null ? {} : { emptyHead }) };
}

interface OpenPlan {
  readonly plan: RunPlan;
  /** To be closed. */
  readonly tables: OpenTables;
}

async function planOf(select: Select, context: TsdbqlContext): Promise<OpenPlan> {
  const checked = checkSelect(select, context.nowNs, context.isTable);
  const tables = new OpenTables(context);
  try {
    await tables.open(measurementsOf(checked));
    const plan = planSelect(checked, (measurement) => tables.resolve(measurement));
    if (checked.isTable) checkTypes(plan);
    return { plan, tables };
  } catch (error) {
    await tables.close();
    throw error;
  }
}

async function runExplain({ select, analyze }: Explain, context: TsdbqlContext): Promise<SeriesAnswer> {
  const startMs = performance.now();
  const { plan, tables } = await planOf(select, context);
  const pieces = async function* (): AsyncGenerator<SeriesPiece> {
    if (!analyze) {
      const lines = planLines(plan, tables.facts);
      // as on the vendor's server, the plan of what reads no measurement is an empty line
      yield explainPiece("QUERY PLAN", lines.length === 0 ? [""] : lines);
      return;
    }
    const planMs = performance.now() - startMs;
    let rowCount = 0;
    const tagTexts = new TagTexts(context.kernel);
    try {
      for await (const { batch } of piecesOf(plan, runOf(context), tagTexts)) rowCount += batch.rowCount;
    } finally {
      tagTexts.release();
    }
    const runMs = performance.now() - startMs - planMs;
    yield explainPiece("EXPLAIN ANALYZE", analyzeLines(select, { planMs, runMs, rowCount, records: tables.records() }));
  };
  return { pieces: pieces(), close: () => tables.close() };
}

function runOf({ signal, memoryBytesMax, isTable = false }: TsdbqlContext): SelectRun {
  return new SelectRun(new Turns(signal), new StatementMemory(memoryBytesMax), isTable);
}

async function* piecesOf(plan: RunPlan, run: SelectRun, tagTexts: TagTexts): AsyncGenerator<SeriesPiece> {
  const { checked } = plan;
  const names = checked.descending && !checked.isTable ? plan.names.toReversed() : plan.names;
  const keys = groupKeysOf(plan);
  const fields = plannedFields(plan);
  const unknownTags = unknownTagsOf(plan);
  const plainTags = plan.plainDimensions;
  const hasPlain = plan.outputs.some(({ isPlain }) => isPlain);
  let shown: readonly ResultField[] | null = null;
  const heldBytes = run.memory.used;
  for (const name of names) {
    run.memory.giveDownTo(heldBytes);
    let head: SeriesHead | null = null;
    let tags: readonly string[] | null = null;
    const scope = { range: { minNs: checked.minNs, maxNs: checked.maxNs }, groupBy: keys };
    for await (const found of run.blocks(plan, name, scope)) {
      const block = hasPlain ? await run.turns.run(withPlainTags(plan, found)) : found;
      if (head === null || tags === null || !isSame(tags, block.tags)) {
        const own = fieldsOf(plan, fields, block.columns);
        // series mostly have the same columns: reusing the object lets the encoder detect it
        if (shown === null || own.some(({ type }, i) => type !== shown![i]!.type)) shown = own;
        const shownTags = keys.length === 0 ? null : keys.map((key, i) => [key, block.tags[i]!] as const);
        head = { name, tags: shownTags, unknownTags, plainTags, groupingFields: groupingFieldsOf(plan, shownTags), fields: shown };
        tags = block.tags;
      }
      tagTexts.nextBlock();
      for (let from = 0; from < block.times.length; from += PIECE_ROWS) {
        const to = Math.min(block.times.length, from + PIECE_ROWS);
        tagTexts.nextBatch();
        const columns = block.columns.map((cells, i) => {
          const part = cells === null || to - from === block.times.length ? cells : partOfCells(cells, from, to);
          return toColumn(part, plan.outputs[i]!.type, tagTexts, to - from);
        });
        yield { head, batch: { rowCount: to - from, columns: [{ validity: null, values: block.times.subarray(from, to) }, ...columns] } };
      }
    }
  }
}

/** Tags that some sources lack as texts: their column is one over all sources. */
function* withPlainTags({ outputs }: RunPlan, block: RowBlock): Steps<RowBlock> {
  const columns: (AnyCells | null)[] = [];
  for (const [i, cells] of block.columns.entries())
    columns.push(outputs[i]!.isPlain && cells?.type === "tag" ? yield* textsOf(cells) : cells);
  return { ...block, columns };
}

function groupKeysOf({ dimensions }: RunPlan): readonly string[] {
  return [...dimensions].sort(compareTexts);
}

/** The columns with their planned types. */
function plannedFields(plan: RunPlan): ResultField[] {
  const { checked, outputs, keepsTimes } = plan;
  const isNowhere = ({ isTag, expression }: RunPlan["outputs"][number]) =>
    isTag && checked.isTable && expression.kind === "ref" && !plan.shownSources.some((source) => hasTag(source, expression.name));
  return [
    {
      ...{ name: checked.timeName, type: { kind: "timestamp", unit: "ns", zone: checked.timeZone?.name ?? null } },
      inFile: { kind: keepsTimes ? COLUMN_TYPE_LABEL[ColumnType.time] : null },
    },
    ...outputs.map((output) => {
      const { name, type, isTag, isPlain, isOfTag, isTargetTag, mark } = output;
      const kind = mark === null ? null : COLUMN_TYPE_LABEL[KIND[mark]];
      const inFile = isNowhere(output) ? { kind: null, isNull: true } : { kind, ...(isTag || isOfTag ? { isDictionary: !isPlain } : {}) };
      return { name, type: resultTypeOf(type), ...(isTag ? TAG : {}), ...(isTargetTag ? { isTargetTag } : {}), inFile };
    }),
  ];
}

/** The columns of an empty answer; null: no source has a column of the statement. */
function emptyHeadOf(plan: RunPlan): SeriesHead | null {
  if (plan.isUnknown) return null;
  const keys = groupKeysOf(plan);
  const tags = keys.length === 0 ? null : keys.map((key) => [key, ""] as const);
  return {
    ...{ name: "", tags, unknownTags: unknownTagsOf(plan), plainTags: plan.plainDimensions },
    ...{ groupingFields: groupingFieldsOf(plan, tags), fields: plannedFields(plan) },
  };
}

function unknownTagsOf(plan: RunPlan): readonly string[] {
  const isUnknown = (key: string) => !plan.fieldDimensions.has(key) && !plan.shownSources.some((source) => hasTag(source, key));
  return groupKeysOf(plan).filter(isUnknown);
}

/** Where sources have different types for a field, one of them gives the type: values of the others are NULL unless they fit. */
function groupingFieldsOf({ fieldDimensions }: RunPlan, tags: SeriesHead["tags"]): NonNullable<SeriesHead["groupingFields"]> {
  if (fieldDimensions.size === 0 || tags === null) return NO_GROUPING_FIELDS;
  return new Map(
    tags.flatMap(([key, text]) => {
      const type = fieldDimensions.get(key);
      if (type === undefined) return [];
      return [[key, { type: resultTypeOf(type), kind: COLUMN_TYPE_LABEL[KIND[type]], value: keyValue(text, type) }] as const];
    }),
  );
}

const NO_GROUPING_FIELDS: NonNullable<SeriesHead["groupingFields"]> = new Map();

const KIND: Readonly<Record<FieldType | "tag", ColumnType>> = {
  ...{ tag: ColumnType.tag, float: ColumnType.float, integer: ColumnType.integer },
  ...{ unsigned: ColumnType.unsigned, string: ColumnType.string, boolean: ColumnType.boolean },
};

const TAG = { columnKind: COLUMN_TYPE_LABEL[ColumnType.tag] };

/** Maximum rows per piece, a multiple of 8: about as many as are encoded at a time. */
const PIECE_ROWS = 16_384;

function toColumn(own: AnyCells | null, type: FieldType | null, tagTexts: TagTexts, rowCount: number): ResultColumn {
  const cells = withoutNaN(own) ?? (type === null ? null : emptyCells(type, rowCount));
  return cells?.type === "tag" ? tagTexts.column(cells, rowCount) : toResultColumn(cells, rowCount);
}

/** Types of the values; for a column without any, the planned type. */
function fieldsOf({ outputs }: RunPlan, fields: readonly ResultField[], columns: readonly (AnyCells | null)[]): ResultField[] {
  return fields.map((field, i) => {
    return i === 0 ? field : { ...field, type: resultTypeOf(columns[i - 1]?.type ?? outputs[i - 1]!.type) };
  });
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.every((value, i) => value === b[i]);
}
