// What statements of one written shape have in common: the names of their columns, and which of their literals are those of a template.
// Neither tokens nor rules are needed for them (written-shape.ts).
import type { ItemNames } from "../column-name/select-items.ts";
import type { EncodedText } from "../parse/encoded-text.ts";
import { type LiftedText, type Literal, liftLiterals, literalKey } from "../parse/literals.ts";
import { parseStatement, type Statement } from "../parse/statement.ts";
import type { PlannedText } from "./plan.ts";
import type { WrittenLiteral, WrittenShape } from "./written-shape.ts";

/** Approximate memory of a literal's place. */
const PLACE_BYTES = 64;
const ENTRY_BYTES = 256;

/** A literal of a template: one of the text, or the same in all statements. */
type LiteralPlace = Literal | { readonly token: number; readonly written: number };

/** A statement that was recognized by its written shape. */
export interface WrittenStatement {
  readonly names: ItemNames;
  /** That of the lifted text: the key of its template. */
  readonly shape: string;
  readonly literals: readonly Literal[];
  /** Length without the literals of lists. */
  readonly chars: number;
}

interface Known extends Omit<WrittenStatement, "literals"> {
  readonly places: readonly LiteralPlace[];
}

/** `known`: null if tokens are needed. Of a shape with fixed literals only what they are; the rest is kept by their values. */
interface Entry {
  readonly fixed: readonly number[];
  readonly known: Known | null;
  readonly bytes: number;
}

/** Recognizes statements, within a limit of bytes. */
export class WrittenShapes {
  /** Least recently used first. */
  private readonly entries = new Map<string, Entry>();
  bytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** Returns null for a shape that was not kept, or needs tokens. */
  find({ shape, literals }: WrittenShape): WrittenStatement | null {
    const note = this.use(shape);
    const entry = note === undefined || note.fixed.length === 0 ? note : this.use(keyOf(shape, literals, note.fixed));
    const known = entry?.known ?? null;
    if (known === null) return null;
    let { chars } = known;
    const filled = known.places.map((place): Literal => {
      if (!("written" in place)) return place;
      const { kind, text, list } = literals[place.written]!;
      chars += text.length;
      return { token: place.token, kind, text, list };
    });
    return { names: known.names, shape: known.shape, literals: filled, chars };
  }

  /** Keeps what the tokens of a statement have shown. */
  keep({ shape, literals }: WrittenShape, statement: Statement, lifted: LiftedText): void {
    const before = this.entries.get(shape);
    if (before !== undefined && before.fixed.length === 0) return;
    const places = statement.kind === "query" ? placesOf(literals, lifted) : null;
    if (places === null) {
      this.put(shape, { fixed: [], known: null, bytes: bytesOf(shape, 0) });
      return;
    }
    const varying = new Set(places.map((place) => ("written" in place ? place.written : -1)));
    const { names } = statement;
    const isNamed = ({ start }: WrittenLiteral) => names.spans.some((span) => start >= span.start && start < span.end);
    const fixed = literals.map((_, i) => i).filter((i) => !varying.has(i) || isNamed(literals[i]!));
    const key = keyOf(shape, literals, fixed);
    let { chars } = lifted;
    for (const place of places) if ("written" in place) chars -= literals[place.written]!.text.length;
    if (fixed.length > 0) this.put(shape, { fixed, known: null, bytes: bytesOf(shape, fixed.length) });
    this.put(key, { fixed, known: { names, shape: lifted.shape, places, chars }, bytes: bytesOf(key, places.length) });
  }

  private use(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry;
  }

  private put(key: string, entry: Entry): void {
    if (entry.bytes > this.bytesMax / 8) return;
    this.bytes += entry.bytes - (this.entries.get(key)?.bytes ?? 0);
    this.entries.delete(key);
    this.entries.set(key, entry);
    for (const [oldest, { bytes }] of this.entries) {
      if (this.bytes <= this.bytesMax) break;
      this.entries.delete(oldest);
      this.bytes -= bytes;
    }
  }
}

/** Where the literals of the lifted text are among those of the written one; null: a list of one is none of the other. */
function placesOf(written: readonly WrittenLiteral[], { text, literals }: LiftedText): LiteralPlace[] | null {
  const byStart = new Map(written.map(({ start }, i) => [start, i]));
  const places: LiteralPlace[] = [];
  for (const literal of literals) {
    const index = byStart.get(text.tokens[literal.token]!.start);
    if (index === undefined) {
      // its text is part of the shape
      places.push(literal);
      continue;
    }
    const { kind, list, text: own } = written[index]!;
    if (kind !== literal.kind || own !== literal.text || list?.length !== literal.list?.length) return null;
    places.push({ token: literal.token, written: index });
  }
  return places;
}

function bytesOf(key: string, places: number): number {
  return key.length * 2 + places * PLACE_BYTES + ENTRY_BYTES;
}

/** The shape with its fixed literals. */
function keyOf(shape: string, literals: readonly WrittenLiteral[], fixed: readonly number[]): string {
  return fixed.length === 0 ? shape : `${shape}\0=${fixed.map((i) => literalKey(literals[i]!)).join("\0")}`;
}

/** The text of a recognized statement, which is read only if it is asked for. */
export class WrittenText implements PlannedText {
  private parsed: Statement | undefined;
  private lifted: EncodedText | undefined;

  private constructor(
    private readonly sql: string,
    readonly literals: readonly Literal[],
    readonly chars: number,
  ) {}

  /** The arguments of `makePlan`. */
  static of(sql: string, { names, literals, chars }: WrittenStatement): [Statement, WrittenText] {
    const written = new WrittenText(sql, literals, chars);
    const statement: Statement = {
      kind: "query",
      names,
      get text() {
        return written.statementText;
      },
    };
    return [statement, written];
  }

  private get statementText(): EncodedText {
    this.parsed ??= parseStatement(this.sql);
    return this.parsed.text;
  }

  /** Without the rest of lists. */
  get text(): EncodedText {
    this.lifted ??= liftLiterals(this.statementText, true)!.text;
    return this.lifted;
  }
}
