// Predicts the tables that a statement will read from earlier statements with the same text apart from literals: the snapshot is then sent
// together with the statement, which saves a round trip. A wrong prediction costs a message, never a wrong answer: the worker requests what
// it misses.

import type { CacheReference } from "../../model/caches.ts";
import type { SnapshotNeed } from "../../scan/snapshot.ts";

/** Longer statements are not analysed: this runs on the main thread. */
const STATEMENT_CHARS_MAX = 8 << 10;
const KEPT_CHARS_MAX = 1 << 20;
/** Literals, approximately. */
const VALUES = /'[^']*'|\b\d[\d.]*/g;
/** Literals that are cache names. */
const CACHES = /_cache"?\s*\([^)]*\)/gi;

/** A bounded map from a statement's text without literals to the tables that it read. The least recently learned texts are dropped
 *  first. */
export class TableGuess {
  /** Least recently learned first. */
  private readonly needs = new Map<string, SnapshotNeed>();
  private keptChars = 0;

  constructor(private readonly keptCharsMax = KEPT_CHARS_MAX) {}

  find(statement: string): SnapshotNeed | undefined {
    return statement.length > STATEMENT_CHARS_MAX ? undefined : this.needs.get(looksOf(statement));
  }

  learn(statement: string, need: SnapshotNeed): void {
    if (statement.length > STATEMENT_CHARS_MAX) return;
    const looks = looksOf(statement);
    this.forget(looks);
    this.needs.set(looks, need);
    this.keptChars += charsOf(looks, need);
    for (const oldest of this.needs.keys()) {
      if (this.keptChars <= this.keptCharsMax) break;
      this.forget(oldest);
    }
  }

  private forget(looks: string): void {
    const need = this.needs.get(looks);
    if (need === undefined) return;
    this.needs.delete(looks);
    this.keptChars -= charsOf(looks, need);
  }
}

function looksOf(statement: string): string {
  const looks = statement.replace(VALUES, "?");
  const caches = statement.match(CACHES);
  return caches === null ? looks : looks + caches.join("");
}

function charsOf(looks: string, { tables, caches = [] }: SnapshotNeed): number {
  const names = [...tables, ...caches.flatMap(({ table, name }) => [table, name ?? ""])];
  return looks.length + names.reduce((sum, name) => sum + name.length, 0);
}

/** True if a snapshot for `guess` contains everything in `need`. */
export function covers(guess: SnapshotNeed, need: SnapshotNeed): boolean {
  const holds = (guessed: readonly string[], needed: readonly string[]) => needed.every((table) => guessed.includes(table));
  if (guess.database !== need.database) return false;
  if (need.wholeCatalog && !guess.wholeCatalog) return false;
  const isGuessed = (cache: CacheReference) => guess.caches?.some((other) => isSame(cache, other)) === true;
  if (need.caches !== undefined && !need.caches.every(isGuessed)) return false;
  return holds(guess.tables, need.tables) && holds(guess.systemTables, need.systemTables);
}

function isSame(a: CacheReference, b: CacheReference): boolean {
  return a.kind === b.kind && a.table === b.table && a.name === b.name;
}
