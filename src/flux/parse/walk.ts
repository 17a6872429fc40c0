// Nodes of a tree from the top, in the order of the text.
import type {
  Block,
  DictItem,
  Expression,
  ImportDeclaration,
  InterpolatedPart,
  MemberAssignment,
  MonoType,
  PackageClause,
  ParameterType,
  Property,
  PropertyType,
  SourceLocation,
  Statement,
  TypeConstraint,
  TypeExpression,
} from "./ast.ts";

export interface AnyNode {
  readonly type: string;
  readonly location: SourceLocation;
  readonly errors?: readonly string[];
}

type Visit = (child: AnyNode) => void;
type TypeNode = MonoType | TypeExpression | TypeConstraint | PropertyType | ParameterType;
type Node = Expression | Statement | Block | Property | InterpolatedPart | MemberAssignment | PackageClause | ImportDeclaration | TypeNode;
type Children = { readonly [T in Node["type"]]?: (node: Extract<Node, { readonly type: T }>, visit: Visit) => void };

const all = (nodes: readonly AnyNode[], visit: Visit): void => {
  for (const each of nodes) visit(each);
};
const optional = (node: AnyNode | null | undefined, visit: Visit): void => {
  if (node != null) visit(node);
};
/** An item of a dictionary is no node of its own. */
const items = (pairs: readonly DictItem[], visit: Visit): void => {
  for (const { key, val } of pairs) {
    visit(key);
    visit(val);
  }
};
const parameter = ({ name, monotype }: ParameterType, visit: Visit): void => {
  optional(name, visit);
  visit(monotype);
};
const element = (node: { readonly element: AnyNode }, visit: Visit): void => visit(node.element);
const operands = ({ left, right }: { readonly left: AnyNode; readonly right: AnyNode }, visit: Visit): void => {
  visit(left);
  visit(right);
};

/** The nodes within each kind of node, a function for each: its members are where they are in all nodes of the kind. Names of types and
 *  members of attributes are not visited. */
const CHILDREN: Children = {
  InterpolatedPart: ({ expression }, visit) => visit(expression),
  StringExpression: ({ parts }, visit) => all(parts, visit),
  ParenExpression: ({ expression }, visit) => visit(expression),
  ArrayExpression: ({ elements }, visit) => all(elements, visit),
  DictExpression: ({ elements }, visit) => items(elements, visit),
  Property: ({ key, value }, visit) => {
    visit(key);
    optional(value, visit);
  },
  ObjectExpression: (node, visit) => {
    optional(node.with, visit);
    all(node.properties, visit);
  },
  MemberExpression: ({ object, property }, visit) => {
    visit(object);
    visit(property);
  },
  IndexExpression: ({ array, index }, visit) => {
    visit(array);
    visit(index);
  },
  CallExpression: (node, visit) => {
    visit(node.callee);
    all(node.arguments, visit);
  },
  PipeExpression: ({ argument, call }, visit) => {
    visit(argument);
    visit(call);
  },
  UnaryExpression: ({ argument }, visit) => visit(argument),
  BinaryExpression: operands,
  LogicalExpression: operands,
  ConditionalExpression: ({ test, consequent, alternate }, visit) => {
    visit(test);
    visit(consequent);
    visit(alternate);
  },
  FunctionExpression: ({ params, body }, visit) => {
    all(params, visit);
    visit(body);
  },
  VariableAssignment: ({ id, init }, visit) => {
    visit(id);
    visit(init);
  },
  MemberAssignment: ({ member, init }, visit) => {
    visit(member);
    visit(init);
  },
  OptionStatement: ({ assignment }, visit) => visit(assignment),
  ExpressionStatement: ({ expression }, visit) => visit(expression),
  ReturnStatement: ({ argument }, visit) => visit(argument),
  BuiltinStatement: ({ id, ty }, visit) => {
    visit(id);
    visit(ty);
  },
  TestCaseStatement: (node, visit) => {
    visit(node.id);
    optional(node.extends, visit);
    visit(node.block);
  },
  Block: ({ body }, visit) => all(body, visit),
  PackageClause: ({ name }, visit) => visit(name),
  ImportDeclaration: (node, visit) => {
    optional(node.as, visit);
    visit(node.path);
  },
  ArrayType: element,
  StreamType: element,
  VectorType: element,
  DictType: ({ key, val }, visit) => {
    visit(key);
    visit(val);
  },
  PropertyType: ({ name, monotype }, visit) => {
    visit(name);
    visit(monotype);
  },
  RecordType: ({ tvar, properties }, visit) => {
    optional(tvar, visit);
    all(properties, visit);
  },
  Required: parameter,
  Optional: parameter,
  Pipe: parameter,
  FunctionType: ({ parameters, monotype }, visit) => {
    all(parameters, visit);
    visit(monotype);
  },
  TypeConstraint: ({ tvar, kinds }, visit) => {
    visit(tvar);
    all(kinds, visit);
  },
  TypeExpression: ({ monotype, constraints }, visit) => {
    visit(monotype);
    all(constraints, visit);
  },
};

/** By the names of kinds; what is not there has no nodes in it, as most have none. */
const BY_TYPE: ReadonlyMap<string, (node: AnyNode, visit: Visit) => void> = new Map(
  Object.entries(CHILDREN) as unknown as [string, (node: AnyNode, visit: Visit) => void][],
);

/** Calls `visit` with each node before its children, which are left out when it gives false. */
export function walk(node: AnyNode, visit: (node: AnyNode, depth: number) => boolean, depth = 1): void {
  if (!visit(node, depth)) return;
  BY_TYPE.get(node.type)?.(node, (child) => walk(child, visit, depth + 1));
}

/** Calls `visit` with each child of a node. */
export function eachChild(node: AnyNode, visit: (child: AnyNode) => void): void {
  BY_TYPE.get(node.type)?.(node, visit);
}

/** The children of a node, in source order. */
export function childrenOf(node: AnyNode): AnyNode[] {
  const children: AnyNode[] = [];
  eachChild(node, (child) => children.push(child));
  return children;
}
