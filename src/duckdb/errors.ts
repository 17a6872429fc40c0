// Converts DuckDB's errors. The binding provides one message string; our databases send it as JSON with a kind and a position.
import { type ErrorKind, TsdbError } from "../model/errors.ts";

/** A parsed error: `kind` is DuckDB's exception type ("Binder", "Out of Memory" ...), `position` a byte offset in the SQL it was given. */
export interface EngineMessage {
  readonly kind: string;
  readonly message: string;
  readonly position: number | null;
}

/** Parses DuckDB's error text; for plain text, the kind is the part before the first colon. */
export function parseEngineMessage(text: string): EngineMessage {
  const brace = text.indexOf("{");
  if (brace >= 0) {
    try {
      const parsed = JSON.parse(text.slice(brace)) as { exception_type?: string; exception_message?: string; position?: string };
      if (typeof parsed.exception_type === "string") {
        const position = Number(parsed.position);
        return {
          kind: parsed.exception_type,
          message: parsed.exception_message ?? "",
          position: parsed.position === undefined || !Number.isSafeInteger(position) ? null : position,
        };
      }
    } catch {
      // not JSON: fall through to the plain form
    }
  }
  const plain = /^([A-Za-z ]+?)(?: Error| exception)?: ([\s\S]*)$/.exec(text);
  return plain === null ? { kind: "", message: text, position: null } : { kind: plain[1]!, message: plain[2]!, position: null };
}

const BUG_PREFIX = "BUG: DuckDB";
const LIMIT_KINDS = new Set(["Out of Memory", "OutOfMemory"]);
/** The system's messages for a spill file that cannot be written. */
const NO_SPACE = /No space left on device|Disk quota exceeded|Read-only file system|File too large/i;
const BUG_KINDS = new Set(["INTERNAL", "Internal", "FATAL", "Fatal"]);

/** The error kind of a message; null if the fault is ours or DuckDB's. */
export function errorKindOf(message: EngineMessage): ErrorKind | null {
  if (LIMIT_KINDS.has(message.kind)) return "query_limit";
  if (message.kind === "INTERRUPT" || message.kind === "Interrupt") return "cancelled";
  if (BUG_KINDS.has(message.kind)) return null;
  if (message.kind === "IO" && NO_SPACE.test(message.message)) return "no_space";
  return "bad_query";
}

/** True for errors that `engineError` creates from DuckDB's internal errors: after one, a database may reject everything. */
export function isEngineBug(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(BUG_PREFIX);
}

/** `engineKind` of an error without a reason from the binding. */
export const UNKNOWN_REASON = "Unknown";

/** For a result that failed while being read: the binding reports no reason. */
export function brokenResult(): TsdbError {
  return new TsdbError("bad_query", "the statement failed while its rows were read", { engineKind: UNKNOWN_REASON });
}

/** Converts DuckDB's `error`. Internal errors of DuckDB become plain Errors. @throws nothing */
export function engineError(error: unknown): Error {
  if (error instanceof TsdbError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const message = parseEngineMessage(text);
  const kind = errorKindOf(message);
  if (kind === null) return new Error(`${BUG_PREFIX} ${message.kind}: ${message.message}`, { cause: error });
  const details = message.position === null ? {} : { position: message.position };
  return new TsdbError(kind, message.message, { ...details, engineKind: message.kind }, { cause: error });
}
