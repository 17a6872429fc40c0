// The cost of a call of one of our macros: DuckDB plans the macro's text with the arguments inserted at each use, so nested calls can grow
// to billions of expressions.
import { MACROS } from "../functions/macros.ts";
import { VALUE_MACROS } from "../functions/value-macros.ts";

export interface MacroWeight {
  /** Tokens of the text, with nested macros expanded. */
  readonly own: number;
  /** How often each argument is planned. */
  readonly mentions: readonly number[];
}

const DEFINITION = /^CREATE MACRO (\w+)\(([^)]*)\) AS\s([\s\S]*)$/;
const TOKEN = /'(?:[^']|'')*'|\w+|\(|\)|,|\S/g;

/** DuckDB's own macros that use an argument more than once. */
const BUILT_IN: readonly string[] = [
  "CREATE MACRO array_to_string(arr, sep) AS CASE WHEN len(arr) = 0 THEN '' ELSE list_aggr(arr, 'string_agg', sep) END",
  "CREATE MACRO nullif(a, b) AS CASE WHEN a = b THEN NULL ELSE a END",
  "CREATE MACRO split_part(s, d, p) AS CASE WHEN s IS NOT NULL AND d IS NOT NULL AND p IS NOT NULL THEN coalesce(string_split(s, d)[p], '') END",
  `CREATE MACRO round_even(x, n) AS
     CASE WHEN abs(x) * power(10, n + 1) % 10 = 5 THEN round(x / 2, n) * 2 ELSE round(x, n) END`,
  "CREATE MACRO roundbankers(x, n) AS round_even(x, n)",
  "CREATE MACRO fmod(x, y) AS x - (y * floor(x / y))",
  "CREATE MACRO weighted_avg(v, weight) AS sum(v * weight) / sum(CASE WHEN v IS NOT NULL THEN weight ELSE 0 END)",
  "CREATE MACRO wavg(v, weight) AS weighted_avg(v, weight)",
  "CREATE MACRO array_pop_back(arr) AS arr[:len(arr) - 1]",
];

/** A macro may only use earlier ones. */
export function weigh(definitions: readonly string[]): Map<string, MacroWeight> {
  const texts = new Map<string, { parameters: string[]; tokens: string[] }>();
  for (const definition of definitions) {
    const [, name = "", parameters = "", text = ""] = DEFINITION.exec(definition) ?? [];
    texts.set(name, { parameters: parameters.split(",").map((parameter) => parameter.trim()), tokens: text.match(TOKEN) ?? [] });
  }
  const weights = new Map<string, MacroWeight>();
  const weightOf = (name: string): MacroWeight | undefined => {
    const found = texts.get(name);
    if (found === undefined) return undefined;
    let weight = weights.get(name);
    if (weight === undefined) {
      weight = new Reader(found.tokens, found.parameters, weightOf).read();
      weights.set(name, weight);
    }
    return weight;
  };
  for (const name of texts.keys()) weightOf(name);
  return weights;
}

/** The sum over the tokens between two commas or parentheses. */
interface Sum {
  own: number;
  mentions: number[];
}

class Reader {
  private at = 0;

  constructor(
    private readonly tokens: readonly string[],
    private readonly parameters: readonly string[],
    private readonly weightOf: (name: string) => MacroWeight | undefined,
  ) {}

  read(): MacroWeight {
    const sum = this.empty();
    sum.own = 1;
    while (this.at < this.tokens.length) this.add(sum, this.next());
    return sum;
  }

  private empty(): Sum {
    return { own: 0, mentions: this.parameters.map(() => 0) };
  }

  private add(sum: Sum, other: MacroWeight, times = 1): void {
    sum.own += other.own * times;
    other.mentions.forEach((count, i) => {
      sum.mentions[i] = sum.mentions[i]! + count * times;
    });
  }

  /** One token, or a call with its arguments. */
  private next(): Sum {
    const sum = this.empty();
    const token = this.tokens[this.at++]!;
    const index = this.parameters.indexOf(token);
    // x.y is a member, not the parameter y
    if (index >= 0 && this.tokens[this.at - 2] !== ".") sum.mentions[index] = 1;
    else if (/^\w/.test(token)) sum.own = 1;
    if (this.tokens[this.at] !== "(" || !/^\w/.test(token)) return sum;
    const called = this.weightOf(token);
    this.at++;
    const args: Sum[] = [this.empty()];
    for (let token = this.tokens[this.at]; token !== undefined && token !== ")"; token = this.tokens[this.at]) {
      if (token === ",") {
        this.at++;
        args.push(this.empty());
      } else if (token === "(") this.add(args.at(-1)!, this.group());
      else this.add(args.at(-1)!, this.next());
    }
    this.at++;
    sum.own += called?.own ?? 0;
    args.forEach((arg, i) => {
      this.add(sum, arg, called?.mentions[i] ?? 1);
    });
    return sum;
  }

  private group(): Sum {
    const sum = this.empty();
    this.at++;
    while (this.at < this.tokens.length && this.tokens[this.at] !== ")") {
      if (this.tokens[this.at] === "(") this.add(sum, this.group());
      else this.add(sum, this.next());
    }
    this.at++;
    return sum;
  }
}

/** By name. At the end of the file: it needs the class above when the module is loaded. */
export const MACRO_WEIGHTS: ReadonlyMap<string, MacroWeight> = weigh([...BUILT_IN, ...MACROS, ...VALUE_MACROS]);
