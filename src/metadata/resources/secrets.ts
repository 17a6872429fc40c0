// Secrets of organizations: values that scripts and endpoints read and that nobody is shown. Encrypted wherever they are kept.
import { TsdbError } from "../../model/errors.ts";
import type { SecretBox } from "../access/secret-box.ts";
import type { RecordTypes } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";

type SecretRow = RecordTypes["secret"] & { readonly id: string };

/** Stores and reads the secrets of organizations. */
export class Secrets {
  constructor(
    private readonly metadata: Metadata,
    private readonly box: SecretBox,
  ) {}

  /** By key. */
  keys(orgID: string): string[] {
    return this.metadata.view.all<{ key: string }>("select key from secrets where orgID = ? order by key", orgID).map(({ key }) => key);
  }

  /** Ids of them, by key. */
  heads(orgID: string): { readonly id: string }[] {
    return this.metadata.view.all("select id from secrets where orgID = ? order by key", orgID);
  }

  /** The key of the one with this id; null: it is gone. */
  key(id: string): string | null {
    return this.metadata.view.get<{ key: string }>("select key from secrets where id = ?", id)?.key ?? null;
  }

  /** Null: there is none. @throws TsdbError config when it was encrypted with another key */
  value(orgID: string, key: string): string | null {
    const found = this.find(orgID, key);
    if (found === null) return null;
    const value = this.box.open(found.sealedValue, secretContext(orgID, key));
    if (value === null) throw new TsdbError("config", `the secret ${JSON.stringify(key)} was encrypted with another key`, { orgID, key });
    return value;
  }

  /** Null for those that were encrypted with another key. */
  all(orgID: string): Record<string, string | null> {
    const rows = this.metadata.view.all<SecretRow>("select * from secrets where orgID = ?", orgID);
    return Object.fromEntries(rows.map(({ key, sealedValue }) => [key, this.box.open(sealedValue, secretContext(orgID, key))]));
  }

  /** Adds them or replaces their values. */
  put(orgID: string, secrets: ReadonlyMap<string, string>): Promise<void> {
    return this.metadata.change((change) => this.planPut(change, orgID, secrets));
  }

  planPut(change: Change, orgID: string, secrets: ReadonlyMap<string, string>): void {
    for (const [key, value] of secrets) {
      const id = this.find(orgID, key)?.id ?? change.newId();
      change.put("secret", id, { orgID, key, sealedValue: this.box.seal(value, secretContext(orgID, key)) });
    }
  }

  /** Whether or not they are there. */
  delete(orgID: string, keys: readonly string[]): Promise<void> {
    return this.metadata.change((change) => {
      for (const key of new Set(keys)) {
        const found = this.find(orgID, key);
        if (found !== null) change.remove("secret", found.id);
      }
    });
  }

  private find(orgID: string, key: string): SecretRow | null {
    return this.metadata.view.get<SecretRow>("select * from secrets where orgID = ? and key = ?", orgID, key);
  }
}

/** What a sealed secret belongs to. */
export function secretContext(orgID: string, key: string): string {
  return `secret ${orgID} ${key}`;
}
