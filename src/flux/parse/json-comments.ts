// Comments before brackets, commas and other signs. The tree has no places for them: they stand in the text between the parts of a node.

type Node = Readonly<Record<string, unknown>>;
type Named = readonly (readonly [name: string, comments: readonly string[]])[];

interface Part {
  readonly location: { readonly from: number; readonly to: number };
}

/** What comments before a node of this type stand before: its first sign. */
const OPENING: Readonly<Record<string, string>> = {
  ArrayExpression: "lbrack",
  DictExpression: "lbrack",
  ObjectExpression: "lbrace",
  Block: "lbrace",
  FunctionExpression: "lparen",
  ParenExpression: "lparen",
  ConditionalExpression: "tk_if",
};

/** The name that the comments before a node have. */
export function openingName(type: unknown): string {
  return OPENING[String(type)] ?? "comments";
}

/** Comments before the other signs of a node, by their names. @param node of a text without errors */
export function signComments(node: Node, text: string): Named {
  const of = (name: string) => node[name] as Part;
  const all = (name: string) => (node[name] ?? []) as readonly Part[];
  const signs = new Signs(text);
  switch (node["type"]) {
    case "ArrayExpression":
      signs.at(all("elements").at(-1)?.location.to ?? start(node) + 1).skip(",");
      return signs.take("rbrack", "]").taken;
    case "DictExpression": {
      const last = (node["elements"] as readonly { readonly val: Part }[]).at(-1);
      signs.at(last?.val.location.to ?? start(node) + 1).skip(last === undefined ? ":" : ",");
      return signs.take("rbrack", "]").taken;
    }
    case "ObjectExpression":
      if (text[start(node)] !== "{") return [];
      signs.at(all("properties").at(-1)?.location.to ?? start(node) + 1).skip(",");
      return signs.take("rbrace", "}").taken;
    case "Property":
      if (node["value"] !== null) signs.at(of("key").location.to).take("separator", ":", "=");
      return signs.at((node as unknown as Part).location.to).take("comma", ",").taken;
    case "FunctionExpression":
      signs.at(all("params").at(-1)?.location.to ?? start(node) + 1).skip(",");
      return signs.take("rparen", ")").take("arrow", "=>").taken;
    case "CallExpression":
      signs.at(of("callee").location.to).take("lparen", "(");
      for (const { location } of all("arguments")) signs.at(location.to).skip(",");
      return signs.take("rparen", ")").taken;
    case "Block":
      return signs.at(all("body").at(-1)?.location.to ?? start(node) + 1).take("rbrace", "}").taken;
    case "ParenExpression":
      return signs.at(of("expression").location.to).take("rparen", ")").taken;
    case "IndexExpression":
      return signs.at(of("array").location.to).take("lbrack", "[").at(of("index").location.to).take("rbrack", "]").taken;
    case "MemberExpression":
      return signs.at(of("object").location.to).take("lbrack", "[", ".").at(of("property").location.to).take("rbrack", "]").taken;
    case "ConditionalExpression":
      signs.at(of("test").location.to).take("tk_then", "then");
      return signs.at(of("consequent").location.to).take("tk_else", "else").taken;
    case "BuiltinStatement":
      return signs.at(of("id").location.to).take("colon", ":").taken;
    default:
      return [];
  }
}

function start(node: Node): number {
  return (node as unknown as Part).location.from;
}

/** Goes through a text from sign to sign. */
class Signs {
  readonly taken: (readonly [name: string, comments: readonly string[]])[] = [];
  private place = 0;

  constructor(private readonly text: string) {}

  at(place: number): this {
    this.place = place;
    return this;
  }

  /** Passes one of the signs, if it is next. */
  skip(...signs: readonly string[]): this {
    this.pass(signs);
    return this;
  }

  /** The same, and keeps the comments before it. */
  take(name: string, ...signs: readonly string[]): this {
    const comments = this.pass(signs);
    if (comments.length > 0) this.taken.push([name, comments]);
    return this;
  }

  private pass(signs: readonly string[]): readonly string[] {
    const comments: string[] = [];
    for (let at = this.place; at < this.text.length; ) {
      if (this.text.startsWith("//", at)) {
        const end = this.text.indexOf("\n", at);
        const next = end < 0 ? this.text.length : end + 1;
        comments.push(this.text.slice(at, next));
        at = next;
      } else if (/\s/.test(this.text[at]!)) at++;
      else {
        const sign = signs.find((each) => this.text.startsWith(each, at));
        if (sign === undefined) return [];
        this.place = at + sign.length;
        return comments;
      }
    }
    return [];
  }
}
