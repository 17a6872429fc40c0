// A column of texts as codes into a dictionary. A statement over many windows has tens of millions of text cells: as an array of strings
// the garbage collector would visit each of them while nothing else runs, whereas it does not look into typed arrays.
import { inSteps, type Steps } from "../../model/steps.ts";

/** The code of the empty text, which no dictionary needs to have. */
export const EMPTY_TEXT = 0xffffffff;

/** Approximate memory of a text in a dictionary, besides its bytes: an object, its buffer and its place. */
export const TEXT_BYTES = 72;

/** The texts of a column, row by row. */
export class Texts {
  /** @param dictionary shared by columns; it may have unused texts, and equal ones */
  constructor(
    readonly codes: Uint32Array,
    readonly dictionary: readonly string[],
  ) {}

  /** The same text in all rows. */
  static constant(text: string, count: number): Texts {
    return new Texts(new Uint32Array(count), [text]);
  }

  /** One text per row. */
  static of(texts: readonly string[]): Texts {
    const vocabulary = new Vocabulary();
    return new Texts(
      Uint32Array.from(texts, (text) => vocabulary.code(text)),
      vocabulary.texts,
    );
  }

  /** Empty texts. */
  static empty(count: number): Texts {
    return new Texts(new Uint32Array(count).fill(EMPTY_TEXT), []);
  }

  get length(): number {
    return this.codes.length;
  }

  at(row: number): string {
    const code = this.codes[row]!;
    return code === EMPTY_TEXT ? "" : this.dictionary[code]!;
  }

  /** Rows [from, to). */
  slice(from: number, to: number): Texts {
    return new Texts(this.codes.slice(from, to), this.dictionary);
  }

  /** The same, borrowed. */
  subarray(from: number, to: number): Texts {
    return new Texts(this.codes.subarray(from, to), this.dictionary);
  }

  /** Rows by number. Few rows keep their texts alone. */
  *take(rows: Int32Array): Steps<Texts> {
    const { codes, dictionary } = this;
    const taken = new Uint32Array(rows.length);
    yield* inSteps(rows.length, (from, to) => {
      for (let i = from; i < to; i++) taken[i] = codes[rows[i]!]!;
    });
    return rows.length * 2 < dictionary.length ? yield* this.ownTexts(taken) : new Texts(taken, dictionary);
  }

  private *ownTexts(codes: Uint32Array): Steps<Texts> {
    const dictionary: string[] = [];
    const codeOf = new Map<number, number>([[EMPTY_TEXT, EMPTY_TEXT]]);
    yield* inSteps(codes.length, (from, to) => {
      for (let i = from; i < to; i++) {
        let code = codeOf.get(codes[i]!);
        if (code === undefined) {
          code = dictionary.push(this.dictionary[codes[i]!]!) - 1;
          codeOf.set(codes[i]!, code);
        }
        codes[i] = code;
      }
    });
    return new Texts(codes, dictionary);
  }

  /** As operators compare them; not to be kept. */
  *toArray(): Steps<string[]> {
    const texts: string[] = [];
    yield* inSteps(this.length, (from, to) => {
      for (let row = from; row < to; row++) texts.push(this.at(row));
    });
    return texts;
  }
}

/** Texts that are looked for among those before: a column has few of them, or it is not worth it. */
const KNOWN_MAX = 4096;

/** Numbers texts as they come: equal ones alike, but not behind the first many. */
export class Vocabulary {
  readonly texts: string[] = [];
  private readonly codeOf = new Map<string, number>();

  /** The code of a text. */
  code(text: string): number {
    // texts that are mostly different are not looked for any more, which would take longer than all else
    const known = this.texts.length < 2 * KNOWN_MAX ? this.codeOf.get(text) : undefined;
    if (known !== undefined) return known;
    const code = this.texts.push(text) - 1;
    if (code < KNOWN_MAX) this.codeOf.set(text, code);
    return code;
  }
}

/** Joins columns; a dictionary that several share is taken once. */
export class TextsBuilder {
  private readonly dictionary: string[] = [];
  /** Of a dictionary: the code of its first text. */
  private readonly starts = new Map<readonly string[], number>();
  private readonly codes: Uint32Array;

  /** All rows are empty at first. */
  constructor(count: number) {
    this.codes = new Uint32Array(count).fill(EMPTY_TEXT);
  }

  /** Sets the rows from `at` on. */
  *set(texts: Texts, at: number): Steps<void> {
    const { codes } = this;
    const start = yield* this.startOf(texts.dictionary);
    yield* inSteps(texts.length, (from, to) => {
      for (let i = from; i < to; i++) {
        const code = texts.codes[i]!;
        codes[at + i] = code === EMPTY_TEXT ? code : start + code;
      }
    });
  }

  finish(): Texts {
    return new Texts(this.codes, this.dictionary);
  }

  private *startOf(dictionary: readonly string[]): Steps<number> {
    const known = this.starts.get(dictionary);
    if (known !== undefined) return known;
    const start = this.dictionary.length;
    this.starts.set(dictionary, start);
    yield* inSteps(dictionary.length, (from, to) => {
      for (let i = from; i < to; i++) this.dictionary.push(dictionary[i]!);
    });
    return start;
  }
}
