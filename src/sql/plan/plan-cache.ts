// Caches plans by the shape of their statements: LRU, limited in bytes.
import { checkLimit, STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";
import type { Breathe } from "../execute/series/breathe.ts";
import { type LiftedText, type Literal, liftLiterals, literalKey } from "../parse/literals.ts";
import { parseStatement } from "../parse/statement.ts";
import { makePlan, type ParsedShape, type Parser, parseShape, type Serialize, type SqlPlan } from "./plan.ts";
import { writtenShape } from "./written-shape.ts";
import { WrittenShapes, WrittenText } from "./written-shapes.ts";

/** A template takes about 1.3 bytes per character of the JSON it was created from. */
const TEMPLATE_BYTES_PER_CHAR = 2;

/** Of a shape with its fixed literals; where there are any, the shape alone has a note of which they are, with `parsed` null. */
interface Entry {
  readonly fixed: readonly number[];
  readonly parsed: ParsedShape | null;
  /** True if lists other than IN lists occur. */
  readonly needsLists?: boolean;
  readonly bytes: number;
}

/** The part of the bytes for written shapes. */
const WRITTEN_PART = 1 / 4;

/** The plan cache of one engine. */
export class PlanCache {
  private readonly written: WrittenShapes;
  private readonly treeBytesMax: number;
  /** Least recently used first. */
  private readonly entries = new Map<string, Entry>();
  private bytes = 0;

  constructor(
    private readonly serialize: Serialize,
    bytesMax: number,
  ) {
    this.written = new WrittenShapes(bytesMax * WRITTEN_PART);
    this.treeBytesMax = bytesMax - bytesMax * WRITTEN_PART;
  }

  get keptBytes(): number {
    return this.bytes + this.written.bytes;
  }

  /** Parses and checks a statement. `breathe`: lets other statements run between the stages of a long one. @throws TsdbError bad_query */
  async plan(sql: string, breathe: Breathe = () => null): Promise<SqlPlan> {
    checkLimit("characters", sql.length, STATEMENT_LIMITS.charsMax);
    const written = writtenShape(sql);
    const found = written === null ? null : this.written.find(written);
    const parsed = found === null ? null : this.find(found.shape, found.literals);
    if (parsed !== null) return makePlan(...WrittenText.of(sql, found!), parsed);
    const parser = { serialize: this.serialize, breathe };
    const statement = parseStatement(sql);
    await breathe();
    const { text } = statement;
    const lifted = liftLiterals(text, true);
    if (lifted === null) {
      const whole = { text, literals: [], chars: text.sql.length };
      return makePlan(statement, whole, await parseShape(text, [], parser));
    }
    for (const { list } of lifted.literals) checkLimit("values in one list", list?.length ?? 1, STATEMENT_LIMITS.listValuesMax);
    await breathe();
    const known = await this.known(lifted, parser);
    if (known !== null) {
      if (written !== null) this.written.keep(written, statement, lifted);
      return makePlan(statement, lifted, known);
    }
    const flat = liftLiterals(text, false)!;
    await breathe();
    return makePlan(statement, flat, (await this.known(flat, parser))!);
  }

  /** Returns null if the statement must be parsed with all literals of its lists. */
  private async known({ text, shape, literals }: LiftedText, parser: Parser): Promise<ParsedShape | null> {
    const found = this.find(shape, literals);
    if (found !== null) return found;
    if (this.entries.get(shape)?.needsLists === true) return null;
    const parsed = await parseShape(text, literals, parser);
    if (parsed.template.hasAllLists) return this.keep(shape, literals, parsed);
    this.put(shape, { fixed: [], parsed: null, needsLists: true, bytes: shape.length });
    this.shrink();
    return null;
  }

  private find(shape: string, literals: readonly Literal[]): ParsedShape | null {
    const note = this.use(shape);
    const entry = note === undefined || note.fixed.length === 0 ? note : this.use(keyOf(shape, literals, note.fixed));
    return entry?.parsed ?? null;
  }

  private use(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry;
  }

  private keep(shape: string, literals: readonly Literal[], parsed: ParsedShape): ParsedShape {
    // Literals found to be fixed in one statement of a shape are fixed in all.
    const fixed = [...new Set([...(this.entries.get(shape)?.fixed ?? []), ...parsed.template.fixed])].sort((a, b) => a - b);
    const key = keyOf(shape, literals, fixed);
    const bytes = parsed.jsonChars * TEMPLATE_BYTES_PER_CHAR + key.length;
    if (bytes + shape.length > this.treeBytesMax / 8) return parsed;
    if (fixed.length > 0) this.put(shape, { fixed, parsed: null, bytes: shape.length + fixed.length * 8 });
    this.put(key, { fixed, parsed, bytes });
    this.shrink();
    return parsed;
  }

  private shrink(): void {
    for (const [oldest, entry] of this.entries) {
      if (this.bytes <= this.treeBytesMax) break;
      this.entries.delete(oldest);
      this.bytes -= entry.bytes;
    }
  }

  private put(key: string, entry: Entry): void {
    this.bytes += entry.bytes - (this.entries.get(key)?.bytes ?? 0);
    this.entries.delete(key);
    this.entries.set(key, entry);
  }
}

/** The shape with its fixed literals, if there are any. A shape ends without a mark, and literals hold none, so no key is another one's. */
function keyOf(shape: string, literals: readonly Literal[], fixed: readonly number[]): string {
  return fixed.length === 0 ? shape : `${shape}\0=${fixed.map((i) => literalKey(literals[i]!)).join("\0")}`;
}
