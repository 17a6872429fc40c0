// Where backups are: objects below a folder, one subfolder a backup. A backup is there once its `backup.json` is, which is put last, and is
// gone when that is, which is deleted first. What an attempt leaves behind is named by its `attempt.json`.

import { TsdbError } from "../../model/errors.ts";
import type { BackupType } from "../../model/rows/backup-jobs.ts";
import { isSafeKeyPart, type ObjectStore, type ObjectWriter } from "../../object-store/object-store.ts";
import { decodeSnapshot, encodeSnapshot } from "../../object-store/operation-file.ts";
import { badValue, inFile, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { type BackupContent, contentFromJson, contentToJson } from "./content.ts";

/** What all attempts of a name have in common. */
interface Origin {
  readonly name: string;
  readonly type: BackupType;
  readonly parent: string | null;
  /** Folder of the attempt's files. */
  readonly run: string;
  /** The server that made it. */
  readonly source: string;
  readonly createdMs: number;
}

/** A backup that is being made, that has failed, or that is being deleted. */
export interface Attempt extends Origin {
  /** Null while it runs. */
  readonly error: string | null;
}

/** A whole backup. */
export interface BackupRecord extends Origin {
  readonly completedMs: number;
  readonly totalFiles: number;
  readonly totalBytes: number;
}

/** What there is of a name: perhaps a whole backup, and an attempt to replace it. */
export interface Shelved {
  readonly record: BackupRecord | null;
  readonly attempt: Attempt | null;
}

const RECORD = "backup.json";
const ATTEMPT = "attempt.json";
const CONTENT = "content.json";
/** The error of a backup that is being deleted. */
export const DELETION = "it was being deleted";
const NAME_CHARACTERS_MAX = 128;
const READS_AT_ONCE = 16;

/** @throws TsdbError bad_request */
export function checkBackupName(name: string): void {
  if (isSafeKeyPart(name) && name.length <= NAME_CHARACTERS_MAX) return;
  const want = `1 to ${NAME_CHARACTERS_MAX} letters, digits, _ - = and ., the first of them neither . nor =`;
  throw new TsdbError("bad_request", `invalid backup name: want ${want}`, { asText: false });
}

/** The backups of one folder. Checks no names: callers do. */
export class Shelf {
  /** @param prefix of all keys, with the slash */
  constructor(
    readonly store: ObjectStore,
    private readonly prefix: string,
  ) {}

  /** The key of a file, for messages and for reading. @param place as `StoredFile.place` */
  keyOf(place: string): string {
    return this.prefix + place;
  }

  /** Where a file of an attempt is put. */
  placeOf({ name, run }: Pick<Origin, "name" | "run">, file: string): string {
    return `${name}/${run}/${file}`;
  }

  /** A backup with a damaged description counts as failed. */
  async find(name: string): Promise<Shelved> {
    try {
      const [record, attempt] = await Promise.all([
        this.read(`${name}/${RECORD}`, "backup", readRecord),
        this.read(`${name}/${ATTEMPT}`, "backup attempt", readAttempt),
      ]);
      return { record, attempt };
    } catch (error) {
      if (!(error instanceof TsdbError && error.kind === "corrupt_file")) throw error;
      const nothing = { type: "full", parent: null, run: "damaged", source: "", createdMs: 0 } as const;
      return { record: null, attempt: { name, ...nothing, error: error.message } };
    }
  }

  /** By name, ascending. */
  async list(): Promise<Shelved[]> {
    const names = new Set<string>();
    for (const { key } of await this.store.list(this.prefix)) {
      const [name, file, ...rest] = key.slice(this.prefix.length).split("/");
      if (name !== undefined && rest.length === 0 && (file === RECORD || file === ATTEMPT)) names.add(name);
    }
    const all = [...names];
    const found: Shelved[] = [];
    for (let at = 0; at < all.length; at += READS_AT_ONCE) {
      found.push(...(await Promise.all(all.slice(at, at + READS_AT_ONCE).map((name) => this.find(name)))));
    }
    return found.filter(({ record, attempt }) => record !== null || attempt !== null);
  }

  /** Announces an attempt. @throws TsdbError already_exists if there is one */
  async begin(attempt: Attempt): Promise<void> {
    await this.put(`${attempt.name}/${ATTEMPT}`, "backup attempt", attempt, { ifAbsent: true });
  }

  /** A file of an attempt. */
  async file(place: string): Promise<ObjectWriter> {
    return this.store.begin(this.keyOf(place));
  }

  /** Makes the attempt a whole backup, in place of an earlier one of the name. @throws TsdbError io if a file of it is gone: another
   *  server that takes itself for this one has removed it */
  async complete(record: BackupRecord, content: BackupContent): Promise<void> {
    const folder = this.placeOf(record, "");
    const sizes = new Map((await this.store.list(this.keyOf(folder))).map(({ key, sizeBytes }) => [key, sizeBytes]));
    for (const { place, file } of content.files) {
      const key = this.keyOf(place);
      if (!place.startsWith(folder) || sizes.get(key) === file.bytes) continue;
      throw new TsdbError("io", `${key} is gone: does another server with a copy of the data folder use the folder of backups?`, { key });
    }
    await this.put(this.placeOf(record, CONTENT), "backup content", contentToJson(content));
    await this.put(`${record.name}/${RECORD}`, "backup", record);
    await this.tidy(record.name);
  }

  /** Removes the files of an attempt that has failed and records why; an earlier backup of the name stays. */
  async fail(attempt: Attempt, error: string): Promise<void> {
    const { record } = await this.find(attempt.name);
    // it was whole before the error
    if (record?.run === attempt.run) return;
    for (const { key } of await this.store.list(this.keyOf(this.placeOf(attempt, "")))) await this.store.delete(key);
    await this.put(`${attempt.name}/${ATTEMPT}`, "backup attempt", { ...attempt, error });
  }

  /** Forgets a failed attempt. */
  async forget({ name }: Attempt): Promise<void> {
    await this.store.delete(this.keyOf(`${name}/${ATTEMPT}`));
  }

  /** Removes a backup and what is left of attempts; after a crash `tidy` goes on. */
  async remove(origin: Origin): Promise<void> {
    const { name, type, parent, run, source, createdMs } = origin;
    const attempt: Attempt = { name, type, parent, run, source, createdMs, error: DELETION };
    const announce = () => this.put(`${name}/${ATTEMPT}`, "backup attempt", attempt);
    await announce().catch(async (error) => {
      if (!(error instanceof TsdbError && error.kind === "no_space")) throw error;
      // a full disk is what backups are deleted for: their description makes room, or the deletion goes on unannounced
      await this.store.delete(this.keyOf(`${name}/${RECORD}`));
      await announce().catch(() => {});
    });
    await this.store.delete(this.keyOf(`${name}/${RECORD}`));
    await this.removeRuns(name, null);
    await this.forget(attempt);
  }

  /** Finishes what a crash has interrupted: files that no description names go. Only for names whose attempt is this server's own. */
  async tidy(name: string): Promise<void> {
    const { record, attempt } = await this.find(name);
    await this.removeRuns(name, record?.run ?? null);
    if (attempt !== null && attempt.run === record?.run) await this.forget(attempt);
  }

  /** @throws TsdbError corrupt_file naming the object */
  async content(record: BackupRecord): Promise<BackupContent> {
    const place = this.placeOf(record, CONTENT);
    const content = await this.read(place, "backup content", contentFromJson);
    if (content !== null) return content;
    throw new TsdbError("corrupt_file", `${this.keyOf(place)} is missing`, { file: this.keyOf(place) });
  }

  private async removeRuns(name: string, keptRun: string | null): Promise<void> {
    for (const { key } of await this.store.list(this.keyOf(`${name}/`))) {
      const [run, file] = key.slice(this.keyOf(`${name}/`).length).split("/");
      if (file !== undefined && run !== keptRun) await this.store.delete(key);
    }
  }

  private put(place: string, kind: string, value: unknown, options: { ifAbsent?: boolean } = {}): Promise<void> {
    return this.store.put(this.keyOf(place), encodeSnapshot({ kind, last: 1, state: value }), options);
  }

  /** Null if it is not there. @throws TsdbError corrupt_file */
  private async read<T>(place: string, kind: string, readValue: (value: unknown) => T): Promise<T | null> {
    const key = this.keyOf(place);
    let bytes: Uint8Array;
    try {
      bytes = await this.store.get(key);
    } catch (error) {
      if (error instanceof TsdbError && error.kind === "not_found") return null;
      throw error;
    }
    return inFile(key, () => readValue(decodeSnapshot(key, bytes, { kind, last: 1 }).state));
  }
}

function readOrigin(value: unknown): Origin {
  const origin = readObject("backup", value);
  const { type, parent } = origin;
  if (type !== "full" && type !== "incremental") badValue("type", type, "full or incremental");
  return {
    name: readText("name", origin["name"]),
    type,
    parent: parent === null ? null : readText("parent", parent),
    run: readText("run", origin["run"]),
    source: readText("source", origin["source"]),
    createdMs: readCount("createdMs", origin["createdMs"]),
  };
}

function readAttempt(value: unknown): Attempt {
  const { error } = readObject("attempt", value);
  return { ...readOrigin(value), error: error === null ? null : readText("error", error) };
}

function readRecord(value: unknown): BackupRecord {
  const record = readObject("backup", value);
  const count = (name: string) => readCount(name, record[name]);
  return { ...readOrigin(value), completedMs: count("completedMs"), totalFiles: count("totalFiles"), totalBytes: count("totalBytes") };
}
