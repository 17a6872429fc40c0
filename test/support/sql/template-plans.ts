// Statements of one shape with other literals, parameters and clocks, and texts repeated over other tables: the plan from a template, and
// the known plan of a text, must equal that of the whole statement.

import { expect } from "bun:test";
import { TsdbError } from "../../../src/model/errors.ts";
import type { QueryParams } from "../../../src/model/query/query.ts";
import type { ScanTable } from "../../../src/model/query/scan-table.ts";
import type { SqlEngine } from "../../../src/sql/execute/engine.ts";
import { parseStatement } from "../../../src/sql/parse/statement.ts";
import { tokenize } from "../../../src/sql/parse/tokens.ts";
import { PhysicalPlan, type PlanOptions } from "../../../src/sql/plan/physical-plan.ts";
import { makePlan, parseShape, type SqlPlan } from "../../../src/sql/plan/plan.ts";
import { PlanCache } from "../../../src/sql/plan/plan-cache.ts";
import type { StatementTables } from "../../../src/sql/plan/planned-scan.ts";
import type { Below } from "../prng.ts";

const STRINGS = [
  ...["''", "'it''s'", "'%a_'", "'ä€😀'", "'\\'", "'NULL'", "'value'", "'UTC'", "'Europe/Berlin'", "'1'", "'-2.5'", "'nan'", "'t'", "'a'"],
  ...["'1 day'", "'2 hours'", "'1 month'", "'90 seconds'", "'3 ns'", "'hour'", "'year'", "'Kitchen'", "'Living Room'", "'%Y-%m-%d'"],
  ...[
    "'2022-01-01T10:00:00Z'",
    "'2022-01-01'",
    "'1677-09-21T00:12:43.145224193Z'",
    "'2262-04-12'",
    "'1500-01-01'",
    "'2022-01-01T08:00:00+02:00'",
  ],
];
const NUMBERS = [
  "0",
  "1",
  "2",
  "7",
  "100",
  "2147483647",
  "2147483648",
  "999999999999999999",
  "9007199254740993",
  "0.5",
  ".25",
  "3.",
  "1e3",
  "0.000001",
];

/** The statement with some literals replaced, by similar or arbitrary ones. */
export function otherLiterals(sql: string, below: Below): string {
  let text = sql;
  for (const { kind, text: literal, start, end } of tokenize(sql).toReversed()) {
    const isPlain = (kind === "string" && literal.startsWith("'")) || kind === "number";
    if (!isPlain || below(3) === 0) continue;
    const list = kind === "string" ? STRINGS : NUMBERS;
    const like = literal.replace(/\d(?=\D*$)/, () => String(below(10)));
    const other = below(3) > 0 ? like : list[below(list.length)]!;
    text = text.slice(0, start) + other + text.slice(end);
  }
  return text;
}

/** The table with properties of other storages: aggregating and filtering, large, with known times. */
export function otherTable(table: ScanTable, below: Below): ScanTable {
  const { name, columns } = table;
  const makesGroups = below(2) === 0;
  const minNs = 1_640_995_200_000_000_000n + BigInt(below(2)) * 3_600_000_000_000n;
  return {
    ...{ name, columns, selectsExactly: makesGroups },
    rowCountMax: below(2) === 0 ? 10 : 5_000_000,
    ...(below(2) === 0 ? {} : { times: { minNs, maxNs: minNs + 86_400_000_000_000n } }),
    ...(makesGroups ? { aggregate: () => null } : {}),
    open: () => {
      throw new Error("a rewrite reads nothing");
    },
  };
}

export interface PlanCase {
  readonly sql: string;
  readonly params: QueryParams;
  readonly nowNs: bigint;
  readonly tables: readonly ScanTable[];
}

/** A planner with templates, compared with a planner that parses every statement. */
export class TemplatePlans {
  private readonly cache: PlanCache;
  private readonly texts = new Map<string, SqlPlan>();
  private parsed = 0;
  /** Checks of which the physical plan was that of an earlier check. */
  repeated = 0;

  constructor(private readonly engine: SqlEngine) {
    this.cache = new PlanCache((sql) => {
      this.parsed++;
      return engine.serialize(sql);
    }, 1 << 24);
  }

  /** Returns whether the plan of the case came from another statement's template. @throws if it differs from a new plan */
  async check({ sql, params, nowNs, tables }: PlanCase): Promise<boolean> {
    let isKnown = false;
    let template: { readonly plan: SqlPlan; readonly tree: string } | null = null;
    const find = (name: string) => tables.find((table) => table.name === name) ?? null;
    const found: StatementTables = { find, isPlain: false, isInternal: false, refused: new Set(), takesConditions: true };
    const options = { params, nowNs, tables: found, functionBytesMax: this.engine.functionBytesMax };
    const { parsed } = this;
    const parseKept = async () => {
      const plan = await this.cache.plan(sql);
      isKnown = this.parsed === parsed;
      template = { plan, tree: treeText(plan) };
      return plan;
    };
    const kept = await outcomeOf(parseKept, options);
    // statements share what has no literals
    if (template !== null) expectTree(template);
    const fresh = await outcomeOf(() => this.parseWhole(sql), options);
    expect({ sql, params, plan: kept }).toEqual({ sql, params, plan: fresh });
    expect({
      sql,
      params,
      plan: await outcomeOf(
        () => this.known(sql),
        options,
        (plan, all) => this.again(plan, all),
      ),
    }).toEqual({
      ...{ sql, params, plan: fresh },
    });
    return isKnown;
  }

  /** As the engine keeps texts. */
  private async known(sql: string): Promise<SqlPlan> {
    const plan = this.texts.get(sql) ?? (await this.cache.plan(sql));
    this.texts.set(sql, plan);
    return plan;
  }

  private again(plan: SqlPlan, options: PlanOptions): PhysicalPlan {
    const known = plan.known.find(options);
    if (known !== null) this.repeated++;
    const physical = known ?? PhysicalPlan.of(plan, options);
    plan.known.keep(physical);
    return physical;
  }

  private async parseWhole(sql: string): Promise<SqlPlan> {
    const statement = parseStatement(sql);
    const { text } = statement;
    const parser = { serialize: (part: string) => this.engine.serialize(part), breathe: () => null };
    return makePlan(statement, { text, literals: [], chars: text.sql.length }, await parseShape(text, [], parser));
  }
}

/** Everything that a run uses, or the error. */
async function outcomeOf(
  parse: () => Promise<SqlPlan>,
  options: Omit<PlanOptions, "names">,
  make: (plan: SqlPlan, options: PlanOptions) => PhysicalPlan = PhysicalPlan.of,
): Promise<object | string> {
  try {
    const plan = await parse();
    return describePlan(make(plan, { ...options, names: plan.statement.names }));
  } catch (error) {
    if (error instanceof TsdbError) return error.message;
    throw error;
  }
}

function describePlan(plan: PhysicalPlan): object {
  const { scans, direct, outputs, functionBytes } = plan;
  return {
    text: plan.print(scans.map((_, i) => `scan(${i + 41})`)).text,
    functionBytes,
    scans: scans.map(({ subject, range, tags, fields, newestOnly, present, stake, columns }) => ({
      ...{ subject, range, tags, fields, newestOnly, present, stake, columns },
    })),
    direct: direct === null ? null : { ...direct, scan: direct.scan.handle },
    outputs: outputs?.map(({ source, numbers: _, times: __, ...column }) => ({
      ...column,
      source: source && [source.scan.handle, source.index],
    })),
  };
}

function treeText(plan: SqlPlan): string {
  return JSON.stringify(plan.tree());
}

function expectTree({ plan, tree }: { readonly plan: SqlPlan; readonly tree: string }): void {
  expect(treeText(plan)).toBe(tree);
}
