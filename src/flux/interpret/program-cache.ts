// Scripts that were seen before: dashboards send the same ones every few seconds.
import type { File } from "../parse/ast.ts";
import { syntaxErrorText, syntaxProblems } from "../parse/check.ts";
import { FluxError } from "../values/flux-error.ts";
import { FluxProgram, type ProgramLibrary } from "./program.ts";

/** Characters of all scripts together, a thousand tasks. A character costs about 100 bytes with its tree, types and code. */
const TEXT_MAX = 512 << 10;
/** A longer script is mostly data. */
const SCRIPT_MAX = 32 << 10;

interface CachedScript {
  readonly file: File;
  /** With nothing before it. */
  program: FluxProgram | null;
}

/** Programs by their text: LRU, limited in bytes. */
export class ProgramCache {
  /** By text, the one used last at the end. */
  private readonly scripts = new Map<string, CachedScript>();
  private textLength = 0;

  constructor(private readonly library: ProgramLibrary) {}

  /** @param extern files that stand before the script: they differ from request to request, so only its tree is kept
   *  @throws FluxError with all problems of syntax, or else of types */
  program(text: string, extern: readonly File[] = []): FluxProgram {
    const known = this.scripts.get(text);
    const script: CachedScript = known ?? { file: FluxProgram.parse(text), program: null };
    let program = extern.length === 0 ? script.program : null;
    if (program === null) {
      const problems = extern.flatMap(syntaxProblems);
      if (problems.length > 0) throw new FluxError(syntaxErrorText(problems));
      program = new FluxProgram([...extern, script.file], this.library);
      if (extern.length === 0) script.program = program;
    }
    this.keep(text, script, known === undefined);
    return program;
  }

  private keep(text: string, script: CachedScript, isNew: boolean): void {
    if (text.length > SCRIPT_MAX) return;
    if (!isNew) this.scripts.delete(text);
    else this.textLength += text.length;
    this.scripts.set(text, script);
    for (const oldest of this.scripts.keys()) {
      if (this.textLength <= TEXT_MAX) break;
      this.scripts.delete(oldest);
      this.textLength -= oldest.length;
    }
  }

  get size(): number {
    return this.scripts.size;
  }
}

const caches = new WeakMap<ProgramLibrary, ProgramCache>();

/** The cache of scripts over this library. */
export function programsOf(library: ProgramLibrary): ProgramCache {
  let found = caches.get(library);
  if (found === undefined) {
    found = new ProgramCache(library);
    caches.set(library, found);
  }
  return found;
}
