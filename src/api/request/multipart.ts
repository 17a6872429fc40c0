// Reads forms with one large file: it is handed on piece by piece, and nothing but the other fields is kept.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { near, TsdbError } from "../../model/errors.ts";

const FIELDS_MAX = 20;
const FIELD_BYTES_MAX = 4 << 20;
const HEADER_BYTES_MAX = 16 << 10;
const HEADERS_MAX = 20;

export interface FileForm {
  /** Fields but the file. */
  readonly fields: ReadonlyMap<string, string>;
  /** Null: the form has no file. */
  readonly fileName: string | null;
}

export interface FormFile {
  /** Name of the field. */
  readonly field: string;
  /** Takes the file, which is borrowed piece by piece; the fields before it are known. */
  readonly save: (pieces: AsyncIterable<Uint8Array>, fields: ReadonlyMap<string, string>) => Promise<void>;
}

/** Reads the form as fast as its file is saved. @throws TsdbError bad_request; what `body` and `save` throw */
export async function readFileForm(contentType: string, body: AsyncIterable<Uint8Array>, { field, save }: FormFile): Promise<FileForm> {
  const parser = openParser(contentType, field);
  const fields = new Map<string, string>();
  const files: { readonly name: string; readonly stream: BusboyFileStream; readonly saved: Promise<void> }[] = [];
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
    parser.destroy();
  };
  parser.on("field", (name, value, isNameCut, isCut) => {
    if (isNameCut || isCut) fail(bad(`field "${near(String(name))}" has more than ${FIELD_BYTES_MAX} bytes`));
    else if (fields.has(name)) fail(bad(`field "${near(name)}" is there twice`));
    else fields.set(name, value);
  });
  parser.on("file", (_, stream, name) => {
    // the parser tells the file of a cut form whether it is still read or not
    stream.on("error", (error) => fail(unreadable(error)));
    const saved = save(stream, fields);
    saved.catch(fail);
    files.push({ name: name ?? "", stream, saved });
  });
  parser.on("filesLimit", () => fail(bad(`field "${field}" is there twice`)));
  parser.on("partsLimit", () => fail(bad(`the form has more than ${FIELDS_MAX} fields`)));
  try {
    await pipeline(Readable.from(body, { objectMode: false }), parser);
    await files[0]?.saved;
  } catch (cause) {
    const known = failure;
    for (const { stream, saved } of files) {
      stream.destroy();
      await saved.catch(() => {}); // the first failure counts
    }
    if (known !== undefined) throw known;
    throw cause instanceof TsdbError ? cause : unreadable(cause);
  }
  if (failure !== undefined) throw failure;
  return { fields, fileName: files[0]?.name ?? null };
}

/** @throws TsdbError bad_request */
function openParser(contentType: string, file: string): Busboy {
  const want = 'the body must be a form: content-type "multipart/form-data" with a boundary';
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw bad(`${want}, got "${near(contentType)}"`);
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: {
        ...{ files: 1, parts: FIELDS_MAX, fieldSize: FIELD_BYTES_MAX },
        ...{ headerSize: HEADER_BYTES_MAX, headerPairs: HEADERS_MAX },
      },
      isPartAFile: (name) => name === file,
    });
  } catch (error) {
    throw bad(`${want}: ${near((error as Error).message)}`);
  }
}

function unreadable(error: unknown): TsdbError {
  return bad(`the multipart form cannot be read: ${near((error as Error).message, 100)}`);
}

function bad(message: string): TsdbError {
  return new TsdbError("bad_request", message);
}
