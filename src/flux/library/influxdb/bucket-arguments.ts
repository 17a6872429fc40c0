// The arguments of sources and of what writes that name a bucket and its organization.
import type { BucketInfo } from "../../interpret/flux-source.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxError } from "../../values/flux-error.ts";
import type { NativeCall } from "../native-call.ts";

const ID = /^[0-9a-f]{16}$/;

export const NEEDS_HOST = "influxdb provider requires a host to be specified";

/** @throws FluxError: both are given */
export function checkOneOf(call: NativeCall, first: string, second: string): void {
  if (call.has(first) && call.has(second)) throw new FluxError(`must specify only one of ${first} or ${second}`);
}

/** A host without a name: what reads asks no server then. */
export function hasEmptyHost(call: NativeCall): boolean {
  return call.has("host") && call.string("host") === "";
}

/** A host that is asked for its buckets needs an organization. */
export function lacksOrganization(call: NativeCall): boolean {
  return call.has("host") && !call.has("org") && !call.has("orgID");
}

/** As recorded: naming an organization is refused, even if it is the sender's. */
export function otherOrganization(what: string): string {
  return `${what} a separate organization; please specify a host or remove the organization`;
}

/** An error before any row is computed. */
export function startError(problem: string, code?: "not found" | "forbidden"): FluxError {
  return new FluxError(`failed to initialize execute state: ${problem}`, code);
}

/** The id of a bucket given by its name or id. @throws FluxError if there is none */
export function bucketId(run: ScriptRun, name: string | null, id: string | null): string {
  return namedBucket(run, name, id).id;
}

/** The same of a bucket that is written. @throws FluxError if there is none, or the sender may only read it */
export function writtenBucketId(run: ScriptRun, name: string | null, id: string | null): string {
  const bucket = namedBucket(run, name, id);
  if (bucket.isReadOnly === true) throw startError("user not authorized to write", "forbidden");
  return bucket.id;
}

function namedBucket(run: ScriptRun, name: string | null, id: string | null): BucketInfo {
  if ((name ?? id) === "") throw startError("no bucket name or id have been specified");
  if (id !== null && !ID.test(id)) throw startError("invalid bucket id: id must have a length of 16 bytes");
  const found = run.source.bucket(name === null ? { id: id! } : { name });
  if (found === undefined) throw startError(`could not find bucket "${name ?? id}"`, "not found");
  return found;
}

/** Only the script's own organization is written here; empty texts name none. @throws FluxError */
export function checkOwnOrganization({ source }: ScriptRun, name: string, id: string): void {
  const own = source.organization();
  if (name !== "" && name !== own.name && source.seesOrganization?.(name) !== true)
    throw startError(`could not find org "${name}"`, "not found");
  if (id !== "" && !ID.test(id)) throw startError("invalid org id: id must have a length of 16 bytes");
  if ((name !== "" && name !== own.name) || (id !== "" && id !== own.id)) {
    throw startError("host must be specified when writing points to another org");
  }
}
