// The syntax tree, named as the JSON of `/api/v2/query/ast` names it, so that printing it and taking it from a request are one-to-one.

export interface Position {
  /** From 1. */
  readonly line: number;
  /** Bytes of UTF-8 from the start of the line, from 1. */
  readonly column: number;
}

/** Where a node stands; `from` and `to` are UTF-16 offsets into the text, end exclusive. Nodes of a request's JSON have no offsets. */
export interface SourceLocation {
  readonly start: Position;
  readonly end: Position;
  readonly from: number;
  readonly to: number;
}

export const NOWHERE: SourceLocation = { start: { line: 0, column: 0 }, end: { line: 0, column: 0 }, from: 0, to: 0 };

interface Base {
  readonly location: SourceLocation;
  /** Errors that the parser found here. */
  readonly errors?: readonly string[];
  /** Comments before the node's first token, each with its line end. */
  readonly comments?: readonly string[];
}

export interface Identifier extends Base {
  readonly type: "Identifier";
  readonly name: string;
}
export interface BooleanLiteral extends Base {
  readonly type: "BooleanLiteral";
  readonly value: boolean;
}
export interface IntegerLiteral extends Base {
  readonly type: "IntegerLiteral";
  readonly value: bigint;
}
export interface UnsignedIntegerLiteral extends Base {
  readonly type: "UnsignedIntegerLiteral";
  readonly value: bigint;
}
export interface FloatLiteral extends Base {
  readonly type: "FloatLiteral";
  readonly value: number;
}
export interface StringLiteral extends Base {
  readonly type: "StringLiteral";
  readonly value: string;
}
export interface RegexpLiteral extends Base {
  readonly type: "RegexpLiteral";
  readonly value: string;
}
export interface DateTimeLiteral extends Base {
  readonly type: "DateTimeLiteral";
  /** RFC 3339 with an offset. */
  readonly value: string;
}
export interface DurationPart {
  readonly magnitude: bigint;
  readonly unit: string;
}
export interface DurationLiteral extends Base {
  readonly type: "DurationLiteral";
  readonly values: readonly DurationPart[];
}
export interface LabelLiteral extends Base {
  readonly type: "LabelLiteral";
  readonly value: string;
}
export interface PipeLiteral extends Base {
  readonly type: "PipeLiteral";
}
export interface TextPart extends Base {
  readonly type: "TextPart";
  readonly value: string;
}
export interface InterpolatedPart extends Base {
  readonly type: "InterpolatedPart";
  readonly expression: Expression;
}
export interface StringExpression extends Base {
  readonly type: "StringExpression";
  readonly parts: readonly (TextPart | InterpolatedPart)[];
}
export interface ParenExpression extends Base {
  readonly type: "ParenExpression";
  readonly expression: Expression;
}
export interface ArrayExpression extends Base {
  readonly type: "ArrayExpression";
  readonly elements: readonly Expression[];
}
export interface DictItem {
  readonly type: "DictItem";
  readonly key: Expression;
  readonly val: Expression;
}
export interface DictExpression extends Base {
  readonly type: "DictExpression";
  readonly elements: readonly DictItem[];
}
export interface Property extends Base {
  readonly type: "Property";
  readonly key: Identifier | StringLiteral;
  readonly value: Expression | null;
}
export interface ObjectExpression extends Base {
  readonly type: "ObjectExpression";
  readonly with?: Identifier;
  readonly properties: readonly Property[];
}
export interface MemberExpression extends Base {
  readonly type: "MemberExpression";
  readonly object: Expression;
  readonly property: Identifier | StringLiteral;
}
export interface IndexExpression extends Base {
  readonly type: "IndexExpression";
  readonly array: Expression;
  readonly index: Expression;
}
export interface CallExpression extends Base {
  readonly type: "CallExpression";
  readonly callee: Expression;
  /** None, or one record. */
  readonly arguments: readonly ObjectExpression[];
}
export interface PipeExpression extends Base {
  readonly type: "PipeExpression";
  readonly argument: Expression;
  readonly call: CallExpression;
}
export interface UnaryExpression extends Base {
  readonly type: "UnaryExpression";
  readonly operator: string;
  readonly argument: Expression;
}
export interface BinaryExpression extends Base {
  readonly type: "BinaryExpression";
  readonly operator: string;
  readonly left: Expression;
  readonly right: Expression;
}
export interface LogicalExpression extends Base {
  readonly type: "LogicalExpression";
  readonly operator: "and" | "or";
  readonly left: Expression;
  readonly right: Expression;
}
export interface ConditionalExpression extends Base {
  readonly type: "ConditionalExpression";
  readonly test: Expression;
  readonly consequent: Expression;
  readonly alternate: Expression;
}
export interface FunctionExpression extends Base {
  readonly type: "FunctionExpression";
  readonly params: readonly Property[];
  readonly body: Expression | Block;
}
export interface BadExpression extends Base {
  readonly type: "BadExpression";
  /** Empty for a place that an error of the parent explains. */
  readonly text: string;
}

export type Expression =
  | Identifier
  | BooleanLiteral
  | IntegerLiteral
  | UnsignedIntegerLiteral
  | FloatLiteral
  | StringLiteral
  | RegexpLiteral
  | DateTimeLiteral
  | DurationLiteral
  | LabelLiteral
  | PipeLiteral
  | StringExpression
  | ParenExpression
  | ArrayExpression
  | DictExpression
  | ObjectExpression
  | MemberExpression
  | IndexExpression
  | CallExpression
  | PipeExpression
  | UnaryExpression
  | BinaryExpression
  | LogicalExpression
  | ConditionalExpression
  | FunctionExpression
  | BadExpression;

export interface Attribute extends Base {
  readonly type: "Attribute";
  readonly name: string;
  readonly params: readonly Expression[];
}
interface StatementBase extends Base {
  readonly attributes?: readonly Attribute[];
}
export interface VariableAssignment extends StatementBase {
  readonly type: "VariableAssignment";
  readonly id: Identifier;
  readonly init: Expression;
}
export interface MemberAssignment extends StatementBase {
  readonly type: "MemberAssignment";
  readonly member: MemberExpression;
  readonly init: Expression;
}
export interface OptionStatement extends StatementBase {
  readonly type: "OptionStatement";
  readonly assignment: VariableAssignment | MemberAssignment;
}
export interface ExpressionStatement extends StatementBase {
  readonly type: "ExpressionStatement";
  readonly expression: Expression;
}
export interface ReturnStatement extends StatementBase {
  readonly type: "ReturnStatement";
  readonly argument: Expression;
}
export interface BuiltinStatement extends StatementBase {
  readonly type: "BuiltinStatement";
  readonly id: Identifier;
  readonly ty: TypeExpression;
}
export interface TestCaseStatement extends StatementBase {
  readonly type: "TestCaseStatement";
  readonly id: Identifier;
  readonly extends?: StringLiteral;
  readonly block: Block;
}
export interface BadStatement extends StatementBase {
  readonly type: "BadStatement";
  readonly text: string;
}
export type Statement =
  | VariableAssignment
  | OptionStatement
  | ExpressionStatement
  | ReturnStatement
  | BuiltinStatement
  | TestCaseStatement
  | BadStatement;

export interface Block extends Base {
  readonly type: "Block";
  readonly body: readonly Statement[];
}
export interface PackageClause extends StatementBase {
  readonly type: "PackageClause";
  readonly name: Identifier;
}
export interface ImportDeclaration extends StatementBase {
  readonly type: "ImportDeclaration";
  readonly as: Identifier | null;
  readonly path: StringLiteral;
}
export interface File {
  readonly type: "File";
  /** None when the text is empty. */
  readonly location?: SourceLocation;
  readonly package: PackageClause | null;
  readonly imports: readonly ImportDeclaration[];
  readonly body: readonly Statement[];
  /** Comments behind the last statement. */
  readonly eof: readonly string[];
}

export interface NamedType extends Base {
  readonly type: "NamedType" | "TvarType";
  readonly name: Identifier;
}
export interface DynamicType extends Base {
  readonly type: "DynamicType";
}
export interface ElementType extends Base {
  readonly type: "ArrayType" | "StreamType" | "VectorType";
  readonly element: MonoType;
}
export interface DictType extends Base {
  readonly type: "DictType";
  readonly key: MonoType;
  readonly val: MonoType;
}
export interface PropertyType extends Base {
  readonly type: "PropertyType";
  readonly name: Identifier | StringLiteral;
  readonly monotype: MonoType;
}
export interface RecordType extends Base {
  readonly type: "RecordType";
  readonly tvar?: Identifier;
  readonly properties: readonly PropertyType[];
}
export interface ParameterType extends Base {
  readonly type: "Required" | "Optional" | "Pipe";
  readonly name: Identifier | null;
  readonly monotype: MonoType;
}
export interface FunctionType extends Base {
  readonly type: "FunctionType";
  readonly parameters: readonly ParameterType[];
  readonly monotype: MonoType;
}
export type MonoType = NamedType | DynamicType | ElementType | DictType | RecordType | FunctionType | LabelLiteral;

export interface TypeConstraint extends Base {
  readonly type: "TypeConstraint";
  readonly tvar: Identifier;
  readonly kinds: readonly Identifier[];
}
export interface TypeExpression extends Base {
  readonly type: "TypeExpression";
  readonly monotype: MonoType;
  readonly constraints: readonly TypeConstraint[];
}
