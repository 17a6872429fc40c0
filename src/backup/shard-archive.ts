// A shard's backup, a tar archive: `shard.json` says which tables and columns the rows are of; `1.pt`, `2.pt` and so on hold the rows in
// this server's own format; `SHA256SUMS` is as the command of that name writes it.
import { TsdbError } from "../model/errors.ts";
import { badValue, readArray, readCount, readObject, readText } from "../object-store/operation-values.ts";
import { SHA256_DIGITS, sha256 } from "./checksum.ts";
import { readTable, type TableBackup } from "./metadata-file.ts";
import type { ShardWindow } from "./shard-id.ts";
import type { Spool, SpooledFile } from "./spool.ts";
import { TAR_END, TarReader, tarHeader, tarPadding } from "./tar.ts";

const DESCRIPTION = "shard.json";
const SUMS = "SHA256SUMS";
const FORMAT = "tsdb shard backup 1";
/** A table takes some hundred bytes, and some dozen for each column. */
const DESCRIPTION_BYTES_MAX = 64 << 20;
const FILES_MAX = 1_000_000;

export interface ShardDescription extends ShardWindow {
  /** Rows that were flushed before are not here, milliseconds since 1970. Null: all rows of the shard are. */
  readonly sinceMs: number | null;
  readonly tables: readonly ShardTable[];
}

export interface ShardTable extends TableBackup {
  /** Of its rows in the files. */
  readonly id: number;
}

/** The bytes of an archive: `chunks` reads the files as it goes. */
export interface ArchiveBytes {
  chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

/** The archive of a shard as a stream: its description and its files. */
export function writeArchive(description: ShardDescription, files: readonly SpooledFile[], madeMs: number): ArchiveBytes {
  const json = Buffer.from(JSON.stringify(shown(description)));
  const sums = [`${sha256(json)}  ${DESCRIPTION}\n`, ...files.map((file, i) => `${file.sha256}  ${rowsName(i)}\n`)];
  const last = Buffer.from(sums.join(""));
  const small = (name: string, bytes: Uint8Array) =>
    new Uint8Array(Buffer.concat([tarHeader(name, bytes.byteLength, madeMs), bytes, tarPadding(bytes.byteLength)]));
  return {
    async *chunks() {
      yield small(DESCRIPTION, json);
      for (const [i, { path, byteCount }] of files.entries()) {
        yield tarHeader(rowsName(i), byteCount, madeMs);
        for await (const piece of Bun.file(path).stream()) yield piece as Uint8Array<ArrayBuffer>;
        yield tarPadding(byteCount).slice();
      }
      yield small(SUMS, last);
      yield TAR_END;
    },
  };
}

/** An archive whose checksums are right. */
export interface ReceivedArchive {
  readonly description: ShardDescription;
  readonly files: readonly SpooledFile[];
}

function noBackup(reason: string): TsdbError {
  return new TsdbError("bad_request", `this is no backup of a shard: ${reason}; nothing was restored`);
}

/** Reads an archive into files of `spool`. @throws TsdbError bad_request for a damaged or incomplete archive, or another file; no_space,
 *  io */
export async function readArchive(pieces: AsyncIterable<Uint8Array>, spool: Spool): Promise<ReceivedArchive> {
  const reader = new TarReader(pieces, noBackup);
  try {
    const first = await reader.next();
    if (first?.name !== DESCRIPTION || first.byteCount > DESCRIPTION_BYTES_MAX) fail(`it does not begin with ${DESCRIPTION}`);
    const json = await reader.content(first);
    const sums = [`${sha256(json)}  ${DESCRIPTION}\n`];
    const files: SpooledFile[] = [];
    for (let entry = await reader.next(); ; entry = await reader.next()) {
      if (entry?.name === SUMS) {
        if (entry.byteCount > (SHA256_DIGITS + 100) * (files.length + 1)) fail("its checksums are of other files");
        const stated = Buffer.from(await reader.content(entry)).toString("latin1");
        if (stated !== sums.join("")) fail("its checksums differ: it is damaged");
        break;
      }
      if (entry?.name !== rowsName(files.length) || files.length >= FILES_MAX) fail(`${rowsName(files.length)} or ${SUMS} is missing`);
      const found = entry;
      files.push(await spool.file((append) => reader.pipe(found, append)));
      sums.push(`${files.at(-1)!.sha256}  ${entry.name}\n`);
    }
    if ((await reader.next()) !== null) fail(`something follows ${SUMS}`);
    return { description: readDescription(json), files };
  } finally {
    await reader.close();
  }
}

function rowsName(index: number): string {
  return `${index + 1}.pt`;
}

function shown({ startNs, endNs, sinceMs, tables }: ShardDescription): object {
  return { format: FORMAT, startNs: String(startNs), endNs: String(endNs), sinceMs, tables };
}

function readDescription(json: Uint8Array): ShardDescription {
  try {
    const value = readObject(DESCRIPTION, JSON.parse(Buffer.from(json).toString("utf8")));
    if (value["format"] !== FORMAT) badValue("format", value["format"], FORMAT);
    // the last shard of 64 bits of nanoseconds ends behind them
    const ns = (name: string) => {
      const text = readText(name, value[name]);
      return /^-?\d{1,20}$/.test(text) ? BigInt(text) : badValue(name, text, "decimal nanoseconds");
    };
    return {
      startNs: ns("startNs"),
      endNs: ns("endNs"),
      sinceMs: value["sinceMs"] === null ? null : readCount("sinceMs", value["sinceMs"]),
      tables: readArray("tables", value["tables"]).map((table) => ({
        ...readTable(table),
        id: readCount("id", readObject("table", table)["id"]),
      })),
    };
  } catch (cause) {
    return fail(`${DESCRIPTION}: ${(cause as Error).message}`);
  }
}

function fail(reason: string): never {
  throw new TsdbError("bad_request", `this is no backup of a shard of this server: ${reason}; nothing was restored`);
}
