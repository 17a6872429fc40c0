// Imports of a real server, as clients ask for them.
import type { TestServer } from "./server.ts";

export const IMPORTS = "/api/v3/enterprise/import";

export interface ImportJob {
  readonly upload_uuid: string;
  readonly db_id: number;
  readonly table_id: number;
  readonly filename: string;
  readonly status: string;
  readonly last_message?: string;
  readonly created_at: number;
  readonly started_at?: number;
  readonly completed_at?: number;
  readonly last_updated_at: number;
  readonly column_metadata?: { readonly column_mapping: Readonly<Record<string, string>> };
  readonly iox_parquet: boolean;
  readonly size_bytes: number;
  readonly row_count: number;
  readonly min_timestamp_ns: number;
  readonly max_timestamp_ns: number;
}

export interface ImportOptions {
  readonly columns?: Readonly<Record<string, string>>;
  readonly fileName?: string;
  readonly token?: string;
}

/** The form of an import. */
export function importForm(database: string, table: string, file: Uint8Array<ArrayBuffer>, options: ImportOptions = {}): FormData {
  const form = new FormData();
  form.set("database", database);
  form.set("table", table);
  form.set("file_bytes", new Blob([file]), options.fileName ?? "rows.parquet");
  if (options.columns !== undefined) form.set("column_metadata", JSON.stringify({ column_mapping: options.columns }));
  return form;
}

/** Sends it; resolves to the answer. */
export async function sendImport(
  server: TestServer,
  body: FormData | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${server.url}${IMPORTS}`, { method: "POST", body, headers });
  return { status: response.status, text: await response.text() };
}

/** All jobs, the newest first. */
export async function importJobs(server: TestServer, token?: string): Promise<ImportJob[]> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${server.url}${IMPORTS}`, { headers });
  if (response.status !== 200) throw new Error(`imports: ${response.status} ${await response.text()}`);
  return (await response.json()) as ImportJob[];
}

/** The job when it has ended. */
export async function endOf(server: TestServer, id: string, token?: string): Promise<ImportJob> {
  for (;;) {
    const job = (await importJobs(server, token)).find(({ upload_uuid }) => upload_uuid === id);
    if (job === undefined) throw new Error(`no import ${id}`);
    if (["imported", "compacted", "terminal_failed"].includes(job.status)) return job;
    await Bun.sleep(5);
  }
}

/** Imports a file; resolves to the job when it has ended. @throws Error unless it was taken */
export async function importFile(
  server: TestServer,
  database: string,
  table: string,
  file: Uint8Array<ArrayBuffer>,
  options: ImportOptions = {},
): Promise<ImportJob> {
  const headers: Record<string, string> = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  const { status, text } = await sendImport(server, importForm(database, table, file, options), headers);
  if (status !== 200) throw new Error(`import: ${status} ${text}`);
  return endOf(server, (JSON.parse(text) as ImportJob).upload_uuid, options.token);
}
