// Measures planning of SQL statements with a new shape, with a known shape and new literals, and with a known text. DuckDB's parts, parsing
// and preparing, are reported separately.

import { Kernel } from "../src/kernel/memory/kernel.ts";
import type { ScanTable } from "../src/model/query/scan-table.ts";
import { type ColumnDef, ColumnType } from "../src/model/rows/column.ts";
import { SqlEngine } from "../src/sql/execute/engine.ts";
import { StatementScans } from "../src/sql/execute/statement-scans.ts";
import { liftLiterals } from "../src/sql/parse/literals.ts";
import { parseStatement } from "../src/sql/parse/statement.ts";
import { KnownTexts } from "../src/sql/plan/known-texts.ts";
import { PhysicalPlan } from "../src/sql/plan/physical-plan.ts";
import type { SqlPlan } from "../src/sql/plan/plan.ts";
import { PlanCache } from "../src/sql/plan/plan-cache.ts";
import { prng } from "../test/support/prng.ts";
import { TSBS_CPU_FIELDS, TSBS_CPU_TAGS } from "./data/tsbs-cpu.ts";
import { extentOf, TSBS_QUERIES } from "./data/tsbs-queries.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";

const EXTENT = extentOf({ hosts: 100, rows: 1_000_000 });
const MISS_US = 1000;
/** Goals for a known text without DuckDB, and with it. */
const DIRECT_US = 100;
const KNOWN_US = 250;

/** `statement(k)`: the k-th of its shape. `rounds`: fewer for slow shapes. `isLong`: its literals alone take longer than the goals. */
interface Shape {
  readonly name: string;
  readonly rounds?: number;
  readonly isLong?: boolean;
  statement(k: number): string;
}

const host = (k: number) => `host_${k % 100}`;
const hour = (k: number) => `2016-01-0${1 + (k % 9)}T${10 + (k % 14)}:00:00Z`;
const hostList = (count: number, k: number) => Array.from({ length: count }, (_, i) => `'host_${i + k}'`).join(", ");

const SHAPES: readonly Shape[] = [
  ...TSBS_QUERIES.map(({ name, statement }): Shape => ({ name, statement: (k) => statement(EXTENT, prng(k)).sql })),
  {
    name: "gap filling, locf and interpolate",
    statement: (k) => `SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS minute, hostname, locf(avg(usage_user)) AS l,
      interpolate(max(usage_system)) AS i FROM cpu WHERE time >= '${hour(k)}' AND time < '2016-01-11T00:00:00Z' AND hostname = '${host(k)}'
      GROUP BY minute, hostname ORDER BY minute`,
  },
  {
    name: "the last hour, by now()",
    statement: (k) => `SELECT date_bin(INTERVAL '1 minute', time) AS minute, max(usage_user) AS u FROM cpu
      WHERE hostname = '${host(k)}' AND time >= now() - INTERVAL '1 hour' GROUP BY minute ORDER BY minute`,
  },
  {
    name: "a window by RANGE INTERVAL",
    statement: (k) => `SELECT time, hostname, avg(usage_user) OVER (PARTITION BY hostname ORDER BY time
      RANGE BETWEEN INTERVAL '5 minutes' PRECEDING AND CURRENT ROW) AS a FROM cpu WHERE time >= '${hour(k)}' AND hostname = '${host(k)}'`,
  },
  {
    name: "JOIN",
    statement: (k) => `SELECT a.time, a.usage_user - b.usage_user AS d FROM cpu a JOIN cpu b ON a.time = b.time
      WHERE a.hostname = '${host(k)}' AND b.hostname = '${host(k + 1)}' AND a.time >= '${hour(k)}' ORDER BY a.time LIMIT 100`,
  },
  {
    name: "text functions",
    statement: (k) => `SELECT time, upper(hostname) || '-${k}' AS h, round(usage_user / 3.${k}, 2) AS u FROM cpu
      WHERE region LIKE '%eu%' AND time >= '${hour(k)}' AND hostname <> '${host(k)}'`,
  },
  {
    name: "days by a zone's clock",
    statement: (k) => `SELECT date_bin_wallclock(INTERVAL '1 day', tz(time, 'Europe/Berlin')) AS day, max(usage_user) AS m FROM cpu
      WHERE hostname = '${host(k)}' AND time >= '${hour(k)}' GROUP BY day ORDER BY day`,
  },
  { name: "IN of 1,000", isLong: true, statement: (k) => `SELECT * FROM cpu WHERE hostname IN (${hostList(1000, k)})` },
  { name: "IN of 20,000", rounds: 7, isLong: true, statement: (k) => `SELECT * FROM cpu WHERE hostname IN (${hostList(20_000, k)})` },
];

/** Microseconds. */
type Times = Map<string, number>;

interface Planned {
  readonly times: Times;
  /** True if DuckDB is not involved. */
  readonly isDirect: boolean;
}

/** Plans statements phase by phase and measures each phase. */
class Planner {
  private readonly tables: readonly ScanTable[];
  private prepared = "";
  private planCount = 0;

  constructor(private readonly engine: SqlEngine) {
    const tags = TSBS_CPU_TAGS.map((name) => ({ name, type: ColumnType.tag }));
    const fields = TSBS_CPU_FIELDS.map((name) => ({ name, type: ColumnType.integer }));
    const columns = [{ name: "time", type: ColumnType.time }, ...tags, ...fields].map((column, id): ColumnDef => ({ id, ...column }));
    const open = (): never => {
      throw new Error("nothing is read to plan");
    };
    const times = { minNs: EXTENT.startNs, maxNs: EXTENT.endNs };
    this.tables = [{ name: "cpu", columns, rowCountMax: 5_000_000, times, selectsExactly: true, aggregate: () => null, open }];
  }

  /** Plans a statement with a new shape, in all phases. */
  async miss(sql: string): Promise<Planned> {
    const times: Times = new Map();
    const tokens = stopwatch(times);
    liftLiterals(parseStatement(sql).text, true);
    tokens("tokens");
    const check = stopwatch(times);
    const cache = new PlanCache(async (text) => {
      const parse = stopwatch(times);
      const json = await this.engine.serialize(text);
      parse("parse");
      return json;
    }, 1 << 27);
    const plan = await cache.plan(sql);
    check("check");
    times.set("check", times.get("check")! - times.get("tokens")! - times.get("parse")!);
    return this.planned(plan, times);
  }

  /** The same for a shape in `cache`. */
  async hit(cache: PlanCache, sql: string): Promise<Planned> {
    const times: Times = new Map();
    const tokens = stopwatch(times);
    const plan = await cache.plan(sql);
    tokens("tokens");
    return this.planned(plan, times);
  }

  /** The same for one of a dashboard's texts. */
  async known(texts: KnownTexts<SqlPlan>, cache: PlanCache, sql: string): Promise<Planned> {
    const times: Times = new Map();
    const tokens = stopwatch(times);
    let plan = texts.find(sql);
    if (plan === null) {
      plan = await cache.plan(sql);
      texts.keep(sql, plan);
    }
    tokens("tokens");
    return this.planned(plan, times);
  }

  private async planned(plan: SqlPlan, times: Times): Promise<Planned> {
    const scans = new StatementScans(this.engine, { tables: this.tables, params: {} });
    const { names } = plan.statement;
    const functionBytesMax = plan.isSimple ? null : this.engine.functionBytesMax;
    const part = stopwatch(times);
    // a clock does not stand
    const options = { params: {}, nowNs: EXTENT.endNs + BigInt(this.planCount++), names, tables: scans, functionBytesMax, onPart: part };
    const physical = plan.known.find(options) ?? PhysicalPlan.of(plan, options);
    plan.known.keep(physical);
    part("find");
    scans.open(physical.scans);
    part("scans");
    // plans without DuckDB are neither printed nor prepared
    const isDirect = physical.direct !== null;
    const text = isDirect ? "" : physical.print(scans.calls).text;
    part("print");
    const duck = await this.engine.lease();
    const prepare = stopwatch(times);
    // a prepared statement stays prepared
    if (!isDirect && text !== this.prepared) await duck.describe(text);
    prepare("prepare");
    this.prepared = text;
    await duck.close(false, () => {});
    scans.unregister();
    scans.end();
    return { times, isDirect };
  }
}

/** Adds the time since the last call to `times`. */
function stopwatch(times: Times): (part: string) => void {
  let startMs = performance.now();
  return (part) => {
    const nowMs = performance.now();
    times.set(part, (times.get(part) ?? 0) + (nowMs - startMs) * 1000);
    startMs = nowMs;
  };
}

const PARTS = ["tokens", "parse", "check", "fill", "names", "rewrite", "limit", "find", "scans", "print", "prepare"];
/** Phases executed by DuckDB. */
const THEIRS: ReadonlySet<string> = new Set(["parse", "prepare"]);

/** The median of each phase, and of the sum of ours. */
function summary(planned: readonly Planned[]): { ours: number; parts: string } {
  const rounds = planned.map(({ times }) => times);
  const ours = rounds.map((times) => [...times].reduce((sum, [part, us]) => sum + (THEIRS.has(part) ? 0 : us), 0));
  const medianOf = (part: string) => median(rounds.map((times) => times.get(part) ?? 0));
  const parts = PARTS.filter((part) => rounds[0]!.has(part) && medianOf(part) >= 0.5).map((part) => `${part} ${medianOf(part).toFixed(0)}`);
  return { ours: median(ours), parts: parts.join(", ") };
}

export const sqlPlan: Bench = {
  name: "sql-plan",
  async run(size, say, { only } = {}) {
    const engine = await SqlEngine.open(Kernel.create(), { memoryBytes: 512 << 20, threads: 2, tempDir: null });
    try {
      const planner = new Planner(engine);
      const shapes = SHAPES.filter(({ name }) => only === undefined || name.includes(only));
      // code is compiled at run time
      for (let round = 0; round < WARM_UPS[size]; round++) for (const shape of shapes) await planner.miss(shape.statement(round));
      const answers: Answer[] = [];
      for (const shape of shapes) {
        const rounds = Math.min(shape.rounds ?? ROUNDS[size], ROUNDS[size]);
        const misses: Planned[] = [];
        const hits: Planned[] = [];
        const cache = new PlanCache((text) => engine.serialize(text), 1 << 27);
        for (let round = 0; round < rounds; round++) misses.push(await planner.miss(shape.statement(round)));
        for (let round = 0; round < rounds * HITS_PER_MISS; round++) hits.push(await planner.hit(cache, shape.statement(round)));
        // as in a server that has been running for a while
        hits.splice(0, hits.length >> 1);
        const texts = new KnownTexts<SqlPlan>(1 << 27);
        const known: Planned[] = [];
        for (let round = 0; round < rounds * HITS_PER_MISS; round++) {
          known.push(await planner.known(texts, cache, shape.statement(round % DASHBOARD_TEXTS)));
        }
        known.splice(0, known.length >> 1);
        const [miss, hit, again] = [summary(misses), summary(hits), summary(known)];
        const goal = hits.every(({ isDirect }) => isDirect) ? DIRECT_US : KNOWN_US;
        answers.push(answerOf(shape, "of a new shape", MISS_US, miss), answerOf(shape, "of a known shape", KNOWN_US, hit));
        answers.push(answerOf(shape, "of a known text", goal, again));
        const parts = [`new ${short(miss.ours)} µs (${miss.parts})`, `known shape ${short(hit.ours)} µs (${hit.parts})`];
        say(`${shape.name}: ${parts.join(", ")}, known text ${short(again.ours)} µs (${again.parts})`);
      }
      return answers;
    } finally {
      engine.close();
    }
  },
};

const HITS_PER_MISS = 8;
const DASHBOARD_TEXTS = 8;
const ROUNDS: Record<Size, number> = { smoke: 2, real: 60 };
const WARM_UPS: Record<Size, number> = { smoke: 0, real: 20 };

function answerOf({ name, isLong }: Shape, of: string, atMost: number, { ours, parts }: ReturnType<typeof summary>): Answer {
  return { what: `planning ${name}, ${of}`, value: ours, unit: "µs", ...(isLong ? {} : { goal: { atMost } }), detail: `${parts} µs` };
}
