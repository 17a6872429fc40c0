// /api/v3/enterprise/import: Parquet files, imported into tables in the background.
import { t } from "elysia";
import type { AdminCaller } from "../../auth/authorizer.ts";
import { near, TsdbError } from "../../model/errors.ts";
import { IMPORT_TYPES, type ImportInfo, type ImportTable, type ImportType, type ReceivingFile } from "../../model/rows/import-jobs.ts";
import { operation } from "../docs/operation.ts";
import { BodyReader } from "../request/body.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import { readFileForm } from "../request/multipart.ts";
import type { AppServices } from "../services.ts";
import { json } from "../shared/respond.ts";
import { Routes } from "../shared/route.ts";
import { answered, failed } from "./job-answers.ts";

const PATH = "/api/v3/enterprise/import";
const FILE_FIELD = "file_bytes";
const FILE_BYTES_MAX = 64 * 2 ** 30;
/** As the vendor's clients write the member. */
const MAPPING_NAMES = ["column_mapping", "schema", "column_metadata"] as const;

const ColumnMapping = t.Object({
  column_mapping: t.Record(t.String(), t.Union(IMPORT_TYPES.map((type) => t.Literal(type)))),
});
const Form = t.Object({
  database: t.String({ description: "Database." }),
  table: t.String({ description: "A table that exists." }),
  file_bytes: t.String({ format: "binary", description: "One Parquet file." }),
  column_metadata: t.Optional(
    t.String({ description: 'What columns become, as JSON: `{"column_mapping": {"room": "tag", "temp": "f64", "at": "time"}}`.' }),
  ),
});
const Time = t.Integer({ description: "Nanoseconds since 1970." });
const Job = t.Object({
  upload_uuid: t.String(),
  db_id: t.Integer(),
  table_id: t.Integer(),
  filename: t.String(),
  status: t.Union(
    (["queued", "dispatched", "imported", "compacted", "failed", "terminal_failed"] as const).map((status) => t.Literal(status)),
    { description: "`failed` is tried again, `terminal_failed` is not; `compacted`: the rows have been merged with others." },
  ),
  last_message: t.Optional(t.String({ description: "Why it failed." })),
  created_at: Time,
  started_at: t.Optional(Time),
  completed_at: t.Optional(Time),
  last_updated_at: t.Optional(Time),
  column_metadata: t.Optional(ColumnMapping),
  iox_parquet: t.Boolean({ description: "The file says itself what its columns are, as exported ones do." }),
  size_bytes: t.Integer(),
  row_count: t.Integer(),
  min_timestamp_ns: t.Integer({ description: "As the file's statistics have it; 0 if they do not, until it is imported." }),
  max_timestamp_ns: t.Integer(),
});

const COMMON = { tag: "Import", access: "admin" } as const;
const ANSWERS = {
  403: failed("The credentials are not an admin token's; a user who is an admin may not import."),
  503: failed("The server runs without --use-pacha-tree, is replaying its log, is stopping, has no space, or too many files wait."),
};

/** What the documentation says of each route. */
const OPERATIONS = {
  start: operation({
    ...{ ...COMMON, summary: "Import a Parquet file", body: { "multipart/form-data": Form } },
    description:
      "The file is checked, kept, and imported in the background. All its rows appear at once, as written at that moment: they win over " +
      "rows of the same series and time that are there. Columns become what `column_metadata` says, or the file itself, or the table; " +
      "others are fields of the file's types. A file that is refused changes nothing.",
    answers: {
      ...ANSWERS,
      200: { description: "It waits to be imported.", content: { "application/json": Job } },
      400: failed("The form, the file or `column_metadata` cannot be understood, or the table cannot have the columns."),
      404: failed("The database or table does not exist."),
      413: failed("The file is too large."),
    },
  }),
  list: operation({
    ...{ ...COMMON, summary: "List imports" },
    answers: {
      ...ANSWERS,
      200: {
        description: "All that wait, and the newest that have ended, the newest first.",
        content: { "application/json": t.Array(Job) },
      },
    },
  }),
};

/** Only with the extended edition. */
export const importRoutes = (services: AppServices) => {
  const reader = new BodyReader(FILE_BYTES_MAX, services.now);
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  return routes
    .post(PATH, OPERATIONS.start, (call) =>
      answered(services, call, async () => {
        requireToken(call.caller);
        const restoreIdleLimit = liftIdleLimit(call.server, call.request);
        try {
          return json(200, shown(await receive(services, reader, call)));
        } finally {
          restoreIdleLimit();
        }
      }),
    )
    .get(PATH, OPERATIONS.list, (call) =>
      answered(services, call, async () => {
        requireToken(call.caller);
        return json(200, (await services.imports(call.caller).list()).map(shown));
      }),
    );
};

/** @throws TsdbError forbidden for a user, whatever the role */
function requireToken(caller: AdminCaller): void {
  if (caller.isUser) throw new TsdbError("forbidden", "imports need an admin token");
}

interface ImportCall {
  readonly request: Request;
  readonly caller: AdminCaller;
}

async function receive(services: AppServices, reader: BodyReader, { request, caller }: ImportCall): Promise<ImportInfo> {
  const imports = services.imports(caller);
  let file: ReceivingFile | null = null;
  let isTaken = false;
  try {
    const { fields, fileName } = await readFileForm(request.headers.get("content-type") ?? "", reader.pieces(request), {
      field: FILE_FIELD,
      save: async (pieces, before) => {
        const receiving = await imports.receive(tableIn(before));
        file = receiving;
        for await (const piece of pieces) await receiving.append(piece);
        await receiving.finish();
      },
    });
    const received = file as ReceivingFile | null;
    const table = tableIn(fields);
    if (table === null) throw new TsdbError("bad_request", `the form has no field "${fields.get("database") ? "table" : "database"}"`);
    if (received === null) throw new TsdbError("bad_request", `the form has no file "${FILE_FIELD}"`);
    const { id, byteCount } = received;
    const columns = columnsIn(fields.get("column_metadata"));
    const job = await imports.start({ ...table, fileName: fileName ?? "", id, byteCount, columns });
    isTaken = true;
    return job;
  } finally {
    if (!isTaken) await (file as ReceivingFile | null)?.discard();
  }
}

function tableIn(fields: ReadonlyMap<string, string>): ImportTable | null {
  const database = fields.get("database") ?? "";
  const table = fields.get("table") ?? "";
  return database === "" || table === "" ? null : { database, table };
}

/** @throws TsdbError bad_request */
function columnsIn(text: string | undefined): ReadonlyMap<string, ImportType> | null {
  if (text === undefined || text.trim() === "") return null;
  const bad = (what: string) => new TsdbError("bad_request", `column_metadata: ${what}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw bad((error as Error).message);
  }
  const isObject = (each: unknown): each is object => typeof each === "object" && each !== null && !Array.isArray(each);
  const name = isObject(value) ? MAPPING_NAMES.find((each) => Object.hasOwn(value as object, each)) : undefined;
  const mapping = name === undefined ? undefined : (value as Record<string, unknown>)[name];
  if (!isObject(mapping)) throw bad(`want {"column_mapping": {"column": "type"}}, got ${near(text)}`);
  return new Map(
    Object.entries(mapping).map(([column, type]) => {
      const known = IMPORT_TYPES.find((each) => each === type);
      if (known === undefined) throw bad(`"${near(column)}" is ${near(JSON.stringify(type))}, want one of ${IMPORT_TYPES.join(", ")}`);
      return [column, known];
    }),
  );
}

/** A number of 64 bits, exactly. */
function exact(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value));
}

function shown(job: ImportInfo): Record<string, unknown> {
  const { id, databaseId, tableId, fileName, status, message, columns, isOwn, byteCount, rowCount, minTimeNs, maxTimeNs } = job;
  const time = (ms: number) => exact(BigInt(Math.round(ms)) * 1_000_000n);
  return {
    ...{ upload_uuid: id, db_id: databaseId, table_id: tableId, filename: fileName, status },
    ...(message === null ? {} : { last_message: message }),
    created_at: time(job.createdMs),
    ...(job.startedMs === null ? {} : { started_at: time(job.startedMs) }),
    ...(job.completedMs === null ? {} : { completed_at: time(job.completedMs) }),
    last_updated_at: time(job.updatedMs),
    ...(columns === null ? {} : { column_metadata: { column_mapping: Object.fromEntries(columns) } }),
    ...{ iox_parquet: isOwn, size_bytes: byteCount, row_count: rowCount },
    ...{ min_timestamp_ns: exact(minTimeNs), max_timestamp_ns: exact(maxTimeNs) },
  };
}
