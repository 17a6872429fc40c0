// Types as `builtin` statements write them → type schemes.
import type { MonoType, RecordType as RecordNode, SourceLocation, TypeExpression } from "../parse/ast.ts";
import {
  addKind,
  BASIC_NAMES,
  type BasicName,
  DYNAMIC,
  EMPTY,
  ERROR,
  GENERIC,
  KINDS,
  type Kind,
  sortedByName,
  type Type,
  type TypeScheme,
  type TypeVariable,
  variable,
} from "./type.ts";

export type Complaint = (location: SourceLocation, message: string) => void;

/** The type scheme that a `builtin` statement declares. Invalid parts are reported to `complain`. */
export function declaredScheme(node: TypeExpression, complain: Complaint): TypeScheme {
  const declared = new DeclaredType(complain);
  const type = declared.typeOf(node.monotype);
  for (const { tvar, kinds } of node.constraints) {
    for (const { name, location } of kinds) {
      if ((KINDS as readonly string[]).includes(name)) addKind(declared.variableOf(tvar.name), name as Kind);
      else complain(location, `invalid constraint ${name}`);
    }
  }
  return { type };
}

class DeclaredType {
  private readonly variables = new Map<string, TypeVariable>();

  constructor(private readonly complain: Complaint) {}

  variableOf(name: string): TypeVariable {
    let found = this.variables.get(name);
    if (found === undefined) {
      found = variable(GENERIC);
      this.variables.set(name, found);
    }
    return found;
  }

  typeOf(node: MonoType): Type {
    switch (node.type) {
      case "TvarType":
        return this.variableOf(node.name.name);
      case "NamedType":
        if ((BASIC_NAMES as readonly string[]).includes(node.name.name)) return { kind: "basic", name: node.name.name as BasicName };
        this.complain(node.location, `invalid named type ${node.name.name}`);
        return ERROR;
      case "DynamicType":
        return DYNAMIC;
      case "ArrayType":
        return { kind: "array", element: this.typeOf(node.element) };
      case "StreamType":
        return { kind: "stream", element: this.typeOf(node.element) };
      case "VectorType":
        return { kind: "vector", element: this.typeOf(node.element) };
      case "DictType":
        return { kind: "dictionary", key: this.typeOf(node.key), value: this.typeOf(node.val) };
      case "RecordType":
        return this.recordOf(node);
      case "FunctionType":
        return this.functionOf(node);
      case "LabelLiteral":
        return ERROR;
    }
  }

  private recordOf({ tvar, properties }: RecordNode): Type {
    let record: Type = tvar === undefined ? EMPTY : this.variableOf(tvar.name);
    // as recorded: the last label is the outermost one
    for (const { name, monotype } of properties) {
      const label = name.type === "Identifier" ? name.name : name.value;
      record = { kind: "field", label, type: this.typeOf(monotype), rest: record };
    }
    return record;
  }

  private functionOf({ parameters, monotype }: MonoType & { type: "FunctionType" }): Type {
    const required: [string, Type][] = [];
    const optional: [string, Type][] = [];
    let pipe: { name: string; type: Type } | null = null;
    for (const each of parameters) {
      const { type: kind, name, monotype: node } = each;
      const type = this.typeOf(node);
      if (kind === "Required") required.push([name!.name, type]);
      else if (kind === "Optional") optional.push([name!.name, type]);
      else if (pipe !== null) this.complain(each.location, "function types can have at most one pipe parameter");
      else pipe = { name: name?.name ?? "<-", type };
    }
    return { kind: "function", required: sortedByName(required), optional: sortedByName(optional), pipe, result: this.typeOf(monotype) };
  }
}
