// Hindley-Milner inference with row polymorphism and kinds. Bindings are generalized by levels: a variable that is made while a binding is
// inferred, and has not come to an outer one since, becomes a parameter of the binding's type.
import type {
  BinaryExpression,
  Block,
  CallExpression,
  Expression,
  File,
  FunctionExpression,
  ImportDeclaration,
  MemberExpression,
  ObjectExpression,
  Property,
  Statement,
} from "../parse/ast.ts";
import { declaredScheme } from "./declared-type.ts";
import { keepFunctionType } from "./function-types.ts";
import { InferenceState, type Scope, type TypeContext } from "./inference-state.ts";
import { generalize, instantiate, lowerTo } from "./scheme.ts";
import { bindingProblem, type Problem, placeOf, structureOf, withoutParens } from "./structure.ts";
import {
  BOOL,
  DURATION,
  DYNAMIC,
  EMPTY,
  ERROR,
  FLOAT,
  type FunctionType,
  INT,
  type Kind,
  PIPED,
  REGEXP,
  resolve,
  STRING,
  sortedByName,
  TIME,
  type Type,
  type TypeScheme,
  UINT,
  variable,
} from "./type.ts";
import { typeErrorText } from "./type-errors.ts";
import { type Report, unify, unifyCall } from "./unify.ts";

export interface Inferred {
  readonly problems: readonly Problem[];
  /** Names that the files bind. */
  readonly bindings: ReadonlyMap<string, TypeScheme>;
}

/** @param files of one package: they share their names */
export function inferTypes(files: readonly File[], context: TypeContext): Inferred {
  const textLength = files.reduce((sum, { location }) => sum + (location?.to ?? 0), 0);
  return new Inference(context, textLength).run(files);
}

const ARITHMETIC: Readonly<Record<string, Kind>> = {
  "+": "Addable",
  "-": "Subtractable",
  "*": "Divisible",
  "/": "Divisible",
  "%": "Divisible",
  "^": "Divisible",
};
const COMPARISON: Readonly<Record<string, readonly Kind[]>> = {
  "==": ["Equatable"],
  "!=": ["Equatable"],
  "<": ["Comparable"],
  ">": ["Comparable"],
  "<=": ["Equatable", "Comparable"],
  ">=": ["Equatable", "Comparable"],
};

const NO_PROPERTIES: readonly Property[] = [];

class Inference extends InferenceState {
  private readonly declared = new Map<Statement, TypeScheme>();

  run(files: readonly File[]): Inferred {
    const structure = structureOf(files);
    const binding = bindingProblem(files, structure);
    // what is wrong with declared types is known before names are bound
    const declared = this.declareBuiltins(files.flatMap(({ body }) => body));
    for (const file of files) {
      const imports: Scope = new Map();
      this.scopes.unshift(imports);
      for (const each of file.imports) this.importOf(each, imports);
      for (const statement of file.body) this.statement(statement);
      this.scopes.shift();
    }
    const inferred = this.errors.map(({ location, error }) => ({
      location,
      message: typeof error === "string" ? error : typeErrorText(error, this.work),
    }));
    const bindings = [...this.scopes[0]!].flatMap(([name, bound]) => ("scheme" in bound ? [[name, bound.scheme] as const] : []));
    const found = inferred.splice(0, declared);
    return {
      problems: [...structure.problems, ...found, ...(binding === null ? [] : [binding]), ...inferred],
      bindings: new Map(bindings),
    };
  }

  /** Reads the types of builtin statements. Returns the number of errors. */
  private declareBuiltins(statements: readonly Statement[]): number {
    for (const statement of statements) {
      if (statement.type === "TestCaseStatement") this.declareBuiltins(statement.block.body);
      if (statement.type !== "BuiltinStatement") continue;
      this.declared.set(
        statement,
        declaredScheme(statement.ty, (location, message) => this.fail(location, message)),
      );
    }
    return this.errors.length;
  }

  private importOf({ as, path, location }: ImportDeclaration, imports: Scope): void {
    const found = this.context.importPackage(path.value);
    if (found === null) this.fail(location, `invalid import path ${path.value}`);
    const name = as?.name ?? found?.name ?? path.value.slice(path.value.lastIndexOf("/") + 1);
    imports.set(name, found === null ? { scheme: { type: ERROR } } : { package: found });
  }

  private statement(statement: Statement): void {
    switch (statement.type) {
      case "VariableAssignment":
        this.bind(statement.id.name, statement.init);
        break;
      case "OptionStatement":
        this.option(statement.assignment);
        break;
      case "ExpressionStatement":
        this.infer(statement.expression);
        break;
      case "ReturnStatement":
        this.fail(statement.location, "return not valid in file block");
        break;
      case "BuiltinStatement":
        this.names.set(statement.id.name, { scheme: this.declared.get(statement)! });
        break;
      case "TestCaseStatement":
        this.inScope(() => {
          for (const each of statement.block.body) this.statement(each);
        });
        break;
      case "BadStatement":
        break;
    }
  }

  private option(assignment: (Statement & { type: "OptionStatement" })["assignment"]): void {
    if (assignment.type === "VariableAssignment") {
      this.bind(assignment.id.name, assignment.init);
      return;
    }
    const init = this.infer(assignment.init);
    const member = this.member(assignment.member);
    this.equal(member, init, assignment.init);
  }

  private bind(name: string, init: Expression): void {
    this.level++;
    const type = this.infer(init);
    this.level--;
    this.names.set(name, { scheme: generalize(type, this.level, this.work) });
  }

  private infer(given: Expression): Type {
    const expression = withoutParens(given);
    switch (expression.type) {
      case "Identifier":
        return this.identifier(expression);
      case "IntegerLiteral":
        return INT;
      case "UnsignedIntegerLiteral":
        return UINT;
      case "FloatLiteral":
        return FLOAT;
      case "BooleanLiteral":
        return BOOL;
      case "StringLiteral":
        return STRING;
      case "StringExpression":
        return this.interpolated(expression);
      case "DateTimeLiteral":
        return TIME;
      case "DurationLiteral":
        return DURATION;
      case "RegexpLiteral":
        return REGEXP;
      case "ArrayExpression":
        return this.array(expression.elements);
      case "DictExpression":
        return this.dictionary(expression);
      case "ObjectExpression":
        return this.record(expression);
      case "FunctionExpression":
        return this.function(expression);
      case "CallExpression":
        return this.call(expression, null);
      case "PipeExpression":
        return this.call(expression.call, expression.argument);
      case "MemberExpression":
        return this.member(expression);
      case "IndexExpression":
        return this.index(expression);
      case "UnaryExpression":
        return this.unary(expression);
      case "BinaryExpression":
        return this.binary(expression);
      case "LogicalExpression":
        return this.logical(expression);
      case "ConditionalExpression":
        return this.conditional(expression);
      default:
        return ERROR;
    }
  }

  private interpolated({ parts }: Expression & { type: "StringExpression" }): Type {
    for (const part of parts) {
      if (part.type === "InterpolatedPart") this.constrain(this.infer(part.expression), "Stringable", placeOf(part.expression));
    }
    return STRING;
  }

  private array(elements: readonly Expression[]): Type {
    let element: Type | null = null;
    for (const each of elements) {
      const type = this.infer(each);
      element = element === null ? type : this.equal(element, type, each);
    }
    return { kind: "array", element: element ?? variable(this.level) };
  }

  private dictionary({ elements, location }: Expression & { type: "DictExpression" }): Type {
    const key = variable(this.level);
    const value = variable(this.level);
    for (const { key: keyNode, val } of elements) {
      const keyType = this.infer(keyNode);
      const valueType = this.infer(val);
      this.equal(key, keyType, keyNode);
      this.equal(value, valueType, val);
    }
    this.constrain(key, "Comparable", location);
    return { kind: "dictionary", key, value };
  }

  private record({ with: source, properties }: ObjectExpression): Type {
    let record: Type = source === undefined ? EMPTY : this.identifier(source);
    // from the last to the first, and so the errors
    for (const { key, value } of properties.toReversed()) {
      record = { kind: "field", label: nameOf(key), type: this.propertyValue(key, value), rest: record };
    }
    return record;
  }

  /** A property without a value is the variable of its name. */
  private propertyValue(key: Property["key"], value: Expression | null): Type {
    if (value !== null) return this.infer(value);
    return key.type === "Identifier" ? this.identifier(key) : ERROR;
  }

  private function(node: FunctionExpression): Type {
    this.level++;
    const type = this.plainFunction(node);
    this.level--;
    if (node.params.some(({ value }) => value !== null && value.type !== "PipeLiteral")) this.defaults(node, type);
    lowerTo(type, this.level, this.work);
    keepFunctionType(node, type);
    return type;
  }

  private plainFunction({ params, body }: FunctionExpression): FunctionType {
    const required: [string, Type][] = [];
    const optional: [string, Type][] = [];
    let pipe: FunctionType["pipe"] = null;
    const result = this.inScope(() => {
      for (const { key, value } of params) {
        if (key.type !== "Identifier") continue;
        const type = variable(this.level);
        this.names.set(key.name, { scheme: { type, isPlain: true } });
        if (value === null) required.push([key.name, type]);
        else if (value.type === "PipeLiteral") pipe = { name: key.name, type };
        else optional.push([key.name, type]);
      }
      return body.type === "Block" ? this.block(body) : this.infer(body);
    });
    return { kind: "function", required: sortedByName(required), optional: sortedByName(optional), pipe, result };
  }

  private block({ body }: Block): Type {
    let result: Type = ERROR;
    for (const [i, statement] of body.entries()) {
      if (statement.type === "VariableAssignment") this.bind(statement.id.name, statement.init);
      else if (statement.type === "ExpressionStatement") this.infer(statement.expression);
      else if (statement.type === "ReturnStatement" && i === body.length - 1) result = this.infer(statement.argument);
    }
    return result;
  }

  /** Checks defaults against a copy of the function's type: a default does not narrow what callers may give. */
  private defaults({ params, location }: FunctionExpression, type: FunctionType): void {
    const { level } = this;
    const copy = instantiate({ type }, level, this.work, (found) => found.level > level);
    const optional: [string, Type][] = [];
    const required: [string, Type][] = [];
    let pipe: FunctionType["pipe"] = null;
    for (const { key, value } of params) {
      if (key.type !== "Identifier") continue;
      if (value === null) required.push([key.name, variable(level)]);
      else if (value.type === "PipeLiteral") pipe = { name: key.name, type: variable(level) };
      else optional.push([key.name, this.infer(value)]);
    }
    const actual: Type = {
      ...{ kind: "function", required: sortedByName(required), optional: sortedByName(optional) },
      ...{ pipe, result: variable(level) },
    };
    unify(copy, actual, this.reportAt(location), this.work);
  }

  private call({ callee, arguments: [record], location }: CallExpression, piped: Expression | null): Type {
    const result = variable(this.level);
    const calleeType = resolve(this.infer(callee));
    const properties = record?.properties ?? NO_PROPERTIES;
    const required = properties.map(({ key, value }) => [nameOf(key), this.propertyValue(key, value)] as const);
    const argument = (name: string): Report | null => {
      const found = properties.findLast(({ key }) => nameOf(key) === name);
      return found === undefined ? null : this.reportAt(placeOf(found.value ?? found.key));
    };
    const pipe = piped === null ? null : { name: PIPED, type: this.infer(piped) };
    const call: FunctionType = { kind: "function", required: sortedByName(required), optional: [], pipe, result };
    const target = resolve(calleeType);
    if (target.kind === "function") unifyCall(target, call, { call: this.reportAt(location), argument }, this.work);
    else unify(target, call, this.reportAt(location), this.work);
    return result;
  }

  private member({ object, property }: MemberExpression): Type {
    const label = nameOf(property);
    const inner = withoutParens(object);
    if (inner.type === "Identifier") {
      const bound = this.lookup(inner.name);
      const scheme = bound !== null && "package" in bound ? bound.package.members.get(label) : undefined;
      if (scheme !== undefined) return instantiate(scheme, this.level, this.work);
    }
    const record = resolve(this.infer(inner));
    if (record.kind === "dynamic") return DYNAMIC;
    const known = fieldOf(record, label);
    if (known !== null) return known;
    const type = variable(this.level);
    this.equal({ kind: "field", label, type, rest: variable(this.level) }, record, inner);
    return type;
  }

  private index({ array, index }: Expression & { type: "IndexExpression" }): Type {
    const arrayType = this.infer(array);
    this.equal(INT, this.infer(index), index);
    const resolved = resolve(arrayType);
    if (resolved.kind === "array") return resolved.element;
    const element = variable(this.level);
    this.equal({ kind: "array", element }, arrayType, array);
    return element;
  }

  private unary({ operator, argument }: Expression & { type: "UnaryExpression" }): Type {
    const type = this.infer(argument);
    if (operator === "exists") return BOOL;
    if (operator === "not") {
      this.equal(BOOL, type, argument);
      return BOOL;
    }
    this.constrain(type, "Negatable", placeOf(argument));
    return type;
  }

  private binary({ operator, left, right, location }: BinaryExpression): Type {
    const [leftType, rightType] = [this.infer(left), this.infer(right)];
    const kind = ARITHMETIC[operator];
    if (kind !== undefined) {
      const type = this.equal(leftType, rightType, right);
      this.constrain(leftType, kind, location);
      return type;
    }
    if (operator === "=~" || operator === "!~") {
      this.equal(STRING, leftType, left);
      this.equal(REGEXP, rightType, right);
      return BOOL;
    }
    const kinds = COMPARISON[operator];
    if (kinds === undefined) {
      this.fail(location, `invalid binary operator ${operator}`);
      return ERROR;
    }
    for (const each of kinds) this.constrain(leftType, each, placeOf(left));
    for (const each of kinds) this.constrain(rightType, each, placeOf(right));
    return BOOL;
  }

  private logical({ left, right }: Expression & { type: "LogicalExpression" }): Type {
    const [leftType, rightType] = [this.infer(left), this.infer(right)];
    this.equal(BOOL, leftType, left);
    this.equal(BOOL, rightType, right);
    return BOOL;
  }

  private conditional({ test, consequent, alternate }: Expression & { type: "ConditionalExpression" }): Type {
    this.equal(BOOL, this.infer(test), test);
    const first = this.infer(consequent);
    return this.equal(first, this.infer(alternate), alternate);
  }
}

function nameOf(key: Property["key"]): string {
  return key.type === "Identifier" ? key.name : key.value;
}

function fieldOf(record: Type, label: string): Type | null {
  for (let rest = record; rest.kind === "field"; rest = resolve(rest.rest)) if (rest.label === label) return rest.type;
  return null;
}
