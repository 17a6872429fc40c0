// Requests about caches of the table `cpu` of the database `db`, and what is answered: good ones with what is listed then, and bad ones.
import { LIMITS } from "../../src/model/limits.ts";

export const LAST = "/api/v3/configure/last_cache";
export const DISTINCT = "/api/v3/configure/distinct_cache";

export type Row = Record<string, unknown>;

/** What was asked for, and what is listed then. `op`: members of the operation in the answer, beside ids of tables and caches. */
export const MADE: [what: string, path: string, body: Row, op: Row, listed: Row][] = [
  [
    "a last cache with all defaults",
    LAST,
    { table: "cpu" },
    {
      ...{ name: "cpu_host_zone_last_cache", table: "cpu", node_spec: "all", key_columns: [{ tag: 0 }, { tag: 1 }] },
      ...{ value_columns: "all_non_key_columns", count: 1, ttl: 14_400 },
    },
    {
      ...{ table: "cpu", name: "cpu_host_zone_last_cache", key_column_ids: [0, 1], key_column_names: ["host", "zone"] },
      ...{ count: 1, ttl: 14_400 },
    },
  ],
  [
    "nulls are absent members, unknown members nothing",
    LAST,
    { table: "plain", name: null, key_columns: null, value_columns: null, node_spec: null, colour: "red" },
    { name: "plain__last_cache", key_columns: [], value_columns: "all_non_key_columns" },
    { table: "plain", name: "plain__last_cache", key_column_ids: [], key_column_names: [], count: 1, ttl: 14_400 },
  ],
  [
    "keys of every type that may be one, in their order; values with time",
    LAST,
    { table: "cpu", name: "é 'q' \"d\" %&", key_columns: ["b", "s", "u", "i", "zone"], value_columns: ["f", "time"], count: 10, ttl: 60 },
    {
      key_columns: [{ field: [0, 4] }, { field: [0, 3] }, { field: [0, 2] }, { field: [0, 1] }, { tag: 1 }],
      value_columns: { explicit: { columns: [{ field: [0, 0] }, "timestamp"] } },
      ...{ name: "é 'q' \"d\" %&", count: 10, ttl: 60 },
    },
    {
      ...{ table: "cpu", name: "é 'q' \"d\" %&", key_column_ids: [6, 5, 4, 3, 1], key_column_names: ["b", "s", "u", "i", "zone"] },
      ...{ value_column_ids: [2, 7], value_column_names: ["f", "time"], count: 10, ttl: 60 },
    },
  ],
  [
    "no keys, no values: time is kept, and not listed",
    LAST,
    { table: "cpu", key_columns: [], value_columns: [] },
    { name: "cpu__last_cache", key_columns: [], value_columns: { explicit: { columns: [] } } },
    {
      ...{ table: "cpu", name: "cpu__last_cache", key_column_ids: [], key_column_names: [] },
      ...{ value_column_ids: [], value_column_names: [], count: 1, ttl: 14_400 },
    },
  ],
  [
    "the largest numbers",
    LAST,
    { table: "cpu", name: "large", count: LIMITS.cacheRowsMax, ttl: LIMITS.cacheAgeSecondsMax, node_spec: "all" },
    { name: "large", count: 4_294_967_295, ttl: 9_223_372_036, node_spec: "all" },
    {
      ...{ table: "cpu", name: "large", key_column_ids: [0, 1], key_column_names: ["host", "zone"] },
      ...{ count: 4_294_967_295, ttl: 9_223_372_036 },
    },
  ],
  [
    "a distinct cache with all defaults",
    DISTINCT,
    { table: "cpu", columns: ["host"] },
    {
      ...{ table_name: "cpu", node_spec: "all", cache_name: "cpu_host_distinct_cache", column_ids: [{ tag: 0 }] },
      ...{ max_cardinality: 100_000, max_age_seconds: 86_400, source: { type: "User" } },
    },
    {
      ...{ table: "cpu", name: "cpu_host_distinct_cache", column_ids: [0], column_names: ["host"] },
      ...{ max_cardinality: 100_000, max_age_seconds: 86_400 },
    },
  ],
  [
    "columns in their order, on this server",
    DISTINCT,
    { table: "cpu", name: "d", columns: ["s", "zone", "host"], max_cardinality: 1, max_age: 1, node_spec: "nodes:node0,node0" },
    {
      ...{ cache_name: "d", node_spec: "nodes:node0", column_ids: [{ field: [0, 3] }, { tag: 1 }, { tag: 0 }] },
      ...{ max_cardinality: 1, max_age_seconds: 1 },
    },
    {
      ...{ table: "cpu", name: "d", column_ids: [5, 1, 0], column_names: ["s", "zone", "host"] },
      ...{ max_cardinality: 1, max_age_seconds: 1 },
    },
  ],
  [
    "a server as an object; a name that a cache of the other kind has",
    DISTINCT,
    {
      table: "cpu",
      name: "large",
      columns: ["zone"],
      node_spec: { node_id: "node0", node_group: null },
    },
    { cache_name: "large", node_spec: "nodes:node0" },
    { table: "cpu", name: "large", column_ids: [1], column_names: ["zone"], max_cardinality: 100_000, max_age_seconds: 86_400 },
  ],
];

const LARGE = LIMITS.cacheAgeSecondsMax + 1;
const MANY = Array.from({ length: 10_001 }, (_, i) => `c${i}`);
export const cpu = (members: Row): Row => ({ db: "db", table: "cpu", ...members });
export const REFUSED: [what: string, method: string, path: string, body: unknown, status: number, text: string | RegExp][] = [
  ["no body", "POST", LAST, "", 400, /^serde json error: /],
  ["a list", "POST", DISTINCT, [], 400, "serde json error: the body must be an object, got []"],
  ["no database", "POST", LAST, { table: "cpu" }, 400, "serde json error: missing field `db`"],
  ["no table", "POST", DISTINCT, { db: "db", columns: ["host"] }, 400, "serde json error: missing field `table`"],
  ["no columns", "POST", DISTINCT, cpu({}), 400, "serde json error: missing field `columns`"],
  ["null for columns", "POST", DISTINCT, cpu({ columns: null }), 400, /^serde json error: `columns`/],
  ["an empty list", "POST", DISTINCT, cpu({ columns: [] }), 400, "a distinct cache needs a column: `columns` is empty"],
  ["a text for a list", "POST", DISTINCT, cpu({ columns: "host" }), 400, /^serde json error: `columns`/],
  ["a number for a column", "POST", DISTINCT, cpu({ columns: ["host", 1] }), 400, "serde json error: `columns.1`: expected string, got 1"],
  ["10,001 columns", "POST", DISTINCT, cpu({ columns: MANY }), 400, /^serde json error: `columns`/],
  ["10,001 keys", "POST", LAST, cpu({ key_columns: MANY }), 400, /^serde json error: `key_columns`/],
  ["no such column", "POST", DISTINCT, cpu({ columns: ["host", "x"] }), 400, "table 'cpu' has no column 'x'"],
  ["a column in capitals", "POST", DISTINCT, cpu({ columns: ["HOST"] }), 400, "table 'cpu' has no column 'HOST'"],
  ["a column twice", "POST", DISTINCT, cpu({ columns: ["host", "host"] }), 400, "duplicate distinct column 'host'"],
  ...["f", "i", "u", "b", "time"].map((name): (typeof REFUSED)[number] => [
    ...([`${name} in a distinct cache`, "POST", DISTINCT, cpu({ columns: [name] }), 400] as const),
    `column '${name}' cannot be in a distinct cache: it is neither a tag nor a string field`,
  ]),
  ...["f", "time"].map((name): (typeof REFUSED)[number] => [
    ...([`${name} as a key`, "POST", LAST, cpu({ key_columns: ["host", name] }), 400] as const),
    `column '${name}' cannot be a key of a last cache: keys are tags, strings, integers or booleans`,
  ]),
  ["no such key", "POST", LAST, cpu({ key_columns: ["x"] }), 400, "table 'cpu' has no column 'x'"],
  ["a key twice", "POST", LAST, cpu({ key_columns: ["s", "s"] }), 400, "duplicate key column 's'"],
  ["no such value", "POST", LAST, cpu({ value_columns: ["x"] }), 400, "table 'cpu' has no column 'x'"],
  ["a value twice", "POST", LAST, cpu({ value_columns: ["f", "f"] }), 400, "duplicate value column 'f'"],
  [
    "a key as value",
    "POST",
    LAST,
    cpu({ key_columns: ["s"], value_columns: ["f", "s"] }),
    400,
    "column 's' cannot be both key and value of a last cache",
  ],
  ["a default key as value", "POST", LAST, cpu({ value_columns: ["host"] }), 400, /^column 'host' cannot be both/],
  ["no rows", "POST", LAST, cpu({ count: 0 }), 400, "serde json error: `count`: expected integer to be greater or equal to 1, got 0"],
  ["fewer than none", "POST", LAST, cpu({ count: -1 }), 400, /`count`: expected .* 1, got -1$/],
  ["half a row", "POST", LAST, cpu({ count: 1.5 }), 400, "serde json error: `count`: expected integer, got 1.5"],
  ["a text for a number", "POST", LAST, cpu({ count: "1" }), 400, 'serde json error: `count`: expected integer, got "1"'],
  ["null for a number", "POST", LAST, cpu({ ttl: null }), 400, "serde json error: `ttl`: expected integer, got null"],
  ["a bad number before a missing table", "POST", LAST, { db: "db", table: "none", count: 0 }, 400, /^serde json error: `count`/],
  ["too many rows", "POST", LAST, cpu({ count: 2 ** 32 }), 400, /^`count` must be from 1 to 4294967295, got 4294967296$/],
  ["a number that is huge", "POST", LAST, '{"db":"db","table":"cpu","count":1e300}', 400, /^`count` must be/],
  ["an invalid number", "POST", LAST, '{"db":"db","table":"cpu","count":1e999}', 400, /^serde json error: `count`/],
  ["no time to live", "POST", LAST, cpu({ ttl: 0 }), 400, "`ttl` must be from 1 to 9223372036, got 0"],
  ["300 years", "POST", LAST, cpu({ ttl: LARGE }), 400, /^`ttl` must be/],
  ["a duration as text", "POST", LAST, cpu({ ttl: "4h" }), 400, /^serde json error: `ttl`/],
  ["no combinations", "POST", DISTINCT, cpu({ columns: ["host"], max_cardinality: 0 }), 400, /`max_cardinality`: expected .* 1, got 0$/],
  ["fewer than no combinations", "POST", DISTINCT, cpu({ columns: ["host"], max_cardinality: -5 }), 400, /expected .* 1, got -5$/],
  ["no age", "POST", DISTINCT, cpu({ columns: ["host"], max_age: 0 }), 400, "`max_age` must be from 1 to 9223372036, got 0"],
  ["a fraction of a second", "POST", DISTINCT, cpu({ columns: ["host"], max_age: 0.5 }), 400, /^serde json error: `max_age`/],
  ["an age of 300 years", "POST", DISTINCT, cpu({ columns: ["host"], max_age: LARGE }), 400, /^`max_age` must be/],
  ["an empty name", "POST", LAST, cpu({ name: "" }), 400, "a cache's name cannot be empty"],
  ["a name with a NUL", "POST", LAST, cpu({ name: "a\0b" }), 400, "a cache's name contains a NUL character"],
  ["a long name", "POST", LAST, cpu({ name: "é".repeat(4097) }), 400, "the cache's name is too long: 8194 bytes, max 8192"],
  ["a number for a name", "POST", LAST, cpu({ name: 5 }), 400, "serde json error: `name`: expected string or null, got 5"],
  ["an unknown server", "POST", LAST, cpu({ node_spec: "nodes:node0,node9" }), 404, "node not found: node9"],
  ["an unknown server as object", "POST", LAST, cpu({ node_spec: { node_id: "node9" } }), 404, "node not found: node9"],
  ["a group of servers", "POST", LAST, cpu({ node_spec: { node_group: "g" } }), 404, "node group not found: g"],
  ["a server spec of another form", "POST", LAST, cpu({ node_spec: "node0" }), 400, /^`node_spec` must be all or nodes:<id>/],
  ["no servers", "POST", LAST, cpu({ node_spec: "nodes:" }), 400, /^`node_spec` must be/],
  ["an empty server", "POST", LAST, cpu({ node_spec: "nodes:node0,,node0" }), 400, /^`node_spec` must be/],
  ["a list of servers", "POST", LAST, cpu({ node_spec: ["node0"] }), 400, /^serde json error: `node_spec`/],
  ["no such database", "POST", LAST, { db: "nowhere", table: "cpu" }, 404, "database not found: nowhere"],
  ["the server's own", "POST", LAST, { db: "_internal", table: "queries" }, 404, "database not found: _internal"],
  ["no such table", "POST", DISTINCT, { db: "db", table: "x", columns: ["y"] }, 404, "table not found: db.x"],
  ["no such table", "POST", LAST, { db: "db", table: "x" }, 404, "table not found: db.x"],
  ["no such cache", "DELETE", `${LAST}?db=db&table=cpu&name=nope`, undefined, 404, "last cache not found: 'nope' of db.cpu"],
  ["a cache of the other kind", "DELETE", `${LAST}?db=db&table=cpu&name=d`, undefined, 404, "last cache not found: 'd' of db.cpu"],
  ["a cache of another table", "DELETE", `${LAST}?db=db&table=plain&name=l`, undefined, 404, "last cache not found: 'l' of db.plain"],
  ["no such table", "DELETE", `${DISTINCT}?db=db&table=x&name=d`, undefined, 404, "table not found: db.x"],
  ["no such database", "DELETE", `${DISTINCT}?db=x&table=cpu&name=d`, undefined, 404, "database not found: x"],
  ["no name", "DELETE", `${DISTINCT}?db=db&table=cpu`, undefined, 400, "serde error: missing field `name`"],
  ["no name in the body", "DELETE", DISTINCT, { db: "db", table: "cpu" }, 400, "serde json error: missing field `name`"],
  ["a name twice", "DELETE", `${DISTINCT}?db=db&table=cpu&name=d&name=d`, undefined, 400, "serde error: duplicate field `name`"],
  [
    "a last cache that is there, the same",
    "POST",
    LAST,
    cpu({ name: "l", count: 2 }),
    400,
    "a last cache 'l' of db.cpu already exists with the same configuration",
  ],
  [
    "a last cache that is there, another",
    "POST",
    LAST,
    cpu({ name: "l", count: 3 }),
    400,
    "a last cache 'l' of db.cpu already exists with a different configuration",
  ],
  [
    "a distinct cache that is there",
    "POST",
    DISTINCT,
    cpu({ name: "d", columns: ["host", "zone"], max_age: 86_400 }),
    409,
    "a distinct cache 'd' of db.cpu already exists with the same configuration",
  ],
  ...[
    { columns: ["zone", "host"] },
    { columns: ["host", "zone"], max_age: 5 },
    { columns: ["host", "zone"], node_spec: "nodes:node0" },
  ].map((other): (typeof REFUSED)[number] => [
    ...([`another distinct cache of the name: ${JSON.stringify(other)}`, "POST", DISTINCT, cpu({ name: "d", ...other }), 400] as const),
    "a distinct cache 'd' of db.cpu already exists with a different configuration",
  ]),
];
