// SELECT … INTO: writes a statement's rows, formatted as line protocol, through the write path.
import { TsdbError } from "../../model/errors.ts";
import { validateDatabaseName } from "../../model/names.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import { Precision } from "../../model/time/precision.ts";
import type { IncomingBody, WriteService } from "../../model/write.ts";

/** Bytes written at a time. */
const BODY_BYTES = 4 << 20;

/** Writes `lines`, whose pieces consist of whole lines. Resolves to the number of rows once they are durable. @throws TsdbError errors
 *  of `lines`; bad_request for an invalid database name, or rows that do not fit the table */
export async function writeInto(service: WriteService, database: string, lines: QueryAnswer["body"]): Promise<number> {
  validateDatabaseName(database);
  let written = 0;
  let body: IncomingBody | undefined;
  try {
    for await (const bytes of piecesOf(lines)) {
      if (bytes.byteLength === 0) continue;
      body ??= await service.receive(undefined);
      body.append(bytes);
      if (body.byteCount < BODY_BYTES) continue;
      written += await write(body, database);
      body = undefined;
    }
    if (body !== undefined) written += await write(body, database);
    return written;
  } finally {
    body?.release();
  }
}

async function* piecesOf(body: QueryAnswer["body"]): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else for await (const bytes of body) yield bytes;
}

async function write(body: IncomingBody, database: string): Promise<number> {
  const result = await body.write({ database, precision: Precision.nanosecond, acceptPartial: true, noSync: false });
  const [first] = result.lineErrors;
  if (result.rejectedCount === 0 || first === undefined) return result.rowCount;
  throw new TsdbError("bad_request", `partial write: ${first.errorMessage} dropped=${result.rejectedCount}`);
}
