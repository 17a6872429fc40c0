// What stands behind a prefix such as `x =` or `key:`: on the same line as far as that leads to lines within the width, else on the next,
// indented.
import { type Document, firstFitting, group, indented, isNothing, ON_ONE_LINE } from "./document.ts";

/** Around a content, as `(r) =>` or braces. */
export interface Affix {
  readonly prefix: Document;
  readonly suffix: Document;
  /** Whether what is inside is indented where the prefix has a line of its own. */
  readonly isIndented: boolean;
}

/** A content with the affixes around it, from the inside outwards. */
export class Hanging {
  private constructor(
    private readonly affixes: readonly Affix[],
    private readonly content: Document,
  ) {}

  static of(content: Document): Hanging {
    return new Hanging([], content);
  }

  within(prefix: Document, suffix: Document = "", isIndented = true): Hanging {
    return new Hanging([...this.affixes, { prefix, suffix, isIndented }], this.content);
  }

  /** With the document in front of all. */
  behind(document: Document): Hanging {
    const outermost = this.affixes.at(-1);
    if (outermost === undefined) return new Hanging([], [document, this.content]);
    const other = { ...outermost, prefix: [document, outermost.prefix] };
    return new Hanging([...this.affixes.slice(0, -1), other], this.content);
  }

  /** As many prefixes on the first line as possible, at least one. */
  document(): Document {
    const outwards = this.affixes.toReversed();
    if (outwards.length === 0) return this.content;
    return firstFitting(outwards.map((_, i) => this.layout(outwards, outwards.length - i)));
  }

  /** @param count of the prefixes on the first line */
  private layout(outwards: readonly Affix[], count: number): Document {
    const [before, after] = [outwards.slice(0, count), outwards.slice(count)];
    const isLast = count === 1;
    // a content without a prefix cannot be on several lines without being indented
    const isBare = !isLast && before.every(({ prefix }) => isNothing(prefix));
    const content: Document = [indented(this.content, isBare ? ON_ONE_LINE : ""), after.map(({ suffix }) => suffix)];
    const inner = after.reduceRight<Document>(
      (made, { prefix, isIndented }) => group(isIndented ? indented(prefix, made) : [prefix, made]),
      content,
    );
    return [
      group(
        before.map(({ prefix }) => prefix),
        isLast ? "" : ON_ONE_LINE,
      ),
      group(
        inner,
        before.map(({ suffix }) => suffix),
      ),
    ];
  }
}
