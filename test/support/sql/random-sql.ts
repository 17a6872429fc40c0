// Random statements over a table of TWIN_COLUMNS that have exactly one correct answer: they sort by all returned columns, and use functions
// that depend on row order only where rows differ in time.
import type { Below } from "../prng.ts";

const TAGS = ["host", '"Region"'];
/** Mark a tag in a condition while a statement is generated. */
const [MARK_OPEN, MARK_CLOSE] = ["\u{1}", "\u{2}"];
const MARKED = new RegExp(`${MARK_OPEN}([^${MARK_CLOSE}]*)${MARK_CLOSE}`, "g");
const DAY_S = 86_400;
const NUMBERS = ["f", "i", "u"];

/** `below(n)` is 0 .. n-1. `areTimesUnique`: no two rows have the same time. */
export function randomStatement(below: Below, areTimesUnique: boolean): string {
  return randomTwins(below, areTimesUnique).statement;
}

/** A statement, and an equivalent one whose tag conditions are not pushed down to storage. */
export function randomTwins(below: Below, areTimesUnique: boolean): { readonly statement: string; readonly opaque: string } {
  const text = marked(below, areTimesUnique);
  return { statement: text.replace(MARKED, "$1"), opaque: text.replace(MARKED, "(CASE WHEN time IS NULL THEN '' ELSE $1 END)") };
}

function marked(below: Below, areTimesUnique: boolean): string {
  if (below(4) === 0) return ofOneTag(below);
  if (below(8) === 0) return counted(below);
  const kind = below(areTimesUnique ? 8 : 6);
  if (kind < 5) return groups(below, areTimesUnique);
  if (kind === 5) return rows(below);
  return kind === 6 ? newest(below) : lastOfGroups(below);
}

function pick<T>(below: Below, list: readonly T[]): T {
  return list[below(list.length)]!;
}

function some<T>(below: Below, list: readonly T[], oneIn = 2): T[] {
  return list.filter(() => below(oneIn) === 0);
}

function second(below: Below): string {
  const seconds = below(700) - 350 + (below(4) === 0 ? (below(4) - 2) * DAY_S : 0);
  const time = new Date(seconds * 1000).toISOString().replace(".000Z", "");
  return `'${time}${below(4) === 0 ? `.00000000${below(3)}` : ""}Z'`;
}

function number(below: Below): string {
  return pick(below, ["0", "3", "-7", "2.5", "-0.25", "1e1", "30", "4.0", "99.9"]);
}

const mark = (tag: string) => `${MARK_OPEN}${tag}${MARK_CLOSE}`;

/** Conditions that can be pushed down, mostly. */
function conditions(below: Below, withFields = true): string {
  const tag = () => mark(pick(below, TAGS));
  const host = mark("host");
  const field = () => pick(below, NUMBERS);
  const value = () => pick(below, ["'a'", "'b'", "'eu'", "'us'", "'é'", "'host with a long name'", "'none'", "''"]);
  const comparison = () => pick(below, ["=", "!=", "<", "<=", ">", ">="]);
  const makers = [
    () => `${tag()} = ${value()}`,
    () => `${tag()} IN (${value()}, ${value()}, ${value()})`,
    () => `${tag()} IS NULL`,
    () => `(${host} = ${value()} OR ${host} = ${value()})`,
    // often true for all rows
    () => `${host} = 'a'`,
    () => `${mark('"Region"')} = 'eu'`,
    () => `time ${pick(below, ["<", "<=", ">", ">=", "="])} ${second(below)}`,
    () => `time BETWEEN ${second(below)} AND ${second(below)}`,
    () => `time >= ${second(below)} AND time < ${second(below)}`,
    ...(withFields
      ? [
          () => `${field()} ${comparison()} ${number(below)}`,
          () => `${number(below)} ${comparison()} ${field()}`,
          () => `${field()} BETWEEN ${number(below)} AND ${number(below)}`,
          () => `${field()} IS NOT NULL`,
          () => pick(below, ["b", "NOT b", "b = true", "b <> true", "b IS NOT NULL"]),
          // not pushed down
          () => pick(below, ["f > i", "s LIKE '%1'", "f IS NULL", "i IN (1, 2, 3)", "f > 3 OR u > 3"]),
        ]
      : []),
    () => pick(below, [`${host} LIKE '%a%'`, `${host} != 'a'`, `${tag()} IS NOT NULL`, `${host} < 'b' OR ${tag()} = 'eu'`, "1 = 1"]),
  ];
  const parts = Array.from({ length: below(4) }, () => `(${pick(below, makers)()})`);
  return parts.length === 0 ? "" : ` WHERE ${parts.join(" AND ")}`;
}

const BINS = [
  "date_bin(INTERVAL '1 minute', time)",
  "date_bin(INTERVAL '7 seconds', time, '2001-02-03T04:05:06.000000007Z')",
  "date_trunc('hour', time)",
  "date_trunc('second', time)",
  "time_bucket(INTERVAL '90 seconds', time)",
  "date_bin(INTERVAL '250 milliseconds', time)",
];

function aggregate(below: Below, areTimesUnique: boolean): string {
  const field = pick(below, NUMBERS);
  const simple = ["sum", "avg", "mean", "min", "max", "count"].map((name) => `${name}(${field})`);
  const other = ["count(*)", "count(1)", "min(time)", "max(time)", "max(b)", "count(b)", "count(time)"];
  const single = ["count(DISTINCT host)", "max(f + 1)", "count(*) FILTER (WHERE f > 0)", "max(s)", "count(host)"];
  const byTime = [
    `first_value(${field} ORDER BY time)`,
    `last_value(${field} ORDER BY time)`,
    `arg_min(${field}, time)`,
    `selector_last(${field}, time)['value']`,
    `selector_first(${field}, time)['time']`,
    `selector_max(${field}, time)['value']`,
  ];
  return pick(below, [...simple, ...simple, ...other, ...(areTimesUnique ? byTime : []), ...(below(6) === 0 ? single : [])]);
}

/** Typical dashboard queries: fields, or a count of all rows, for one value of a tag. */
function ofOneTag(below: Below): string {
  const shown = pick(below, ["count(*)", "f", "time, f", "i, u", "max(f)", "sum(i)", "count(i)", "min(time), max(u)", "b"]);
  const tag = pick(below, [
    `${mark("host")} = 'a'`,
    `${mark('"Region"')} = 'eu'`,
    `${mark("host")} IN ('a', 'b')`,
    `${mark("host")} IS NOT NULL`,
  ]);
  const others = pick(below, ["", "", ` AND time >= ${second(below)}`, ` AND i > ${number(below)}`]);
  return `SELECT ${shown} FROM cpu WHERE ${tag}${others}`;
}

function groups(below: Below, areTimesUnique: boolean): string {
  const keys = some(below, TAGS);
  const bin = below(2) === 0 ? [pick(below, BINS)] : [];
  const items = [...bin.map((text) => `${text} AS bin`), ...keys];
  const aggregates = Array.from({ length: 1 + below(5) }, () => aggregate(below, areTimesUnique));
  const wrapped = aggregates.map((text) => pick(below, [text, text, text, `${text} IS NULL`, `coalesce(${text}, ${text})`]));
  const all = [...items, ...wrapped.map((text, i) => `${text} AS c${i}`)];
  const by = items.length === 0 ? "" : ` GROUP BY ${pick(below, [[...bin, ...keys], items.map((_, i) => i + 1)]).join(", ")}`;
  const having = below(4) === 0 ? ` HAVING ${pick(below, ["count(*) > 2", "max(i) > 3", "min(time) < '1970-01-01' OR count(f) = 1"])}` : "";
  const select = `SELECT ${all.join(", ")} FROM cpu${conditions(below)}${by}${having}`;
  if (below(6) === 0) return `SELECT count(*), min(c0) FROM (${select}) AS grouped`;
  return below(2) === 0 ? select : `${select}${orderAndLimit(below, all.length)}`;
}

function rows(below: Below): string {
  const columns = ["time", ...TAGS, ...NUMBERS, "s", "b"].filter(() => below(2) === 0);
  const shown = columns.length === 0 ? ["f"] : columns;
  const select = `SELECT ${below(5) === 0 ? "DISTINCT " : ""}${shown.join(", ")} FROM cpu${conditions(below)}`;
  return below(2) === 0 ? select : `${select}${orderAndLimit(below, shown.length)}`;
}

/** By all columns in some order. */
function orderAndLimit(below: Below, columns: number): string {
  const first = below(columns);
  const order = Array.from({ length: columns }, (_, i) => `${((first + i) % columns) + 1}${pick(below, ["", " DESC", " NULLS FIRST"])}`);
  return ` ORDER BY ${order.join(", ")}${below(3) === 0 ? ` LIMIT ${below(30)}` : ""}${below(4) === 0 ? ` OFFSET ${below(5)}` : ""}`;
}

function newest(below: Below): string {
  const where = conditions(below, below(4) === 0);
  const keys = below(2) === 0 ? ["host"] : TAGS;
  const direction = below(5) === 0 ? "" : " DESC";
  const partition = `PARTITION BY ${keys.join(", ")} ORDER BY time${direction}`;
  switch (below(4)) {
    case 0:
      return `SELECT DISTINCT ON (${keys.join(", ")}) * FROM cpu${where} ORDER BY ${keys.join(", ")}, time${direction}`;
    case 1:
      return `SELECT * FROM cpu${where} QUALIFY row_number() OVER (${partition}) = ${1 + below(2)}`;
    case 2:
      return `SELECT * FROM (SELECT *, rank() OVER (${partition}) k FROM cpu${where}) WHERE k = 1`;
    default:
      return `SELECT * FROM cpu${where} ORDER BY time${direction} LIMIT ${1 + below(2)}`;
  }
}

/** The number of values of a tag, or of rows of groups. */
function counted(below: Below): string {
  const where = conditions(below, below(4) === 0);
  const keys = pick(below, [["host"], ['"Region"'], TAGS]).join(", ");
  const from = `FROM cpu${where}`;
  switch (below(4)) {
    case 0:
      return `SELECT count(DISTINCT ${pick(below, TAGS)}) ${from}`;
    case 1:
      return `SELECT count(*) FROM (SELECT DISTINCT ${keys} ${from})`;
    case 2:
      return `SELECT count(*) FROM (SELECT DISTINCT ON (${keys}) * ${from} ORDER BY ${keys}, time DESC)`;
    default:
      return `SELECT count(*) FROM (SELECT ${keys}, max(time) ${from} GROUP BY ${keys})`;
  }
}

function lastOfGroups(below: Below): string {
  const column = () => pick(below, [...NUMBERS, "s", ...TAGS]);
  const makers = [
    () => `last_value(${column()} ORDER BY time)`,
    () => `selector_last(${column()}, time)['value']`,
    () => `arg_max(${column()}, time)`,
    () => "max(time)",
    () => pick(below, ["count(DISTINCT host)", 'min("Region")', "count(*)", "first_value(s ORDER BY time)", "min(s)"]),
  ];
  const keys = some(below, TAGS);
  const items = [...keys, ...Array.from({ length: 1 + below(4) }, (_, i) => `${pick(below, makers)()} AS c${i}`)];
  const by = keys.length === 0 ? "" : ` GROUP BY ${keys.join(", ")}`;
  return `SELECT ${items.join(", ")} FROM cpu${conditions(below, below(4) === 0)}${by}`;
}
