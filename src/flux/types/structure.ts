// What the grammar allows and the language does not: functions without a result, options twice, a pipe without a parameter.
import type { Block, Expression, File, FunctionExpression, SourceLocation, Statement } from "../parse/ast.ts";
import { type AnyNode, childrenOf, eachChild, walk } from "../parse/walk.ts";

export interface Problem {
  readonly location: SourceLocation;
  readonly message: string;
}

const PIPE_PLACE = "a pipe literal may only be used as a default value for an argument in a function definition";
const STATEMENT_NAMES: Partial<Readonly<Record<Statement["type"], string>>> = {
  OptionStatement: "option",
  BuiltinStatement: "builtin",
  TestCaseStatement: "testcase",
};

/** What one pass over the files finds. */
export interface Structure {
  /** Of single functions and blocks, in the order in which the reference finds them. */
  readonly problems: Problem[];
  /** Whether there are names that functions and test cases bind, and labels: searches that most files can do without. */
  hasInnerNames: boolean;
  hasLabels: boolean;
}

/** Checks the structure of all files of a package. */
export function structureOf(files: readonly File[]): Structure {
  const structure: Structure = { problems: [], hasInnerNames: false, hasLabels: false };
  const { problems } = structure;
  const visit = (node: AnyNode): void => {
    switch (node.type) {
      case "Identifier":
        return;
      case "PipeLiteral":
        problems.push({ location: node.location, message: PIPE_PLACE });
        return;
      case "LabelLiteral":
        structure.hasLabels = true;
        return;
      case "Block":
        structure.hasInnerNames = true;
        break;
      case "FunctionExpression": {
        const { params, body } = node as FunctionExpression;
        visitParameters(params, problems, visit);
        if (body.type !== "Block") visit(body);
        else {
          structure.hasInnerNames = true;
          visitBlock(body, problems, visit);
        }
        return;
      }
    }
    eachChild(node, visit);
  };
  for (const { body } of files) for (const statement of body) visit(statement);
  return structure;
}

function visitParameters(params: FunctionExpression["params"], problems: Problem[], visit: (node: AnyNode) => void): void {
  let hasPipe = false;
  for (const { value } of params) {
    if (value?.type !== "PipeLiteral") {
      if (value !== null) visit(value);
      continue;
    }
    if (hasPipe) problems.push({ location: value.location, message: "function types can have at most one pipe parameter" });
    hasPipe = true;
  }
  for (const { key, location } of params) {
    if (key.type !== "Identifier") problems.push({ location, message: "function parameters must be identifiers" });
  }
}

function visitBlock({ body, location }: Block, problems: Problem[], visit: (node: AnyNode) => void): void {
  const kept: Statement[] = [];
  for (const statement of body) {
    const name = STATEMENT_NAMES[statement.type];
    if (name !== undefined) problems.push({ location: statement.location, message: `invalid ${name} statement in function block` });
    else {
      visit(statement);
      kept.push(statement);
    }
  }
  const last = kept.pop();
  if (last?.type !== "ReturnStatement") {
    const place =
      last === undefined ? location : last.type === "ExpressionStatement" ? withoutParens(last.expression).location : last.location;
    problems.push({ location: place, message: "missing return statement in block" });
  }
  for (const statement of kept.reverse()) {
    if (statement.type !== "ReturnStatement") continue;
    problems.push({ location: statement.location, message: "invalid return statement in function block" });
  }
}

/** The expression within parentheses. */
export function withoutParens(expression: Expression): Expression {
  let inner = expression;
  while (inner.type === "ParenExpression") inner = inner.expression;
  return inner;
}

/** Where errors say that the value of an expression is: of pipes the call that gives it. */
export function placeOf(expression: Expression): SourceLocation {
  const inner = withoutParens(expression);
  return inner.type === "PipeExpression" ? inner.call.location : inner.location;
}

/** The first name that is bound where it must not be, or null. */
export function bindingProblem(files: readonly File[], { hasInnerNames, hasLabels }: Structure): Problem | null {
  const options = new Map<string, Statement & { type: "OptionStatement" }>();
  for (const statement of files.flatMap(({ body }) => body)) {
    if (statement.type !== "OptionStatement") continue;
    const name = optionName(statement);
    if (options.has(name)) return { location: statement.location, message: `option "${name}" reassigned` };
    options.set(name, statement);
  }
  return variableProblem(files, options, hasInnerNames) ?? (hasLabels ? labelProblem(files) : null) ?? dependencyProblem(options);
}

function optionName({ assignment }: Statement & { type: "OptionStatement" }): string {
  if (assignment.type === "VariableAssignment") return assignment.id.name;
  const { object, property } = assignment.member;
  return `${object.type === "Identifier" ? object.name : ""}.${property.type === "Identifier" ? property.name : property.value}`;
}

function variableProblem(files: readonly File[], options: ReadonlyMap<string, unknown>, hasInnerNames: boolean): Problem | null {
  let problem: Problem | null = null;
  const visit = (node: AnyNode, scope: Set<string>, isTop: boolean): void => {
    if (problem !== null) return;
    if (node.type === "FunctionExpression" || node.type === "TestCaseStatement") {
      const own = new Set<string>();
      for (const { key } of (node as FunctionExpression).params ?? []) if (key.type === "Identifier") own.add(key.name);
      for (const child of childrenOf(node)) visit(child, own, false);
      return;
    }
    if (node.type === "VariableAssignment") {
      const { name } = (node as AnyNode & { id: { name: string } }).id;
      if (isTop && options.has(name)) {
        problem = { location: node.location, message: `variable "${name}" conflicts with option of same name` };
        return;
      }
      if (scope.has(name)) {
        problem = { location: node.location, message: `variable "${name}" reassigned` };
        return;
      }
      scope.add(name);
    }
    if (!hasInnerNames && node.type !== "OptionStatement") return;
    // what an option is assigned is no variable of the file
    if (node.type === "OptionStatement") for (const child of childrenOf(node).flatMap(childrenOf)) visit(child, scope, isTop);
    else if (node.type !== "Identifier") eachChild(node, (child) => visit(child, scope, isTop));
  };
  for (const { body } of files) {
    const scope = new Set<string>();
    for (const statement of body) visit(statement, scope, true);
  }
  return problem;
}

function labelProblem(files: readonly File[]): Problem | null {
  let problem: Problem | null = null;
  for (const statement of files.flatMap(({ body }) => body)) {
    if (statement.type === "BuiltinStatement") continue;
    walk(statement, ({ type, location }) => {
      if (type === "LabelLiteral")
        problem = { location, message: "Labels are currently experimental. (See the labelPolymorphism feature)" };
      return true;
    });
  }
  return problem;
}

/** An option may use variables, but no other option of the file. Its own name is not known yet, which is another error. */
function dependencyProblem(options: ReadonlyMap<string, Statement & { type: "OptionStatement" }>): Problem | null {
  for (const [name, { assignment }] of options) {
    if (assignment.type === "MemberAssignment") continue;
    const found = optionUse(assignment.init, options, new Set([name]));
    if (found === null) continue;
    const message = `option "${name}" depends on option "${found.name}", which is defined in the same package`;
    return { location: found.location, message };
  }
  return null;
}

function optionUse(
  node: AnyNode,
  options: ReadonlyMap<string, unknown>,
  hidden: ReadonlySet<string>,
): { readonly name: string; readonly location: SourceLocation } | null {
  const { name } = node as AnyNode & { name?: string };
  if (node.type === "Identifier" && name !== undefined && options.has(name) && !hidden.has(name)) return { name, location: node.location };
  let inner = hidden;
  if (node.type === "FunctionExpression") {
    const { params, body } = node as FunctionExpression;
    const assigned = body.type === "Block" ? body.body.flatMap((each) => (each.type === "VariableAssignment" ? [each.id.name] : [])) : [];
    inner = new Set([...hidden, ...params.flatMap(({ key }) => (key.type === "Identifier" ? [key.name] : [])), ...assigned]);
  }
  for (const child of usesOf(node)) {
    const found = optionUse(child, options, inner);
    if (found !== null) return found;
  }
  return null;
}

/** Children that are expressions: names of properties, parameters and variables use nothing. */
function* usesOf(node: AnyNode): Generator<AnyNode> {
  const { key, id, property, value } = node as AnyNode & Partial<Record<"key" | "id" | "property" | "value", AnyNode | null>>;
  for (const child of childrenOf(node)) {
    if (child === id || child === property) continue;
    if (child !== key) yield child;
    else if (node.type === "Property" && value === null) yield child;
  }
}
