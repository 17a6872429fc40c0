// Parses text to statements. The first keywords select the statement by a table, whose order is the order in which errors list the
// alternatives; the rest is parsed by recursive descent (parse/select.ts, parse/show.ts, parse/definition.ts).
import type { Explain, PlacedStatement, Statement } from "./ast.ts";
import {
  parseAlterRetentionPolicy,
  parseCreateContinuousQuery,
  parseCreateDatabase,
  parseCreateRetentionPolicy,
  parseCreateSubscription,
  parseCreateUser,
  parseDropContinuousQuery,
  parseDropDatabase,
  parseDropMeasurement,
  parseDropRetentionPolicy,
  parseDropShard,
  parseDropSubscription,
  parseKillQuery,
  parsePrivilege,
  parseRemoval,
  parseSetPassword,
  refused,
} from "./definition.ts";
import { TSDBQL_LIMITS } from "./limits.ts";
import { NO_PARAMS, type Params } from "./params.ts";
import { parseSelect } from "./select.ts";
import {
  parseIdent,
  parseNamedCardinality,
  parseShowFieldKeys,
  parseShowMeasurements,
  parseShowModule,
  parseShowRetentionPolicies,
  parseShowSeries,
  parseShowTagKeys,
  parseShowTagValues,
} from "./show.ts";
import { type Grammar, TokenStream } from "./token-stream.ts";

type Leaf = (p: TokenStream) => Statement;
interface Branch {
  readonly [word: string]: Leaf | Branch;
}

const LANGUAGE: Branch = {
  SELECT: (p) => parseSelect(p),
  DELETE: (p) => parseRemoval(p, "delete"),
  SHOW: {
    CONTINUOUS: { QUERIES: () => ({ kind: "show continuous queries" }) },
    DATABASES: () => ({ kind: "show databases" }),
    DIAGNOSTICS: (p) => parseShowModule(p, "show diagnostics"),
    FIELD: { KEY: (p) => parseNamedCardinality(p, "show field key cardinality"), KEYS: parseShowFieldKeys },
    GRANTS: { FOR: (p) => ({ kind: "show grants", user: parseIdent(p) }) },
    MEASUREMENT: (p) => parseNamedCardinality(p, "show measurement cardinality"),
    MEASUREMENTS: parseShowMeasurements,
    QUERIES: () => ({ kind: "show queries" }),
    RETENTION: { POLICIES: parseShowRetentionPolicies },
    SERIES: parseShowSeries,
    SHARD: { GROUPS: () => ({ kind: "show shard groups" }) },
    SHARDS: () => ({ kind: "show shards" }),
    STATS: (p) => parseShowModule(p, "show stats"),
    SUBSCRIPTIONS: () => ({ kind: "show subscriptions" }),
    TAG: { KEY: (p) => parseNamedCardinality(p, "show tag key cardinality"), KEYS: parseShowTagKeys, VALUES: parseShowTagValues },
    USERS: () => ({ kind: "show users" }),
  },
  CREATE: {
    CONTINUOUS: { QUERY: parseCreateContinuousQuery },
    DATABASE: parseCreateDatabase,
    USER: parseCreateUser,
    RETENTION: { POLICY: parseCreateRetentionPolicy },
    SUBSCRIPTION: parseCreateSubscription,
  },
  DROP: {
    CONTINUOUS: { QUERY: parseDropContinuousQuery },
    DATABASE: parseDropDatabase,
    MEASUREMENT: parseDropMeasurement,
    RETENTION: { POLICY: parseDropRetentionPolicy },
    SERIES: (p) => parseRemoval(p, "drop series"),
    SHARD: parseDropShard,
    SUBSCRIPTION: parseDropSubscription,
    USER: (p) => {
      parseIdent(p);
      return refused("DROP USER");
    },
  },
  EXPLAIN: parseExplain,
  GRANT: (p) => parsePrivilege(p, "GRANT"),
  REVOKE: (p) => parsePrivilege(p, "REVOKE"),
  ALTER: { RETENTION: { POLICY: parseAlterRetentionPolicy } },
  SET: { PASSWORD: { FOR: parseSetPassword } },
  KILL: { QUERY: parseKillQuery },
};

/**
 * All statements of a request; a syntax error in one rejects all, as in 1.x. @throws TsdbError bad_query with 1.x's complete message:
 * `error parsing query: found X, expected Y at line L, char C`
 */
export function parseQuery(text: string, params: Params = NO_PARAMS, grammar: Grammar = "1.x"): readonly PlacedStatement[] {
  const { charsMax, statementsMax } = TSDBQL_LIMITS;
  const p = new TokenStream(text.slice(0, charsMax + 1), params, grammar);
  if (text.length > charsMax) throw p.error(`the text is longer than ${charsMax} characters`);
  const statements: PlacedStatement[] = [];
  for (let needsSemicolon = false; ; ) {
    const first = p.next();
    if (first.kind === "end") return statements;
    if (first.kind === ";") {
      needsSemicolon = false;
      continue;
    }
    if (needsSemicolon) throw p.unexpected(first, [";"]);
    p.unscan();
    if (statements.length === statementsMax) throw p.error(`more than ${statementsMax} statements`);
    const statement = parseStatement(p);
    const end = p.next();
    p.unscan();
    statements.push({ statement, text: p.text.slice(first.at, end.at).trim() });
    needsSemicolon = true;
  }
}

function parseStatement(p: TokenStream): Statement {
  for (let branch = LANGUAGE; ; ) {
    const token = p.next();
    const found = Object.hasOwn(branch, token.kind) ? branch[token.kind]! : undefined;
    if (found === undefined) throw p.unexpected(token, Object.keys(branch));
    if (typeof found === "function") return found(p);
    branch = found;
  }
}

/** VERBOSE was added after 1.6 and is no keyword: it is recognized where SELECT may follow. */
function parseExplain(p: TokenStream): Explain {
  const analyze = p.accept("ANALYZE");
  const token = p.next();
  const verbose = token.kind === "ident" && token.literal.toLowerCase() === "verbose";
  if (!verbose) p.unscan();
  p.expect("SELECT");
  return { kind: "explain", analyze, verbose, select: parseSelect(p) };
}
