// Statements of one shape with other literals, parameters and clocks: a kept rewrite that says it is for one must be what a new one is.

import { expect } from "bun:test";
import { TsdbError } from "../../src/model/errors.ts";
import type { QueryParams } from "../../src/model/query/query.ts";
import type { ScanTable } from "../../src/model/query/scan-table.ts";
import type { SqlEngine } from "../../src/sql/execute/engine.ts";
import { tokenize } from "../../src/sql/parse/tokens.ts";
import { Rewrite, type RewriteOptions } from "../../src/sql/plan/kept-rewrite.ts";
import type { Below } from "./prng.ts";

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

/** The statement with some literals changed: to ones that are like them, or to any. */
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

/** The table as another storage would show it: one that makes groups and chooses rows, a large one, one whose times are known. */
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

export interface KeptCase {
  readonly sql: string;
  readonly params: QueryParams;
  readonly nowNs: bigint;
  readonly tables: readonly ScanTable[];
}

/** Whether a kept rewrite was found for the case. @throws where it is another than a new one */
export async function checkKept(engine: SqlEngine, { sql, params, nowNs, tables }: KeptCase): Promise<boolean> {
  const plan = await engine.plan(sql).catch(orNull);
  if (plan === null) return false;
  const options: RewriteOptions = {
    values: { text: plan.statement.text, literals: plan.literals, params, nowNs },
    names: plan.statement.names,
    tables: { find: (name) => tables.find((table) => table.name === name) ?? null, isPlain: false, isInternal: false, refused: new Set() },
    functionBytesMax: plan.isSimple ? null : engine.functionBytesMax,
  };
  const fresh = newRewrite(() => Rewrite.of(plan, options));
  const wanted = fresh instanceof Rewrite ? describeRewrite(fresh) : fresh;
  const kept = plan.rewrites.find(options);
  if (kept !== null) {
    expect({ sql, params, rewrite: describeRewrite(kept) }).toEqual({ sql, params, rewrite: wanted as object });
    // what is reckoned with is enough for both
    expect(kept.functionBytes).toBeGreaterThanOrEqual((fresh as Rewrite).functionBytes);
  } else if (fresh instanceof Rewrite) plan.rewrites.add(fresh, options.values);
  return kept !== null;
}

function orNull(error: unknown): null {
  if (error instanceof TsdbError) return null;
  throw error;
}

function newRewrite(make: () => Rewrite): Rewrite | string {
  try {
    return make();
  } catch (error) {
    if (error instanceof TsdbError) return error.message;
    throw error;
  }
}

/** All that a run makes use of. */
function describeRewrite(rewrite: Rewrite): object {
  const { scans, direct, outputs } = rewrite;
  return {
    text: rewrite.text(scans.map((_, i) => i + 41)),
    scans: scans.map(({ subject, range, tags, fields, newestOnly, present, stake, columns }) => {
      const source = subject.kind === "groups" ? subject.source.current : null;
      return { kind: subject.kind, table: subject.table, source, range, tags, fields, newestOnly, present, stake, columns };
    }),
    direct: direct === null ? null : { ...direct, scan: direct.scan.handle },
    outputs: outputs?.map(({ source, numbers: _, times: __, ...column }) => ({
      ...column,
      source: source && [source.scan.handle, source.index],
    })),
  };
}
