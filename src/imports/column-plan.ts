// Decides what each column of a file becomes: as the client says, as the file says, as the table has it, or as a field of its own type.
import { near, TsdbError } from "../model/errors.ts";
import { COLUMN_TYPE_LABEL, ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import type { ImportType } from "../model/rows/import-jobs.ts";
import { type FileColumn, type FileFacts, type SourceType, typeText } from "./file-facts.ts";

/** A column to read, and what its values become. */
export interface PlannedColumn {
  readonly source: FileColumn;
  readonly type: ColumnType;
}

export interface ColumnPlan {
  readonly time: FileColumn;
  /** Tags and fields, in the file's order. */
  readonly columns: readonly PlannedColumn[];
}

export interface PlanInput {
  readonly facts: Pick<FileFacts, "columns">;
  /** By name; null: nothing was said. */
  readonly wanted: ReadonlyMap<string, ImportType> | null;
  /** The table's columns by name. */
  readonly table: ReadonlyMap<string, { readonly type: ColumnType }>;
}

const BY_WORD: Readonly<Record<ImportType, ColumnType>> = {
  i64: ColumnType.integer,
  u64: ColumnType.unsigned,
  f64: ColumnType.float,
  bool: ColumnType.boolean,
  string: ColumnType.string,
  time: ColumnType.time,
  tag: ColumnType.tag,
};
const BY_LABEL: ReadonlyMap<string, ColumnType> = new Map(
  Object.entries(COLUMN_TYPE_LABEL).map(([type, label]) => [label, Number(type) as ColumnType]),
);

/** True if the file says what all of its columns are. */
export function isOwnFile({ columns }: Pick<FileFacts, "columns">): boolean {
  return columns.length > 0 && columns.every(({ label }) => label !== null && BY_LABEL.has(label));
}

/** Pure. @throws TsdbError bad_request */
export function planColumns({ facts: { columns }, wanted, table }: PlanInput): ColumnPlan {
  checkNames(columns, wanted ?? new Map());
  const timeName = [...(wanted ?? [])].find(([, type]) => type === "time")?.[0] ?? TIME_COLUMN.name;
  const time = columns.find(({ name }) => name === timeName);
  if (time === undefined) throw bad(`the file has no column "${TIME_COLUMN.name}"; column_metadata can name another one as time`);
  if (!canBecome(time.type, ColumnType.time)) throw cannot(time, ColumnType.time);
  const planned: PlannedColumn[] = [];
  for (const source of columns) {
    if (source === time) continue;
    if (source.name === TIME_COLUMN.name) throw bad(`both "${near(timeName)}" and "${TIME_COLUMN.name}" would be the time of a row`);
    const said = wanted?.get(source.name);
    const label = source.label === null ? undefined : BY_LABEL.get(source.label);
    const there = table.get(source.name)?.type;
    const type = said === undefined ? (label ?? there ?? ownType(source.type)) : BY_WORD[said];
    if (type === null) {
      if (source.type.kind === "nothing") continue;
      throw bad(`column "${near(source.name)}" is of type ${typeText(source.type)}, which no field is; leave it out, or convert it first`);
    }
    if (there !== undefined && there !== type) {
      throw bad(`column "${near(source.name)}" is ${COLUMN_TYPE_LABEL[there]} in the table, and would be ${COLUMN_TYPE_LABEL[type]}`);
    }
    if (source.type.kind === "nothing") continue;
    if (!canBecome(source.type, type)) throw cannot(source, type);
    planned.push({ source, type });
  }
  if (!planned.some(({ type }) => type !== ColumnType.tag)) throw bad("the file has no column that would be a field");
  return { time, columns: planned };
}

function checkNames(columns: readonly FileColumn[], wanted: ReadonlyMap<string, ImportType>): void {
  const names = new Set<string>();
  for (const { name } of columns) {
    if (name === "") throw bad("the file has a column with an empty name, which no column can have");
    if (names.has(name)) throw bad(`the file has two columns "${near(name)}"`);
    names.add(name);
  }
  const missing = [...wanted.keys()].find((name) => !names.has(name));
  if (missing !== undefined) throw bad(`column_metadata: the file has no column "${near(missing)}"`);
  const times = [...wanted.values()].filter((type) => type === "time");
  if (times.length > 1) throw bad("column_metadata: only one column can be the time");
}

/** Null: no field is of the type. */
function ownType(type: SourceType): ColumnType | null {
  switch (type.kind) {
    case "integer":
      return type.isSigned ? ColumnType.integer : ColumnType.unsigned;
    case "float":
      return ColumnType.float;
    case "boolean":
      return ColumnType.boolean;
    case "text":
      return ColumnType.string;
    default:
      return null;
  }
}

/** Whether values can be converted; a value may still not fit. */
function canBecome({ kind }: SourceType, type: ColumnType): boolean {
  switch (type) {
    case ColumnType.time:
      return kind === "time" || kind === "integer";
    case ColumnType.tag:
      return kind === "text" || kind === "integer" || kind === "boolean";
    case ColumnType.string:
      return kind === "text";
    case ColumnType.float:
      return kind === "float" || kind === "integer";
    case ColumnType.integer:
      return kind === "integer" || kind === "time";
    case ColumnType.unsigned:
      return kind === "integer";
    case ColumnType.boolean:
      return kind === "boolean";
  }
}

function cannot({ name, type: source }: FileColumn, type: ColumnType): TsdbError {
  return bad(`column "${near(name)}" is of type ${typeText(source)}, and cannot become ${COLUMN_TYPE_LABEL[type]}`);
}

function bad(message: string): TsdbError {
  return new TsdbError("bad_request", message);
}
