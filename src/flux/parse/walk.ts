// Nodes of a tree from the top, in the order of the text.
import type { MemberExpression, SourceLocation } from "./ast.ts";

export interface AnyNode {
  readonly type: string;
  readonly location: SourceLocation;
  readonly errors?: readonly string[];
}

/** Members of each kind of node that hold nodes or lists of them. Names of types and members of attributes are not visited. */
const CHILDREN: Readonly<Record<string, readonly string[]>> = {
  InterpolatedPart: ["expression"],
  StringExpression: ["parts"],
  ParenExpression: ["expression"],
  ArrayExpression: ["elements"],
  DictExpression: ["elements"],
  DictItem: ["key", "val"],
  Property: ["key", "value"],
  ObjectExpression: ["with", "properties"],
  MemberExpression: ["object", "property"],
  IndexExpression: ["array", "index"],
  CallExpression: ["callee", "arguments"],
  PipeExpression: ["argument", "call"],
  UnaryExpression: ["argument"],
  BinaryExpression: ["left", "right"],
  LogicalExpression: ["left", "right"],
  ConditionalExpression: ["test", "consequent", "alternate"],
  FunctionExpression: ["params", "body"],
  VariableAssignment: ["id", "init"],
  MemberAssignment: ["member", "init"],
  OptionStatement: ["assignment"],
  ExpressionStatement: ["expression"],
  ReturnStatement: ["argument"],
  BuiltinStatement: ["id", "ty"],
  TestCaseStatement: ["id", "extends", "block"],
  Block: ["body"],
  PackageClause: ["name"],
  ImportDeclaration: ["as", "path"],
  ArrayType: ["element"],
  StreamType: ["element"],
  VectorType: ["element"],
  DictType: ["key", "val"],
  PropertyType: ["name", "monotype"],
  RecordType: ["tvar", "properties"],
  Required: ["name", "monotype"],
  Optional: ["name", "monotype"],
  Pipe: ["name", "monotype"],
  FunctionType: ["parameters", "monotype"],
  TypeConstraint: ["tvar", "kinds"],
  TypeExpression: ["monotype", "constraints"],
};

/** Kinds of nodes without nodes in them, which are most. */
const LEAVES: ReadonlySet<string> = new Set([
  ...["Identifier", "StringLiteral", "IntegerLiteral", "FloatLiteral", "BooleanLiteral", "DurationLiteral", "DateTimeLiteral"],
  ...["RegexpLiteral", "UnsignedIntegerLiteral", "PipeLiteral", "LabelLiteral", "TextPart", "BadExpression", "BadStatement"],
]);

/** Calls `visit` with each node before its children, which are left out when it gives false. */
export function walk(node: AnyNode, visit: (node: AnyNode, depth: number) => boolean, depth = 1): void {
  if (!visit(node, depth) || LEAVES.has(node.type)) return;
  if (node.type === "MemberExpression") walkMember(node as MemberExpression, visit, depth + 1);
  else eachChild(node, (child) => walk(child, visit, depth + 1));
}

/** Rows are read by these, so there are many. */
function walkMember({ object, property }: MemberExpression, visit: (node: AnyNode, depth: number) => boolean, depth: number): void {
  walk(object, visit, depth);
  walk(property, visit, depth);
}

/** Calls `visit` with each child of a node. */
export function eachChild(node: AnyNode, visit: (child: AnyNode) => void): void {
  const names = CHILDREN[node.type];
  if (names === undefined) return;
  for (const name of names) {
    const value = (node as unknown as Readonly<Record<string, unknown>>)[name];
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) for (const item of value) visitItem(item as AnyNode, visit);
    else visit(value as AnyNode);
  }
}

/** An item of a dictionary is no node of its own. */
function visitItem(item: AnyNode, visit: (child: AnyNode) => void): void {
  if (item.type === "DictItem") eachChild(item, visit);
  else visit(item);
}

/** The children of a node, in source order. */
export function childrenOf(node: AnyNode): AnyNode[] {
  const children: AnyNode[] = [];
  eachChild(node, (child) => children.push(child));
  return children;
}
