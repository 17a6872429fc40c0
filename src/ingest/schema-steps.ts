// A body that brings many names of tables, tags and fields which its database's parser has not met: they are made in steps, each in a turn
// of the event loop of its own, before the body is stored in one. Other requests have their turns in between, so the step that stores the
// body relies on nothing that is made here: it makes what is missing by then.
import type { ParseOptions } from "../kernel/parse/line-parser.ts";
import { assert } from "../model/assert.ts";
import { LIMITS } from "../model/limits.ts";

/** New names of one step: 10 to 25 µs each to parse, resolve and make. */
const NAMES_PER_STEP = 256;
/** Tables of one step: those whose names are known may still lack columns or links. */
const TABLES_PER_STEP = 64;
/** How often a body goes through its steps: other bodies may make the parser forget what they have taught it. */
const PASSES_MAX = 3;

/**
 * Where a body is on its way:
 *
 *   whole ── many new names ──> making ── end of the body ──> whole
 *     └── … and acceptPartial=false ──> checking ── no bad line ──> making
 *                                          └── a bad line ──> whole, which refuses the body
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
  /** Names of the tables of the lines so far. */
  private readonly tables = new Set<string>();
  /** Tables that were made for this body so far. */
  madeTables = 0;

  constructor(private readonly acceptPartial: boolean) {}

  /** The body, or what is left of it, is parsed for names. */
  get isStepping(): boolean {
    return this.phase !== "whole";
  }

  /** What a step finds is made; otherwise it is only looked for bad lines. */
  get isMaking(): boolean {
    return this.phase === "making";
  }

  /** How the next piece of the body is to be parsed. */
  get parseOptions(): Pick<ParseOptions, "from" | "tablesMax" | "newNamesMax" | "keptTablesMax"> {
    if (this.isStepping) {
      const { from, keptTablesMax } = this;
      return { from, tablesMax: TABLES_PER_STEP, newNamesMax: NAMES_PER_STEP, keptTablesMax };
    }
    return this.passes < PASSES_MAX ? { newNamesMax: NAMES_PER_STEP } : {};
  }

  /** Parsing has stopped before the end of the body. `keptTables`: those that the parser knew before it. */
  begin(keptTables: number): void {
    assert(this.phase === "whole", "a body that is in steps has begun");
    this.phase = this.acceptPartial ? "making" : "checking";
    this.passes += 1;
    this.keptTablesMax = keptTables + LIMITS.bodyTablesMax;
    this.hasBadLines = false;
    this.tables.clear();
  }

  /** Whether the table is among those that the body may have: rows of others are rejected when it is stored. */
  admits(tableName: string): boolean {
    if (this.tables.has(tableName)) return true;
    if (this.tables.size >= LIMITS.bodyTablesMax) return false;
    this.tables.add(tableName);
    return true;
  }

  /** Some line cannot be stored, or may not be: with acceptPartial=false nothing is made before it is known. */
  noteBadLine(): void {
    this.hasBadLines = true;
  }

  /** The step is done: lines before offset `end` of a body of `byteCount` bytes were looked at. */
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

  /** The parser has forgotten what it knew: the body begins anew. */
  restart(): void {
    this.from = 0;
    this.phase = "whole";
  }
}
