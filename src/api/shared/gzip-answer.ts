// Compresses answers for clients that accept gzip: short ones at once, longer ones in the process's thread pool rather than on the event
// loop.
import { Duplex } from "node:stream";
import { promisify } from "node:util";
import zlib from "node:zlib";
import type { Server } from "bun";
import type { QueryAnswer } from "../../model/query/query.ts";

/** Which answers are compressed. */
export interface GzipRule {
  /** Of a body. Shorter ones fit into about one packet. */
  readonly bytesMin: number;
  /** Whether `*` means gzip. */
  readonly mayBeStar: boolean;
  /** Whether clients on this machine get uncompressed bytes: copying those is cheaper. */
  readonly isPlainLocally: boolean;
}

/** Of port 8181. */
const DEFAULT_RULE: GzipRule = { bytesMin: 2048, mayBeStar: true, isPlainLocally: true };
/** Of port 8086, as release 2.8.0. */
export const V2_RULE: GzipRule = { bytesMin: 1400, mayBeStar: false, isPlainLocally: false };
const LEVEL = 1;
/** Up to here compressing takes less processor time in all than the pool with its request, and the answer waits for no other thread. Whole
 *  answers of workers are no longer. */
const AT_ONCE_BYTES_MAX = 128 << 10;
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;
const HEADERS = { "content-encoding": "gzip", vary: "accept-encoding" };

export interface EncodedAnswer extends QueryAnswer {
  readonly headers: Readonly<Record<string, string>>;
}

const gzip = promisify<Uint8Array, zlib.ZlibOptions, Uint8Array>(zlib.gzip);

/** The answer, compressed where that pays off. */
export async function compressed(
  answer: QueryAnswer,
  request: Request,
  server: Server<unknown> | null,
  { bytesMin, mayBeStar, isPlainLocally }: GzipRule = DEFAULT_RULE,
): Promise<EncodedAnswer> {
  const { body, contentType } = answer;
  const isShort = body instanceof Uint8Array && body.byteLength < bytesMin;
  const isAccepted = acceptsGzip(request.headers.get("accept-encoding"), mayBeStar);
  if (isShort || !isAccepted || (isPlainLocally && isLocal(request, server))) return { ...answer, headers: {} };
  if (body instanceof Uint8Array) {
    const isAtOnce = body.byteLength <= AT_ONCE_BYTES_MAX;
    const bytes = isAtOnce ? Bun.gzipSync(body, { level: LEVEL, library: "libdeflate" }) : await gzip(body, { level: LEVEL });
    return { contentType, body: bytes as Uint8Array<ArrayBuffer>, headers: HEADERS };
  }
  const transform = Duplex.toWeb(zlib.createGzip({ level: LEVEL })) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
  return { contentType, body: body.pipeThrough(transform), headers: HEADERS };
}

function isLocal(request: Request, server: Server<unknown> | null): boolean {
  const address = server?.requestIP(request)?.address;
  return address !== undefined && LOOPBACK.test(address);
}

/** True for `gzip` or, where it `mayBeStar`, `*`, unless its weight is 0. */
export function acceptsGzip(header: string | null, mayBeStar = true): boolean {
  return (header ?? "").split(",").some((coding) => {
    const [name = "", ...parameters] = coding.split(";").map((part) => part.trim().toLowerCase());
    return (name === "gzip" || (mayBeStar && name === "*")) && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
