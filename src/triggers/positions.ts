// Positions of write triggers in a file: `{"format":1,"positions":{"<trigger id>":<sequence>}}`, replaced atomically. It is written after
// calls have ended, so that a crash repeats calls and never loses one.
import type { Disk } from "../disk/disk.ts";
import { parentOf } from "../disk/disk.ts";

const FORMAT = 1;

/** Reads and writes the file of positions. */
export class PositionFile {
  private saved = "";

  private constructor(
    private readonly disk: Disk,
    private readonly path: string,
    private readonly read: ReadonlyMap<number, number>,
  ) {}

  /** `problem`: the file is damaged; triggers then start from the position of their creation or last enabling. */
  static async open(disk: Disk, path: string): Promise<{ file: PositionFile; problem: string | null }> {
    if ((await disk.stat(path)) === null) return { file: new PositionFile(disk, path, new Map()), problem: null };
    const positions = parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(await disk.readFile(path)));
    const file = new PositionFile(disk, path, positions ?? new Map());
    return { file, problem: positions === null ? `${path} is damaged: write triggers see rows again that the log still has` : null };
  }

  /** The position in the file at the start; 0: none. */
  of(triggerId: number): number {
    return this.read.get(triggerId) ?? 0;
  }

  /** Durable when it resolves. @throws TsdbError io */
  async save(positions: ReadonlyMap<number, number>): Promise<void> {
    const text = JSON.stringify({ format: FORMAT, positions: Object.fromEntries(positions) });
    if (text === this.saved) return;
    const fresh = `${this.path}.new`;
    if ((await this.disk.stat(fresh)) !== null) await this.disk.unlink(fresh);
    const file = await this.disk.openAppend(fresh);
    try {
      await file.append(new TextEncoder().encode(text));
      await file.sync();
    } finally {
      await file.close();
    }
    await this.disk.rename(fresh, this.path);
    await this.disk.syncFolder(parentOf(this.path));
    this.saved = text;
  }
}

/** Returns null for a damaged file. */
function parse(text: string): Map<number, number> | null {
  try {
    const { format, positions } = JSON.parse(text) as { format: unknown; positions: Record<string, unknown> };
    const entries = Object.entries(positions).map(([id, sequence]) => [Number(id), sequence] as const);
    const isGood = format === FORMAT && entries.every(([id, sequence]) => Number.isSafeInteger(id) && Number.isSafeInteger(sequence));
    return isGood ? new Map(entries as [number, number][]) : null;
  } catch {
    return null;
  }
}
