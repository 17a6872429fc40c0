// Times in the text of a script: dashboards send one text again and again, with another range each time.
import type { DateTimeLiteral, File } from "../parse/ast.ts";
import { parseTimeLiteral } from "../parse/strings.ts";
import { type AnyNode, walk } from "../parse/walk.ts";
import { parseTime } from "../values/duration.ts";
import type { Time } from "../values/value.ts";

/** What looks like a time, also where it is none: within texts and comments. */
const TIMES = /\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d*)?)?/g;

/** The text without the digits of its times; null: it has none. Texts of one shape have the same length. */
export function shapeOf(text: string): string | null {
  const shape = text.replace(TIMES, (time) => time.replace(/\d/g, "0"));
  return shape === text ? null : shape;
}

/** The literals of a script whose values its code takes from the run. Those in functions are not among them: operators read the trees of
 *  functions, and keep what they find there. */
export class TimeLiterals {
  /** In the order of the text. */
  private readonly literals: readonly DateTimeLiteral[];
  private readonly numbers: ReadonlyMap<AnyNode, number>;

  constructor(
    private readonly text: string,
    file: File,
  ) {
    const found: DateTimeLiteral[] = [];
    for (const statement of file.body) {
      walk(statement, (node) => {
        if (node.type === "DateTimeLiteral") found.push(node as DateTimeLiteral);
        return node.type !== "FunctionExpression";
      });
    }
    this.literals = found.sort((a, b) => a.location.from - b.location.from);
    this.numbers = new Map(this.literals.map((literal, number) => [literal, number]));
  }

  /** Where the value of a literal stands among those of `valuesIn`. */
  numberOf(node: AnyNode): number | undefined {
    return this.numbers.get(node);
  }

  /** The values that the literals have in a text of the same shape; null: it differs by more than them, or they are no times there. */
  valuesIn(text: string): readonly Time[] | null {
    const values: Time[] = [];
    let at = 0;
    for (const { location } of this.literals) {
      const { from, to } = location;
      if (text.slice(at, from) !== this.text.slice(at, from)) return null;
      at = to;
      const parsed = parseTimeLiteral(text.slice(from, to));
      const value = "error" in parsed ? null : parseTime(parsed.value);
      if (value === null) return null;
      values.push(value);
    }
    return text.slice(at) === this.text.slice(at) ? values : null;
  }
}
