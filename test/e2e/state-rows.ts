// The state tables of the order, row by row: what a database, a table, a token, a cache or a file index is, what is asked, what it is then.
// Rows of seed-v3.md, "States and transitions", come first in each group; those behind them are of v3-facts.md and of our own endpoints.

/** Of what a row speaks. */
export type Kind = "database" | "table" | "token" | "operator" | "file index" | "last cache" | "distinct cache";

/** `active`: there, with its rows. `empty`: there, without rows. `without tables`: a database without tables.
 *  `soft-deleted`: its name is free, it can be restored. `hard-deleted`: no name finds it. A token is `active` if it is accepted,
 *  `other text` the operator's whose former text does not. */
export type State = "none" | "active" | "empty" | "without tables" | "soft-deleted" | "hard-deleted" | "other text";

export interface Row {
  readonly of: Kind;
  readonly state: State;
  /** Method, and what of the object it is about. */
  readonly trigger: "POST" | "PUT" | "DELETE" | "POST restore" | "POST retention" | "DELETE retention" | "POST regenerate";
  /** Parameters or members beside the names of the object. */
  readonly condition: Readonly<Record<string, unknown>>;
  readonly next: State;
  readonly status: number;
  /** When a soft-deleted object is to be dropped; default: never. */
  readonly drop?: "in 72 hours" | "in 2100";
  /** How many operations of the catalog the trigger takes; default: 1. */
  readonly operations?: number;
  /** Retention period of the object before it, and after it; default: none. */
  readonly period?: readonly [before: string | null, after: string | null];
}

const IN_2100 = "2100-01-01T00:00:00Z";
/** Long enough to keep rows of 1970, and too short. */
const [LONG, SHORT] = ["100y", "1h"];

const active = { state: "active", trigger: "DELETE", status: 200 } as const;

function deletions(of: "database" | "table"): Row[] {
  return [
    { of, ...active, condition: {}, next: "soft-deleted" },
    { of, ...active, condition: { hard_delete_at: "never" }, next: "soft-deleted" },
    { of, ...active, condition: { hard_delete_at: "now" }, next: "hard-deleted" },
    { of, ...active, condition: { hard_delete_at: IN_2100 }, next: "soft-deleted", drop: "in 2100" },
    { of, ...active, condition: { hard_delete_at: "default" }, next: "soft-deleted", drop: "in 72 hours" },
    // a deletion is an operation for each table
    { of, ...active, condition: { data_only: "true" }, next: "empty", operations: of === "database" ? 2 : 1 },
    // a time that has come
    { of, ...active, condition: { hard_delete_at: "2020-01-01T00:00:00Z" }, next: "hard-deleted" },
    { of, ...active, state: "soft-deleted", condition: { hard_delete_at: "now" }, next: "hard-deleted" },
    { of, ...active, state: "soft-deleted", condition: { hard_delete_at: "default" }, next: "soft-deleted", drop: "in 72 hours" },
    { of, ...active, state: "soft-deleted", condition: { hard_delete_at: "never" }, next: "soft-deleted", status: 409, operations: 0 },
    { of, state: "soft-deleted", trigger: "POST restore", condition: {}, next: "active", status: 200 },
    { of, ...active, state: "empty", condition: {}, next: "soft-deleted" },
    { of, ...active, state: "none", condition: {}, next: "none", status: 404, operations: 0 },
    { of, state: "none", trigger: "POST restore", condition: {}, next: "none", status: 404, operations: 0 },
    { of, state: "active", trigger: "POST restore", condition: {}, next: "active", status: 409, operations: 0 },
    { of, state: "hard-deleted", trigger: "POST restore", condition: {}, next: "hard-deleted", status: 404, operations: 0 },
  ];
}

function periods(of: "database" | "table"): Row[] {
  return [
    // rows are past a period by the clock: an hour hides those of 1970, and they come back when it is longer
    { of, state: "active", trigger: "PUT", condition: { retention_period: SHORT }, next: "empty", status: 200, period: [null, SHORT] },
    { of, state: "empty", trigger: "PUT", condition: { retention_period: LONG }, next: "active", status: 200, period: [SHORT, LONG] },
    { of, state: "empty", trigger: "PUT", condition: {}, next: "active", status: 200, period: [SHORT, null] },
    { of, state: "empty", trigger: "DELETE retention", condition: {}, next: "active", status: 204, period: [SHORT, null] },
    { of, state: "active", trigger: "POST retention", condition: { duration: SHORT }, next: "empty", status: 204, period: [null, SHORT] },
  ];
}

/** `again`: the answer to the same configuration a second time; another one is always 400. */
function caches(of: "distinct cache" | "last cache", made: Row["condition"], other: Row["condition"], again: number): Row[] {
  return [
    { of, state: "none", trigger: "POST", condition: made, next: "active", status: 201 },
    { of, state: "active", trigger: "POST", condition: made, next: "active", status: again, operations: 0 },
    { of, state: "active", trigger: "POST", condition: other, next: "active", status: 400, operations: 0 },
    { of, state: "active", trigger: "DELETE", condition: {}, next: "none", status: 200 },
    { of, state: "none", trigger: "DELETE", condition: {}, next: "none", status: 404, operations: 0 },
  ];
}

/** How many caches an object has in its second state that had one in its first: those of its tables, while these are there. */
export function cachesAfter({ of, state, next, condition }: Row): number | null {
  if (of !== "database" && of !== "table") return null;
  if (condition["remove_tables"] === "true") return 0;
  if (next === "without tables" || (state === "none" && next === "empty")) return 0;
  return next === "active" || next === "empty" ? 1 : null;
}

export const ROWS: readonly Row[] = [
  ...deletions("database"),
  { of: "database", ...active, condition: { data_only: "true", remove_tables: "true" }, next: "empty", operations: 2 },
  { of: "database", state: "none", trigger: "POST", condition: {}, next: "without tables", status: 200 },
  {
    ...{ of: "database", state: "none", trigger: "POST", condition: { retention_period: LONG }, next: "without tables", status: 200 },
    ...{ operations: 2, period: [null, LONG] },
  },
  { of: "database", state: "active", trigger: "POST", condition: {}, next: "active", status: 409, operations: 0 },
  ...periods("database"),

  ...deletions("table"),
  { of: "table", state: "none", trigger: "POST", condition: { tags: ["host"], fields: [] }, next: "empty", status: 200, operations: 2 },
  { of: "table", state: "active", trigger: "POST", condition: { tags: [], fields: [] }, next: "active", status: 409, operations: 0 },
  ...periods("table"),

  { of: "token", state: "none", trigger: "POST", condition: {}, next: "active", status: 201 },
  { of: "token", state: "none", trigger: "POST", condition: { expiry_secs: 3600 }, next: "active", status: 201 },
  { of: "token", state: "active", trigger: "POST", condition: {}, next: "active", status: 409, operations: 0 },
  { of: "token", state: "active", trigger: "DELETE", condition: {}, next: "none", status: 200 },
  { of: "token", state: "none", trigger: "DELETE", condition: {}, next: "none", status: 404, operations: 0 },
  { of: "operator", state: "active", trigger: "POST", condition: {}, next: "active", status: 409, operations: 0 },
  { of: "operator", state: "active", trigger: "DELETE", condition: {}, next: "active", status: 405, operations: 0 },
  { of: "operator", state: "active", trigger: "POST regenerate", condition: {}, next: "other text", status: 201 },

  { of: "file index", state: "none", trigger: "POST", condition: { columns: ["host"] }, next: "active", status: 200 },
  { of: "file index", state: "active", trigger: "DELETE", condition: {}, next: "none", status: 200 },
  { of: "file index", state: "none", trigger: "DELETE", condition: {}, next: "none", status: 404, operations: 0 },

  ...caches("distinct cache", { columns: ["host"] }, { columns: ["host"], max_age: 60 }, 409),
  ...caches("last cache", { key_columns: ["host"] }, { key_columns: ["host"], count: 2 }, 400),
];

/** The title of a transition's test. */
export function rowName({ of, state, trigger, condition, next }: Row): string {
  const with_ = Object.entries(condition).map(([name, value]) => ` ${name}=${JSON.stringify(value).replaceAll('"', "")}`);
  return `${of}: ${state}, ${trigger}${with_.join("")} → ${next}`;
}
