// Splits the schema work of a body with many new table, tag and field names: names are created in steps, each in its own turn of the event
// loop, before the body is stored in one step. Other requests run in between, so the storing step does not rely on these steps: it creates
// whatever is missing by then.
import type { ParseOptions } from "../kernel/parse/line-parser.ts";
import { assert } from "../model/assert.ts";
import { LIMITS } from "../model/limits.ts";

/** New names per step: parsing, resolving and creating one takes 10 to 25 µs. */
const NAMES_PER_STEP = 256;
/** Tables per step: even tables with known names may lack columns or links. */
const TABLES_PER_STEP = 64;
/** Maximum passes over a body: other bodies may make the parser forget its names. */
const PASSES_MAX = 3;

/**
 * The phases of a body:
 *
 *     whole ── many new names ──> making ── end of the body ──> whole
 *       └── … and acceptPartial=false ──> checking ── no invalid line ──> making
 *                                            └── an invalid line ──> whole, which rejects the body
 */
type Phase = "whole" | "checking" | "making";

/** The state of one body that is parsed in steps: which lines the next step reads, and whether it creates names or only checks lines. */
export class SchemaSteps {
  private phase: Phase = "whole";
  private passes = 0;
  /** Offset of the first line of the next step. */
  private from = 0;
  private hasBadLines = false;
  private keptTablesMax = 0;
  /** Table names in the lines so far. */
  private readonly tables = new Set<string>();
  /** Tables created for this body so far. */
  madeTables = 0;

  constructor(private readonly acceptPartial: boolean) {}

  /** True while the (rest of the) body is parsed for names. */
  get isStepping(): boolean {
    return this.phase !== "whole";
  }

  /** True if a step creates what it finds; false if it only checks for invalid lines. */
  get isMaking(): boolean {
    return this.phase === "making";
  }

  /** Parser options for the next step. */
  get parseOptions(): Pick<ParseOptions, "from" | "tablesMax" | "newNamesMax" | "keptTablesMax"> {
    if (this.isStepping) {
      const { from, keptTablesMax } = this;
      return { from, tablesMax: TABLES_PER_STEP, newNamesMax: NAMES_PER_STEP, keptTablesMax };
    }
    return this.passes < PASSES_MAX ? { newNamesMax: NAMES_PER_STEP } : {};
  }

  /** Parsing has stopped before the end of the body. `keptTables`: tables that the parser knew before it. */
  begin(keptTables: number): void {
    assert(this.phase === "whole", "a body that is in steps has begun");
    this.phase = this.acceptPartial ? "making" : "checking";
    this.passes += 1;
    this.keptTablesMax = keptTables + LIMITS.bodyTablesMax;
    this.hasBadLines = false;
    this.tables.clear();
  }

  /** True if the table is among those that the body may create or use: rows of others are rejected when it is stored. */
  admits(tableName: string): boolean {
    if (this.tables.has(tableName)) return true;
    if (this.tables.size >= LIMITS.bodyTablesMax) return false;
    this.tables.add(tableName);
    return true;
  }

  /** Some line cannot be stored, or possibly not: with acceptPartial=false nothing may be created before this is known. */
  noteBadLine(): void {
    this.hasBadLines = true;
  }

  /** Ends a step: lines before offset `end` of a body of `byteCount` bytes have been processed. */
  advance(end: number, byteCount: number): void {
    if (end < byteCount) {
      assert(end > this.from, `a step of the body ended where it began, at byte ${end} of ${byteCount}`);
      this.from = end;
      return;
    }
    this.from = 0;
    this.tables.clear();
    this.phase = this.phase === "checking" && !this.hasBadLines ? "making" : "whole";
  }

  /** The parser has forgotten its names: the body starts over. */
  restart(): void {
    this.from = 0;
    this.phase = "whole";
  }
}
