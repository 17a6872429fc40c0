// Records as a backup has them. What is encrypted with the key of this server is readable in a backup, because another server is to take
// it: a backup is to be kept as secret as the server's folder.
import type { SecretBox } from "../access/secret-box.ts";
import { tokenContext } from "./authorizations.ts";
import { sourceContext } from "./pages/sources.ts";
import { remoteContext } from "./replication/remotes.ts";
import { secretContext } from "./secrets.ts";

/** As the catalog has them. */
interface PlainRecord {
  readonly of: string;
  readonly id: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Exports the records of a server, and replaces them by those of a backup. */
export class PortableRecords {
  constructor(
    private readonly box: SecretBox,
    private readonly keepsHashesOnly: boolean,
  ) {}

  /** What this server cannot open stays as it is. */
  opened<R extends PlainRecord>(record: R): R {
    const { value } = record;
    const place = placeOf(record);
    const sealed = place === null ? null : value[place.sealed];
    if (place === null || typeof sealed !== "string") return record;
    const text = this.box.open(sealed, place.context);
    return text === null ? record : { ...record, value: { ...value, [place.sealed]: null, [place.open]: text } };
  }

  /** What was sealed with the key before this one, sealed with this one; null for other records. */
  renewed<R extends PlainRecord>(record: R): R | null {
    const place = placeOf(record);
    const sealed = place === null ? null : record.value[place.sealed];
    if (place === null || typeof sealed !== "string" || !this.box.isOutdated(sealed, place.context)) return null;
    return this.sealed(this.opened(record));
  }

  /** The way back, with this server's key. */
  sealed<R extends PlainRecord>(record: R): R {
    const place = placeOf(record);
    const text = place === null ? undefined : record.value[place.open];
    if (place === null || typeof text !== "string") return record;
    const { [place.open]: _, ...value } = record.value;
    const isForgotten = record.of === "authorization" && this.keepsHashesOnly;
    return { ...record, value: { ...value, [place.sealed]: isForgotten ? null : this.box.seal(text, place.context) } };
  }
}

/** Where a record has its encrypted text, and under which name a backup has it. */
function placeOf({ of, id, value }: PlainRecord): { readonly sealed: string; readonly open: string; readonly context: string } | null {
  if (of === "authorization") return { sealed: "sealedToken", open: "token", context: tokenContext(id) };
  if (of === "remote") return { sealed: "sealedToken", open: "token", context: remoteContext(id) };
  if (of === "source") return { sealed: "sealedSecrets", open: "secrets", context: sourceContext(id) };
  if (of !== "secret") return null;
  return { sealed: "sealedValue", open: "secret", context: secretContext(String(value["orgID"]), String(value["key"])) };
}
