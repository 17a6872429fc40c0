// Imports as jobs: files are received and checked side by side, and imported one after another in the background.
import { readdir } from "node:fs/promises";
import { near, TsdbError } from "../../model/errors.ts";
import type { ImportInfo, ImportJobs, ImportTable, ImportUpload, ReceivingFile } from "../../model/rows/import-jobs.ts";
import { type ColumnPlan, isOwnFile, planColumns } from "../column-plan.ts";
import { type FileFacts, NS_PER_UNIT } from "../file-facts.ts";
import type { OpenImport } from "../import-engine.ts";
import { type ImportLog, type ImportRecord, isOver } from "./import-log.ts";
import { runImport } from "./import-run.ts";
import type { ImportParts } from "./parts.ts";
import { planTarget, tableOf } from "./target.ts";
import { importOf, removeUpload, Upload, uploadPath } from "./upload.ts";

/** Files that wait, and files that are being received. */
const WAITING_MAX = 100;
const RECEIVING_MAX = 16;
/** After a failure that may pass. */
const RETRY_MS = 5000;
const ATTEMPTS_MAX = 10;
const FILE_NAME_MAX = 255;

/** The imports of one server. */
export class Imports implements ImportJobs {
  private opened: Promise<void> | null = null;
  /** Files are looked into one after another, and imported one after another. */
  private checking: Promise<unknown> = Promise.resolve();
  private working: Promise<void> = Promise.resolve();
  private receivingCount = 0;
  private running: OpenImport | null = null;
  private isStopped = false;
  /** The file that was looked into last, if it is imported next: its threads go on. */
  private lookedInto: { readonly id: string; readonly open: OpenImport } | null = null;

  constructor(
    private readonly parts: ImportParts,
    private readonly log: ImportLog,
  ) {}

  /** Reads what there is, and goes on with it: begin it at the start of the server. Repeated by the next call when it fails. */
  open(): Promise<void> {
    this.opened ??= this.recover().catch((error) => {
      this.opened = null;
      throw error;
    });
    return this.opened;
  }

  async receive(target: ImportTable | null): Promise<ReceivingFile> {
    await this.open();
    this.requireWritable();
    if (target !== null) this.find(target.database, target.table);
    const waiting = this.log.all().filter((record) => !isOver(record)).length;
    if (waiting >= WAITING_MAX) throw new TsdbError("overloaded", `${WAITING_MAX} files wait to be imported; try again when one has been`);
    if (this.receivingCount >= RECEIVING_MAX)
      throw new TsdbError("overloaded", `${RECEIVING_MAX} files are being received; try again later`);
    const problem = this.parts.spaceProblem();
    if (problem !== null) throw new TsdbError("no_space", problem.message);
    this.receivingCount += 1;
    try {
      return new Received(await Upload.begin(this.parts.folder, crypto.randomUUID()), () => {
        this.receivingCount -= 1;
      });
    } catch (error) {
      this.receivingCount -= 1;
      throw error;
    }
  }

  async start(upload: ImportUpload): Promise<ImportInfo> {
    await this.open();
    this.requireWritable();
    const done = this.checking.then(() => this.add(upload));
    this.checking = done.catch(() => {}); // the caller has the error
    return done;
  }

  async list(): Promise<readonly ImportInfo[]> {
    await this.open();
    return this.log
      .all()
      .reverse()
      .map((record) => this.infoOf(record));
  }

  /** Ends the running import, which starts over at the next start. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.opened?.catch(() => {}); // reported before
    this.running?.close();
    this.lookedInto?.open.close();
    await Promise.all([this.checking, this.working]);
  }

  private find(database: string, name: string): { readonly databaseId: number; readonly tableId: number } {
    const { catalog } = this.parts;
    const { id: databaseId } = catalog.liveDatabase(database);
    const schema = catalog.findSchema(databaseId, name);
    if (schema === undefined) throw new TsdbError("unknown_table", `table not found: ${near(name)}`, { table: name });
    return { databaseId, tableId: schema.def.id };
  }

  /** Its file is looked into before it waits: what cannot be imported is refused now. */
  private async add({ database, table: name, fileName, id, byteCount, columns }: ImportUpload): Promise<ImportInfo> {
    this.requireWritable();
    const { catalog, engine, folder, nowMs } = this.parts;
    const { databaseId, tableId } = this.find(database, name);
    const open = await engine.open(uploadPath(folder, id));
    let isKept = false;
    try {
      const { facts } = open;
      const table = tableOf(catalog, databaseId, tableId);
      const plan = planColumns({ facts, wanted: columns, table: table.columnsByName });
      planTarget(catalog, databaseId, table, plan);
      const range = statedTimes(facts, plan);
      const record: ImportRecord = {
        ...{ id, databaseId, tableId, fileName: fileName.slice(0, FILE_NAME_MAX), status: "queued", message: null },
        ...{ createdMs: nowMs(), startedMs: null, completedMs: null, updatedMs: nowMs(), columns, isOwn: isOwnFile(facts) },
        ...{ byteCount, rowCount: facts.rowCount, minTimeNs: range.minNs, maxTimeNs: range.maxNs, attempts: 0, fileIds: [] },
      };
      await this.log.put(record);
      isKept = this.running === null && this.lookedInto === null && !this.isStopped;
      if (isKept) this.lookedInto = { id, open };
      this.enqueue(id);
      return record;
    } finally {
      if (!isKept) open.close();
    }
  }

  /** The file of a job, which is looked into once if it does not wait. */
  private fileOf(id: string, path: string): OpenImport | Promise<OpenImport> {
    const { lookedInto } = this;
    if (lookedInto?.id !== id) return this.parts.engine.open(path);
    this.lookedInto = null;
    return lookedInto.open;
  }

  private enqueue(id: string): void {
    this.working = this.working.then(() => this.work(id));
  }

  /** Never rejects. */
  private async work(id: string): Promise<void> {
    const { parts, log } = this;
    const found = this.log.all().find((each) => each.id === id);
    if (found === undefined || this.isStopped) return;
    const path = uploadPath(parts.folder, id);
    let record: ImportRecord = {
      ...found,
      ...this.now("dispatched"),
      startedMs: parts.nowMs(),
      attempts: found.attempts + 1,
      message: null,
    };
    const keep = async (change: Partial<ImportRecord>) => {
      record = { ...record, ...change };
      await log.note(record);
    };
    const details = { file: record.fileName, table: parts.catalog.tableById(record.tableId)?.name, rows: record.rowCount };
    try {
      await keep({});
      this.running = await this.fileOf(id, path);
      await runImport(parts, {
        ...{ record, open: this.running, onFiles: (fileIds) => keep({ fileIds }) },
        onImported: async ({ range }) => {
          await removeUpload(path);
          const times = { minTimeNs: range.minNs, maxTimeNs: range.maxNs };
          // without the record the next start finds the rows
          await keep({ ...this.now("imported"), completedMs: parts.nowMs(), ...times }).catch((error) => parts.ended(details, error));
        },
      });
      parts.ended(details, null);
      parts.onImported();
    } catch (error) {
      await this.failed(record, error).catch((cause) => parts.ended(details, cause));
    } finally {
      this.running?.close();
      this.running = null;
    }
  }

  private async failed(record: ImportRecord, error: unknown): Promise<void> {
    // it starts over at the next start
    if (this.isStopped) return;
    const { parts, log } = this;
    const message = error instanceof Error ? error.message : String(error);
    parts.ended({ file: record.fileName, attempt: record.attempts }, error);
    if (isFinal(error) || record.attempts >= ATTEMPTS_MAX) {
      await log.note({ ...record, ...this.now("terminal_failed"), fileIds: [], message });
      await removeUpload(uploadPath(parts.folder, record.id));
      return;
    }
    parts.later(RETRY_MS * record.attempts, () => this.enqueue(record.id));
    await log.note({ ...record, ...this.now("failed"), fileIds: [], message });
  }

  private async recover(): Promise<void> {
    const { parts, log } = this;
    await log.open();
    if (parts.catalog.refusal !== null) return;
    const known = new Set<string>();
    for (const record of log.all()) {
      if (isOver(record)) continue;
      // the process ended behind the manifest's entry
      if (this.isInData(record)) {
        await log.put({ ...record, ...this.now("imported"), completedMs: parts.nowMs() });
        continue;
      }
      await log.put({ ...record, ...this.now("queued"), fileIds: [] });
      known.add(record.id);
      this.enqueue(record.id);
    }
    const names = await readdir(parts.folder).catch(() => []); // there may be no folder
    for (const name of names) {
      const id = importOf(name);
      if (id !== null && !known.has(id)) await removeUpload(`${parts.folder}/${name}`);
    }
  }

  private isInData({ fileIds }: ImportRecord): boolean {
    return fileIds.some((id) => this.parts.manifest.fileById(id) !== undefined);
  }

  /** Files that have been merged are no longer part of the data. */
  private infoOf(record: ImportRecord): ImportInfo {
    return record.status === "imported" && !this.isInData(record) ? { ...record, status: "compacted" } : record;
  }

  private now<S extends ImportInfo["status"]>(status: S): { readonly status: S; readonly updatedMs: number } {
    return { status, updatedMs: this.parts.nowMs() };
  }

  private requireWritable(): void {
    const { refusal } = this.parts.catalog;
    if (refusal !== null) throw refusal;
    if (this.isStopped) throw new TsdbError("unavailable", "the server is stopping");
  }
}

/** A file that is counted while it is received. */
class Received implements ReceivingFile {
  private isCounted = true;

  constructor(
    private readonly upload: Upload,
    private readonly onEnd: () => void,
  ) {}

  get id(): string {
    return this.upload.id;
  }

  get byteCount(): number {
    return this.upload.byteCount;
  }

  append(piece: Uint8Array): Promise<void> {
    return this.upload.append(piece);
  }

  finish(): Promise<void> {
    this.end();
    return this.upload.finish();
  }

  discard(): Promise<void> {
    this.end();
    return this.upload.discard();
  }

  private end(): void {
    if (this.isCounted) this.onEnd();
    this.isCounted = false;
  }
}

/** Trying again would end in the same way. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof TsdbError &&
    ["bad_request", "unknown_table", "unknown_database", "limit_exceeded", "corrupt_file"].includes(error.kind)
  );
}

const UNKNOWN_TIMES = { minNs: 0n, maxNs: 0n };

/** As the file's statistics have them; zeros if they do not. */
function statedTimes({ bounds }: FileFacts, { time }: ColumnPlan): { readonly minNs: bigint; readonly maxNs: bigint } {
  const stated = bounds.get(time.name);
  const unit = time.type.kind === "time" ? NS_PER_UNIT[time.type.unit] : 1n;
  if (stated === undefined) return UNKNOWN_TIMES;
  const [minNs, maxNs] = [stated.minNs * unit, stated.maxNs * unit];
  return BigInt.asIntN(64, minNs) === minNs && BigInt.asIntN(64, maxNs) === maxNs ? { minNs, maxNs } : UNKNOWN_TIMES;
}
