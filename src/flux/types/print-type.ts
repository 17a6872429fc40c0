// Types as error messages show them. Variables are named A, B, … in the order in which they appear.
import { BREAK, type Document, group, indented, LAST_COMMA, LINE, laidOut, SOFT_LINE, separated } from "../format/document.ts";
import { type FunctionType, resolve, type Type } from "./type.ts";
import { sortedFields, VariableNames } from "./type-names.ts";
import type { TypeWork } from "./type-work.ts";

const WIDTH = 120;
/** More properties or parameters than these stand on lines of their own. */
const ON_LINE_MAX = 4;

/** Prints types with the same names for the same variables. */
export class TypePrinter {
  private readonly names = new VariableNames();

  constructor(private readonly work: TypeWork) {}

  print(type: Type): string {
    return laidOut(this.document(type), WIDTH);
  }

  private document(given: Type): Document {
    this.work.visit();
    const type = resolve(given);
    switch (type.kind) {
      case "variable":
        return this.names.of(type);
      case "basic":
        return type.name;
      case "array":
        return group("[", this.document(type.element), "]");
      case "stream":
        return group("stream[", this.document(type.element), "]");
      case "vector":
        return group("v[", this.document(type.element), "]");
      case "dictionary":
        return group("[", this.document(type.key), ":", this.document(type.value), "]");
      case "dynamic":
        return "dynamic";
      case "empty":
      case "field":
        return this.record(type);
      case "function":
        return this.function(type);
      case "error":
        return "<error>";
    }
  }

  /** Labels from the last to the first, and of equal ones too; variables are named the other way round. */
  private record(type: Type): Document {
    const { fields, rest } = sortedFields(type);
    const head = rest.kind === "variable" ? [group(this.names.of(rest), LINE, "with"), LINE] : [];
    const properties = fields.map(({ label, type: each }) => group(`${label}: `, this.document(each)));
    return group("{", ...listed(head, properties.reverse()), "}");
  }

  private function({ required, optional, pipe, result }: FunctionType): Document {
    // variables are named in this order, which is not that in which they are shown
    const ofRequired = [...required].map(([name, each]) => [`${name}: `, this.document(each)]);
    const ofOptional = [...optional].map(([name, each]) => [`?${name}: `, this.document(each)]);
    const ofPipe = pipe === null ? [] : [[`<-${pipe.name === "<-" ? "" : pipe.name}: `, this.document(pipe.type)]];
    const parameters = [...ofPipe, ...ofRequired, ...ofOptional].map((each) => group(...each));
    return group("(", ...listed([], parameters), ") => ", this.document(result));
  }
}

function listed(head: readonly Document[], items: readonly Document[]): Document[] {
  // as recorded, with the indentation of what is not there
  if (head.length + items.length === 0) return [{ kind: "by group", broken: "\n    \n", flat: "" }];
  const start = items.length > ON_LINE_MAX ? BREAK : SOFT_LINE;
  return [indented(start, ...head, ...separated(items, ",", LINE), LAST_COMMA), SOFT_LINE];
}

const INFO: Partial<Readonly<Record<Type["kind"], string>>> = {
  function: " (function)",
  dictionary: " (dictionary)",
  field: " (record)",
  empty: " (record)",
  dynamic: " (dynamic)",
  array: " (array)",
  vector: " (vector)",
};

/** What a type is, behind its text; nothing for those that say it themselves. */
export function typeInfo(type: Type): string {
  return INFO[resolve(type).kind] ?? "";
}
