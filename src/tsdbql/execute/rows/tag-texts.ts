// Provides the tag values of an answer's rows as string views in kernel memory, so that the kernel can format them in place: each value is
// copied once, each row has a view of it.
import { Blocks } from "../../../kernel/memory/blocks.ts";
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import type { ResultColumn } from "../../../model/query/result-batch.ts";
import type { ScanColumn } from "../../../model/query/scan-table.ts";
import type { TagCells } from "./columns.ts";

const VIEW_WORDS = 4;
const NO_VALUES = new Uint8Array(0);

/** The tag texts of one answer. */
export class TagTexts {
  private readonly values: Blocks;
  private readonly rows: Blocks;
  private readonly viewsOf = new Map<readonly string[], { readonly count: number; readonly ptr: number }>();

  constructor(private readonly kernel: Kernel) {
    this.values = new Blocks(kernel);
    this.rows = new Blocks(kernel);
  }

  /** Columns returned earlier are no longer needed; later ones have the same dictionaries. */
  nextBatch(): void {
    this.rows.release();
  }

  /** The same, and dictionaries change. */
  nextBlock(): void {
    this.rows.release();
    this.values.release();
    this.viewsOf.clear();
  }

  /** Absent tags are null. @throws TsdbError overloaded */
  column(cells: TagCells, rowCount: number): ResultColumn {
    const validity = validityOf(cells, rowCount);
    return new TagColumnOfRows(cells, rowCount, validity, () => this.place(cells, rowCount, validity));
  }

  private place(cells: TagCells, rowCount: number, validity: Uint8Array | null): ScanColumn {
    const views = this.views(cells.dictionary);
    const dataPtr = this.rows.alloc(Math.max(1, rowCount) * VIEW_WORDS * 4);
    const { u32, u8 } = this.kernel;
    const { codes } = cells;
    for (let row = 0, to = dataPtr / 4; row < rowCount; row++, to += VIEW_WORDS) {
      const from = views / 4 + codes[row]! * VIEW_WORDS;
      u32[to] = u32[from]!;
      u32[to + 1] = u32[from + 1]!;
      u32[to + 2] = u32[from + 2]!;
      u32[to + 3] = u32[from + 3]!;
    }
    let validityPtr = 0;
    if (validity !== null) {
      validityPtr = this.rows.allocZeroed(Math.ceil(rowCount / 64) * 8);
      u8.set(validity, validityPtr);
    }
    return { dataPtr, validityPtr };
  }

  release(): void {
    this.nextBlock();
  }

  private views(dictionary: readonly string[]): number {
    const known = this.viewsOf.get(dictionary);
    if (known !== undefined && known.count === dictionary.length) return known.ptr;
    const ptr = this.values.allocViews(dictionary);
    this.viewsOf.set(dictionary, { count: dictionary.length, ptr });
    return ptr;
  }
}

function validityOf({ codes, dictionary, keepsEmpty = false }: TagCells, rowCount: number): Uint8Array | null {
  const absent = keepsEmpty ? -1 : dictionary.indexOf("");
  if (absent < 0) return null;
  const validity = new Uint8Array((rowCount + 7) >> 3);
  let missing = 0;
  for (let i = 0; i < rowCount; i++) {
    if (codes[i] === absent) missing++;
    else validity[i >> 3] = validity[i >> 3]! | (1 << (i & 7));
  }
  return missing === 0 ? null : validity;
}

/** Creates its representations on demand: views for the kernel, bytes for other encoders. */
class TagColumnOfRows implements ResultColumn {
  readonly values = NO_VALUES;
  private placed: ScanColumn | null = null;
  private texts: { readonly offsets: Int32Array; readonly data: Uint8Array } | null = null;

  constructor(
    private readonly cells: TagCells,
    private readonly rowCount: number,
    readonly validity: Uint8Array | null,
    private readonly place: () => ScanColumn,
  ) {}

  get inKernel(): ScanColumn {
    this.placed ??= this.place();
    return this.placed;
  }

  get offsets(): Int32Array {
    return this.encode().offsets;
  }

  get data(): Uint8Array {
    return this.encode().data;
  }

  private encode() {
    if (this.texts !== null) return this.texts;
    const { codes, dictionary } = this.cells;
    const { rowCount } = this;
    const known = new Map<number, Uint8Array>();
    const rows: Uint8Array[] = [];
    const offsets = new Int32Array(rowCount + 1);
    for (let row = 0; row < rowCount; row++) {
      const code = codes[row]!;
      let text = known.get(code);
      if (text === undefined) {
        text = Buffer.from(dictionary[code]!);
        known.set(code, text);
      }
      rows.push(text);
      offsets[row + 1] = offsets[row]! + text.length;
    }
    const data = new Uint8Array(offsets[rowCount]!);
    for (let row = 0; row < rowCount; row++) data.set(rows[row]!, offsets[row]!);
    this.texts = { offsets, data };
    return this.texts;
  }
}
