// Describes a statement without running it: its columns, and the parameters without values.
import { TsdbError } from "../../model/errors.ts";
import type { ResultField, ResultSchema } from "../../model/query/result-batch.ts";
import { unknownTable } from "../parse/check.ts";
import { parameterNames } from "../parse/parameter-names.ts";
import { PhysicalPlan } from "../plan/physical-plan.ts";
import type { SqlPlan } from "../plan/plan.ts";
import { OpenParameters } from "../rewrite/open-parameters.ts";
import { DESCRIBE_FIELDS } from "./described-columns.ts";
import { translateError } from "./engine-error.ts";
import { EXPLAIN_FIELDS } from "./explain.ts";
import { ResultShape } from "./result-shape.ts";
import type { SqlHost, SqlInput } from "./sql-statement.ts";
import { StatementScans } from "./statement-scans.ts";

export interface SqlDescription {
  readonly schema: ResultSchema;
  /** Named as in the statement, without the dollar sign; of kind "null" if the statement does not determine the type. */
  readonly parameters: readonly ResultField[];
}

/** @throws TsdbError bad_query */
export async function describeStatement(engine: SqlHost, plan: SqlPlan, input: SqlInput): Promise<SqlDescription> {
  const open = await describeWith(engine, plan, input);
  const untyped = open.parameters.filter(({ type }) => type.kind === "null");
  if (untyped.length === 0) return open;
  // DuckDB reports no columns while a parameter's type is unknown
  const params = { ...input.params, ...Object.fromEntries(untyped.map(({ name }) => [name, null])) };
  const { schema } = await describeWith(engine, plan, { ...input, params });
  return { schema, parameters: open.parameters };
}

async function describeWith(engine: SqlHost, plan: SqlPlan, input: SqlInput): Promise<SqlDescription> {
  const { statement } = plan;
  const scans = new StatementScans(engine, { ...input, isPlain: true });
  let sourceOf = (_: number): number | null => null;
  try {
    if (statement.kind === "show" && statement.table !== null && !scans.has(statement.table.schema, statement.table.table)) {
      throw unknownTable("public", statement.table.schema, statement.table.table);
    }
    const open = new OpenParameters();
    const nowNs = input.nowNs ?? BigInt(Date.now()) * 1_000_000n;
    // a statement that may not run must not be planned either
    const functionBytesMax = plan.isSimple ? null : engine.functionBytesMax;
    const physical = PhysicalPlan.of(plan, { params: input.params, nowNs, names: statement.names, tables: scans, functionBytesMax, open });
    scans.open(physical.scans);
    const printed = physical.print(scans.calls);
    sourceOf = (offset) => printed.sourceOf(offset);
    const duck = await engine.lease();
    try {
      const { fields, parameters: known } = await duck.describe(printed.text);
      const parameters = open.fields(parameterNames(plan.statement.text.tokens), known);
      if (statement.kind === "describe") return { schema: { fields: DESCRIBE_FIELDS, tableName: "" }, parameters };
      if (statement.kind === "explain") return { schema: { fields: EXPLAIN_FIELDS, tableName: "" }, parameters };
      return { schema: { fields: new ResultShape(fields, physical.outputs).fields, tableName: scans.tableName }, parameters };
    } finally {
      await duck.close(false, (error) => engine.noticeError(error));
    }
  } catch (error) {
    engine.noticeError(error);
    if (scans.error !== undefined) throw scans.error;
    if (!(error instanceof TsdbError) || error.details["engineKind"] === undefined) throw error;
    throw translateError(error, { plan, sourceOf, find: scans.find });
  } finally {
    scans.unregister();
    scans.end();
  }
}
