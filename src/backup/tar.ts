// Shards and days of exports travel as tar archives (POSIX.1-1988, "ustar"), which every system can list. Regular files alone; sizes
// above 8 GiB in GNU's form.
import type { TsdbError } from "../model/errors.ts";

const BLOCK = 512;
const ZEROS = new Uint8Array(BLOCK);
/** | name 100 | mode 8 | uid 8 | gid 8 | size 12 | mtime 12 | checksum 8 | type 1 | link 100 | magic 6 | version 2 | ... | */
const AT = { name: 0, mode: 100, uid: 108, gid: 116, size: 124, mtime: 136, checksum: 148, type: 156, magic: 257, version: 263 } as const;
const NAME_BYTES = 100;
const OCTAL_SIZE_MAX = 8 ** 11 - 1;

/** What stands before a file's bytes. */
export function tarHeader(name: string, byteCount: number, modifiedMs: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(BLOCK);
  header.write(name, AT.name, NAME_BYTES, "latin1");
  header.write("0000600\0", AT.mode, "latin1");
  header.write("0000000\0", AT.uid, "latin1");
  header.write("0000000\0", AT.gid, "latin1");
  if (byteCount <= OCTAL_SIZE_MAX) header.write(`${byteCount.toString(8).padStart(11, "0")}\0`, AT.size, "latin1");
  else {
    header[AT.size] = 0x80;
    header.writeBigUInt64BE(BigInt(byteCount), AT.size + 4);
  }
  header.write(
    `${Math.floor(modifiedMs / 1000)
      .toString(8)
      .padStart(11, "0")}\0`,
    AT.mtime,
    "latin1",
  );
  header.write("0", AT.type, "latin1");
  header.write("ustar\0", AT.magic, "latin1");
  header.write("00", AT.version, "latin1");
  header.write(checksumOf(header), AT.checksum, "latin1");
  return new Uint8Array(header);
}

/** What stands behind them. */
export function tarPadding(byteCount: number): Uint8Array {
  return ZEROS.subarray(0, paddingOf(byteCount));
}

/** The end of an archive. */
export const TAR_END: Uint8Array<ArrayBuffer> = new Uint8Array(2 * BLOCK);

export interface TarEntry {
  readonly name: string;
  readonly byteCount: number;
}

/** Reads an archive from pieces as they come. */
export class TarReader {
  private left: Uint8Array = new Uint8Array(0);
  private readonly pieces: AsyncIterator<Uint8Array>;
  private read = 0;

  /** @param errorOf makes the error of an archive that is damaged, cut off or none */
  constructor(
    pieces: AsyncIterable<Uint8Array>,
    private readonly errorOf: (reason: string) => TsdbError,
  ) {
    this.pieces = pieces[Symbol.asyncIterator]();
  }

  /** The next file, whose bytes `content` or `pipe` must take; null at the end, after which nothing may follow.
   *  @throws TsdbError what the constructor was given, for what is no such archive, or is cut off */
  async next(): Promise<TarEntry | null> {
    const header = Buffer.from(await this.take(BLOCK));
    if (header.every((byte) => byte === 0)) {
      await this.end();
      return null;
    }
    const stated = header.toString("latin1", AT.checksum, AT.checksum + 8);
    if (stated !== checksumOf(header) || header.toString("latin1", AT.magic, AT.magic + 5) !== "ustar") this.fail("no header of a file");
    const type = header[AT.type];
    if (type !== 0x30 && type !== 0) this.fail("something other than a regular file");
    const [name] = header.toString("latin1", AT.name, AT.name + NAME_BYTES).split("\0");
    return { name: name!, byteCount: this.size(header) };
  }

  /** The bytes of a small file. @throws as `next` */
  async content({ byteCount }: TarEntry): Promise<Uint8Array> {
    const bytes = (await this.take(byteCount)).slice();
    await this.skipPadding(byteCount);
    return bytes;
  }

  /** The bytes of a file, in pieces. @throws as `next`; what `append` throws */
  async pipe({ byteCount }: TarEntry, append: (piece: Uint8Array) => Promise<void>): Promise<void> {
    for (let wanted = byteCount; wanted > 0; ) {
      if (this.left.byteLength === 0 && !(await this.more())) this.fail("it is cut off");
      const piece = this.left.subarray(0, Math.min(wanted, this.left.byteLength));
      this.left = this.left.subarray(piece.byteLength);
      this.read += piece.byteLength;
      wanted -= piece.byteLength;
      await append(piece);
    }
    await this.skipPadding(byteCount);
  }

  /** Lets the source go. */
  async close(): Promise<void> {
    await this.pieces.return?.();
  }

  private async skipPadding(byteCount: number): Promise<void> {
    const padding = await this.take(paddingOf(byteCount));
    if (padding.some((byte) => byte !== 0)) this.fail("something between two files");
  }

  private async end(): Promise<void> {
    do {
      if (this.left.some((byte) => byte !== 0)) this.fail("something follows its end");
    } while (await this.more());
  }

  private async take(byteCount: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for (let wanted = byteCount; wanted > 0; ) {
      if (this.left.byteLength === 0 && !(await this.more())) this.fail("it is cut off");
      const piece = this.left.subarray(0, Math.min(wanted, this.left.byteLength));
      this.left = this.left.subarray(piece.byteLength);
      wanted -= piece.byteLength;
      // what the source gave may be reused for its next piece
      pieces.push(wanted > 0 ? piece.slice() : piece);
    }
    this.read += byteCount;
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, byteCount);
  }

  /** Replaces `left` by the next piece. */
  private async more(): Promise<boolean> {
    const { done, value } = await this.pieces.next();
    if (done === true) return false;
    this.left = value;
    return true;
  }

  private size(header: Buffer): number {
    if (header[AT.size] === 0x80) {
      const size = header.readBigUInt64BE(AT.size + 4);
      if (size <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(size);
    }
    const text = /^[0-7]{1,11}(?=[\0 ]|$)/.exec(header.toString("latin1", AT.size, AT.size + 12))?.[0];
    return text === undefined ? this.fail("a file of no size") : Number.parseInt(text, 8);
  }

  private fail(reason: string): never {
    throw this.errorOf(`at offset ${this.read} of the archive: ${reason}`);
  }
}

function paddingOf(byteCount: number): number {
  return (BLOCK - (byteCount % BLOCK)) % BLOCK;
}

/** The sum of all bytes, with blanks for the checksum itself, as a header has it. */
function checksumOf(header: Uint8Array): string {
  let sum = 0;
  for (const [i, byte] of header.entries()) sum += i >= AT.checksum && i < AT.checksum + 8 ? 0x20 : byte;
  return `${sum.toString(8).padStart(6, "0")}\0 `;
}
