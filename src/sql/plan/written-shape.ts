// The shape of a statement as written, found without tokens: its text with a mark for each literal. Statements of one written shape have
// the same tokens but for their literals, whatever the token rules make of them (written-shapes.ts).
//
// It need not find each literal, only the same ones in all statements of a shape: what it does not understand stays in the text, or the
// statement has no written shape.
import { type LiteralKind, numberKind } from "../parse/literals.ts";
import { isZero } from "../parse/token-rules.ts";

/** A literal of the text; of a list after IN, all that it contains. */
export interface WrittenLiteral {
  /** The position of its first character. */
  readonly start: number;
  readonly kind: LiteralKind;
  /** As written; of a list the first one. */
  readonly text: string;
  readonly list: readonly string[] | undefined;
}

export interface WrittenShape {
  readonly shape: string;
  readonly literals: readonly WrittenLiteral[];
}

/** A longer text could exceed limits on tokens and lists, which are checked where those are made. */
const CHARS_MAX = 128 << 10;
/** Precedes the kind of a literal. */
const MARK = "\0";

const OTHER = 0;
const SPACE = 1;
const WORD = 2;
const DIGIT = 3;
const STRING = 4;
const QUOTED = 5;
const POINT = 6;
const OPEN = 7;
/** Comments, quotes and parameters that only the tokenizer reads. */
const FOREIGN = 8;
const CLASSES = (() => {
  const classes = new Uint8Array(128);
  for (const space of " \t\n\v\f\r") classes[space.charCodeAt(0)] = SPACE;
  classes.fill(WORD, 0x61, 0x7b);
  classes.fill(WORD, 0x41, 0x5b);
  classes.fill(DIGIT, 0x30, 0x3a);
  for (const [char, kind] of [...Object.entries({ _: WORD, "'": STRING, '"': QUOTED, ".": POINT, "(": OPEN, $: FOREIGN, "`": FOREIGN })]) {
    classes[char.charCodeAt(0)] = kind;
  }
  return classes;
})();

function classAt(sql: string, at: number): number {
  const code = sql.charCodeAt(at);
  return code < 128 ? CLASSES[code]! : code >= 128 ? WORD : OTHER;
}

/** Returns null if the statement has none. */
export function writtenShape(sql: string): WrittenShape | null {
  if (sql.length > CHARS_MAX || sql.includes(MARK) || !sql.isWellFormed()) return null;
  const scan = new Scan(sql);
  return scan.run() ? scan : null;
}

class Scan implements WrittenShape {
  shape = "";
  readonly literals: WrittenLiteral[] = [];
  private copied = 0;

  constructor(private readonly sql: string) {}

  /** Returns false if there is something that it does not understand. */
  run(): boolean {
    const { sql } = this;
    const { length } = sql;
    let isBehindIn = false;
    for (let at = 0; at >= 0 && at < length; ) {
      const kind = classAt(sql, at);
      if (kind === SPACE) {
        at++;
        continue;
      }
      const wasBehindIn = isBehindIn;
      isBehindIn = false;
      if (kind === WORD) {
        const end = endOfWord(sql, at);
        if (classAt(sql, end) === STRING) return false;
        isBehindIn = end === at + 2 && (sql.charCodeAt(at) | 0x20) === 0x69 && (sql.charCodeAt(at + 1) | 0x20) === 0x6e;
        at = end;
      } else if (kind === OTHER) {
        if (isComment(sql, at)) return false;
        at++;
      } else if (kind === OPEN) at = (wasBehindIn ? this.list(at + 1) : 0) || at + 1;
      else if (kind === FOREIGN) return false;
      else if (kind === QUOTED) at = endOfQuote(sql, at, '"');
      else if (kind === STRING) at = this.string(at);
      else if (kind === DIGIT || classAt(sql, at + 1) === DIGIT) {
        const end = endOfWord(sql, at);
        if (classAt(sql, end) === STRING) return false;
        this.number(at, end);
        at = end;
      } else at++;
      if (at < 0) return false;
    }
    this.shape += sql.slice(this.copied);
    return true;
  }

  private string(start: number): number {
    const end = endOfQuote(this.sql, start, "'");
    if (end >= 0) this.add({ start, kind: "s", text: this.sql.slice(start, end), list: undefined }, end);
    return end;
  }

  private number(start: number, end: number): void {
    const text = this.sql.slice(start, end);
    const kind = numberKind(text);
    // a rule changes zeros; a point at the end is a token of its own
    if (kind !== null && !isZero(text) && !text.endsWith(".")) this.add({ start, kind, text, list: undefined }, end);
  }

  private add(literal: WrittenLiteral, end: number): void {
    this.shape += `${this.sql.slice(this.copied, literal.start)}${MARK}${literal.list === undefined ? "" : "*"}${literal.kind}`;
    this.copied = end;
    this.literals.push(literal);
  }

  /** The position after the literals behind `IN (`; 0 if there are not two or more of one kind and nothing else. */
  private list(from: number): number {
    const { sql } = this;
    const start = afterSpace(sql, from);
    const isText = classAt(sql, start) === STRING;
    const list: string[] = [];
    for (let at = start; ; ) {
      const end = isText ? endOfQuote(sql, at, "'") : endOfWord(sql, at);
      if (end <= at || classAt(sql, at) !== (isText ? STRING : DIGIT)) return 0;
      const text = sql.slice(at, end);
      if (!isText && numberKind(text) !== "i") return 0;
      list.push(text);
      const next = afterSpace(sql, end);
      if (sql[next] === ")") {
        if (list.length < 2) return 0;
        this.add({ start, kind: isText ? "s" : "i", text: list[0]!, list }, next);
        return next;
      }
      if (sql[next] !== ",") return 0;
      at = afterSpace(sql, next + 1);
    }
  }
}

/** The end of what may be a word or a number. */
function endOfWord(sql: string, start: number): number {
  const isNumber = classAt(sql, start) !== WORD;
  let end = start;
  for (; end < sql.length; end++) {
    const kind = classAt(sql, end);
    if (kind !== WORD && kind !== DIGIT && !(kind === POINT && isNumber)) break;
  }
  return end;
}

/** The position after the quoted text that starts at `start`; -1 if it does not end. */
function endOfQuote(sql: string, start: number, quote: string): number {
  for (let from = start + 1; ; ) {
    const at = sql.indexOf(quote, from);
    if (at < 0) return -1;
    if (sql[at + 1] !== quote) return at + 1;
    from = at + 2;
  }
}

function afterSpace(sql: string, start: number): number {
  let at = start;
  while (classAt(sql, at) === SPACE) at++;
  return at;
}

function isComment(sql: string, at: number): boolean {
  const char = sql[at];
  return (char === "-" && sql[at + 1] === "-") || (char === "/" && sql[at + 1] === "*");
}
