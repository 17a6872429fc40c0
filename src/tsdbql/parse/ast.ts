// The syntax tree of InfluxQL: created by the parser, read by all later stages. Nodes are plain and immutable; a stage that needs a
// different tree creates one.

/** The start of a token: `line` and `column` count from 0 (errors of the language print both plus one). */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type FieldType = "float" | "integer" | "unsigned" | "string" | "boolean";

/** Types allowed after `::`. */
export type CastType = FieldType | "tag" | "field" | "time" | "duration";

// Expressions ------------------------------------------------------------------------------------------------------------------------

export type BinaryOperator =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "&"
  | "|"
  | "^"
  | "="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "=~"
  | "!~"
  | "AND"
  | "OR";

/** A column, or `time`. */
export interface VarRef {
  readonly kind: "ref";
  readonly name: string;
  readonly cast: CastType | null;
}

export interface Call {
  readonly kind: "call";
  /** In lower case. */
  readonly name: string;
  readonly args: readonly Expression[];
}

export interface Binary {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

/** Parentheses are kept: column names and error texts include them. */
export interface Paren {
  readonly kind: "paren";
  readonly inner: Expression;
}

export interface NumberLiteral {
  readonly kind: "number";
  readonly value: number;
}

export interface IntegerLiteral {
  readonly kind: "integer";
  /** -2^63 .. 2^63 - 1, or for unsigned literals up to 2^64 - 1. */
  readonly value: bigint;
  readonly unsigned: boolean;
}

export interface StringLiteral {
  readonly kind: "string";
  readonly value: string;
}

export interface BooleanLiteral {
  readonly kind: "boolean";
  readonly value: boolean;
}

export interface DurationLiteral {
  readonly kind: "duration";
  readonly ns: bigint;
}

/** Created from a text literal next to `time`, or from a bind parameter. */
export interface TimeLiteral {
  readonly kind: "time";
  readonly ns: bigint;
}

export interface RegexLiteral {
  readonly kind: "regex";
  /** The text between the slashes, with `\/` replaced by `/`. Go's syntax. */
  readonly source: string;
}

/** `*`, `*::field`, `*::tag`. */
export interface Wildcard {
  readonly kind: "wildcard";
  readonly of: "field" | "tag" | null;
}

/** `DISTINCT field` without parentheses. */
export interface Distinct {
  readonly kind: "distinct";
  readonly name: string;
}

export type Literal = NumberLiteral | IntegerLiteral | StringLiteral | BooleanLiteral | DurationLiteral | TimeLiteral | RegexLiteral;

export type Expression = VarRef | Call | Binary | Paren | Wildcard | Distinct | Literal;

// Sources ----------------------------------------------------------------------------------------------------------------------------

/** Null parts are taken from the request: its database and retention policy. */
export interface Measurement {
  readonly kind: "measurement";
  readonly database: string | null;
  readonly retentionPolicy: string | null;
  readonly name: string | RegexLiteral;
}

export interface Subquery {
  readonly kind: "subquery";
  readonly select: Select;
}

export type Source = Measurement | Subquery;

// SELECT -----------------------------------------------------------------------------------------------------------------------------

export interface SelectField {
  readonly expression: Expression;
  readonly alias: string | null;
}

/** `time(d, offset)` is a call, `*` a wildcard; a reference or a regular expression selects tags. The grammar accepts any other
 *  expression, too: rejecting it is an error of the statement, not of the syntax. */
export type Dimension = Expression;

export type Fill = { readonly kind: "null" | "none" | "previous" | "linear" } | { readonly kind: "value"; readonly value: number | bigint };

export interface Select {
  readonly kind: "select";
  readonly fields: readonly SelectField[];
  readonly into: Measurement | null;
  readonly sources: readonly Source[];
  readonly where: Expression | null;
  readonly dimensions: readonly Dimension[];
  /** Null: the clause is absent, which means null for windows. */
  readonly fill: Fill | null;
  /** ORDER BY time DESC. */
  readonly descending: boolean;
  /** 0 = none. */
  readonly limit: number;
  /** `LIMIT 0`: no limit in 1.x, nothing in v3. */
  readonly hasLimitZero: boolean;
  readonly offset: number;
  readonly slimit: number;
  readonly soffset: number;
  readonly timeZone: string | null;
}

// Statements -------------------------------------------------------------------------------------------------------------------------

export interface Explain {
  readonly kind: "explain";
  readonly analyze: boolean;
  readonly verbose: boolean;
  readonly select: Select;
}

export interface SortField {
  readonly name: string;
  readonly descending: boolean;
}

/** Common clauses of SHOW statements about stored data. */
export interface ShowScope {
  readonly database: string | null;
  readonly sources: readonly Measurement[];
  readonly where: Expression | null;
  readonly sort: readonly SortField[];
  readonly limit: number;
  readonly hasLimitZero: boolean;
  readonly offset: number;
  readonly slimit: number;
  readonly soffset: number;
}

/** WITH KEY of SHOW TAG VALUES. */
export interface TagKeyCondition {
  readonly operator: "=" | "!=" | "=~" | "!~" | "IN";
  readonly keys: readonly string[];
  readonly regex: RegexLiteral | null;
}

/** WITH MEASUREMENT. */
export interface MeasurementCondition {
  readonly operator: "=" | "=~";
  readonly source: Measurement;
}

/** Databases and their retention policies; null = all. A policy that is not named is the default one. */
export interface MeasurementPlaces {
  readonly database: string | null;
  readonly policy?: string | null;
}

export type Show =
  | { readonly kind: "show databases" }
  | { readonly kind: "show retention policies"; readonly database: string | null }
  | ({
      readonly kind: "show measurements";
      readonly measurement: MeasurementCondition | null;
      /** Of ON with a wildcard or a policy, which only port 8086 takes; null: `database`. */
      readonly places: MeasurementPlaces | null;
    } & ShowScope)
  | ({ readonly kind: "show series" | "show tag keys" | "show field keys" } & ShowScope)
  | ({ readonly kind: "show tag values"; readonly with: TagKeyCondition } & ShowScope)
  | ({
      readonly kind: "show series cardinality" | "show measurement cardinality" | "show tag key cardinality" | "show field key cardinality";
      readonly exact: boolean;
      readonly dimensions: readonly Dimension[];
    } & ShowScope)
  | ({
      readonly kind: "show tag values cardinality";
      readonly exact: boolean;
      readonly with: TagKeyCondition;
      readonly dimensions: readonly Dimension[];
    } & ShowScope)
  | {
      readonly kind: "show shards" | "show shard groups" | "show queries" | "show subscriptions" | "show continuous queries" | "show users";
    }
  | { readonly kind: "show stats" | "show diagnostics"; readonly module: string | null }
  | { readonly kind: "show grants"; readonly user: string };

/** Of CREATE DATABASE … WITH and of retention policies. A duration of 0 means forever; null: not given. */
export interface RetentionClause {
  readonly name: string | null;
  readonly durationNs: bigint | null;
  readonly replication: number | null;
  readonly shardDurationNs: bigint | null;
  readonly isDefault: boolean;
}

export type Definition =
  | { readonly kind: "create database"; readonly name: string; readonly retention: RetentionClause | null }
  | { readonly kind: "drop database"; readonly name: string }
  | ({ readonly kind: "create retention policy" | "alter retention policy"; readonly name: string; readonly database: string } & {
      readonly retention: RetentionClause;
    })
  | { readonly kind: "drop retention policy"; readonly name: string; readonly database: string }
  | { readonly kind: "drop measurement"; readonly name: string }
  | { readonly kind: "drop series" | "delete"; readonly sources: readonly Measurement[]; readonly where: Expression | null }
  | { readonly kind: "drop shard"; readonly id: bigint }
  | { readonly kind: "kill query"; readonly id: bigint; readonly host: string | null };

/** Parsed, but rejected with an error that suggests an alternative: users, grants, continuous queries, subscriptions. */
export interface Refused {
  readonly kind: "refused";
  /** Its name in the error: `CREATE USER`. */
  readonly what: string;
}

export type Statement = Select | Explain | Show | Definition | Refused;

/** A statement with its source text. */
export interface PlacedStatement {
  readonly statement: Statement;
  readonly text: string;
}
