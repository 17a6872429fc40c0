// The tree of the v1-style language: what the parser makes and everything behind it reads. Nodes are plain and never changed; a later
// step that wants another tree makes one.

/** Where a token begins: `line` and `column` count from 0, as the language's errors do (they print both plus one). */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type FieldType = "float" | "integer" | "unsigned" | "string" | "boolean";

/** What may stand behind `::`. */
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

/** Parentheses are kept: a column's name and error texts print them. */
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
  /** -2^63 to 2^63 - 1, or of an unsigned one to 2^64 - 1. */
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

/** What a text literal beside `time` or a bind parameter became. */
export interface TimeLiteral {
  readonly kind: "time";
  readonly ns: bigint;
}

export interface RegexLiteral {
  readonly kind: "regex";
  /** Between the slashes, `\/` made `/`. Go's syntax. */
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

/** Null parts are what the request says: its database and its retention policy. */
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

/** `time(d, offset)` is a call, `*` a wildcard; a reference or a regular expression names tags. The grammar lets anything else pass, too:
 *  to refuse it is the statement's error, not the text's. */
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
  /** 0 = none; the statement `LIMIT 0` means no limit in this language. */
  readonly limit: number;
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

/** What the SHOW statements over stored data share. */
export interface ShowScope {
  readonly database: string | null;
  readonly sources: readonly Measurement[];
  readonly where: Expression | null;
  readonly sort: readonly SortField[];
  readonly limit: number;
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

export type Show =
  | { readonly kind: "show databases" }
  | { readonly kind: "show retention policies"; readonly database: string | null }
  | ({ readonly kind: "show measurements"; readonly measurement: MeasurementCondition | null } & ShowScope)
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

/** Of CREATE DATABASE … WITH and of retention policies. A duration of 0 is for ever; null: not said. */
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

/** Parsed, and answered by an error that says what to use instead: users, grants, continuous queries, subscriptions. */
export interface Refused {
  readonly kind: "refused";
  /** As the error names it: `CREATE USER`. */
  readonly what: string;
}

export type Statement = Select | Explain | Show | Definition | Refused;

/** A statement and the text that it was. */
export interface PlacedStatement {
  readonly statement: Statement;
  readonly text: string;
}
