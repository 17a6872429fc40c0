// Types of `builtin` statements as text.
import type { MonoType, TypeExpression } from "../parse/ast.ts";
import { labelText } from "./literal-text.ts";

/** A type expression as source text. */
export function typeText({ monotype, constraints }: TypeExpression): string {
  const limits = constraints.map(({ tvar, kinds }) => `${tvar.name}: ${kinds.map(({ name }) => name).join(" + ")}`);
  return limits.length === 0 ? monoText(monotype) : `${monoText(monotype)} where ${limits.join(", ")}`;
}

function monoText(type: MonoType): string {
  switch (type.type) {
    case "NamedType":
    case "TvarType":
      return type.name.name;
    case "DynamicType":
      return "dynamic";
    case "ArrayType":
      return `[${monoText(type.element)}]`;
    case "StreamType":
      return `stream[${monoText(type.element)}]`;
    case "VectorType":
      return `vector[${monoText(type.element)}]`;
    case "DictType":
      return `[${monoText(type.key)}:${monoText(type.val)}]`;
    case "LabelLiteral":
      return `.${type.value}`;
    case "RecordType": {
      const fields = type.properties.map(({ name, monotype }) => `${labelText(name)}: ${monoText(monotype)}`).join(", ");
      return type.tvar === undefined ? `{${fields}}` : `{${type.tvar.name} with ${fields}}`;
    }
    case "FunctionType": {
      const marks = { Required: "", Optional: "?", Pipe: "<-" } as const;
      const parameters = type.parameters.map((each) => `${marks[each.type]}${each.name?.name ?? ""}: ${monoText(each.monotype)}`);
      return `(${parameters.join(", ")}) => ${monoText(type.monotype)}`;
    }
  }
}
