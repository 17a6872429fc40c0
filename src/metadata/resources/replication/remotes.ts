// Remote connections: servers that replications send rows to. Nobody is shown the token, which is encrypted wherever it is kept.
import { TsdbError } from "../../../model/errors.ts";
import type { SecretBox } from "../../access/secret-box.ts";
import type { RecordTypes } from "../../store/kinds.ts";
import type { Change, Metadata } from "../../store/metadata.ts";
import { isElsewhere } from "../origins.ts";

export type Remote = Omit<RecordTypes["remote"], "sealedToken"> & { readonly id: string };
/** What a client gives. */
export type NewRemote = Omit<Remote, "id"> & { readonly token: string };
type RemoteRow = Omit<RecordTypes["remote"], "allowInsecureTLS"> & { readonly id: string; readonly allowInsecureTLS: number };

/** What a remote's token is sealed for. */
export const remoteContext = (id: string): string => `remote/${id}`;

/** Creates, finds, changes and deletes remote connections. */
export class Remotes {
  constructor(
    private readonly metadata: Metadata,
    private readonly box: SecretBox,
  ) {}

  get count(): number {
    return this.metadata.view.count("from remotes");
  }

  find(id: string): Remote | null {
    const row = this.row(id);
    return row === null ? null : remoteOf(row);
  }

  /** @throws TsdbError not_found */
  get(id: string): Remote {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "remote connection not found");
    return found;
  }

  /** "" when it was encrypted with another key. @throws TsdbError not_found */
  token(id: string): string {
    this.get(id);
    return this.box.open(this.row(id)!.sealedToken, remoteContext(id)) ?? "";
  }

  /** In order of creation. */
  list({
    orgID,
    name,
    remoteURL,
  }: {
    readonly orgID: string;
    readonly name?: string | undefined;
    readonly remoteURL?: string | undefined;
  }): Remote[] {
    const sql = "select * from remotes where orgID = ?1 and (?2 is null or name = ?2) and (?3 is null or remoteURL = ?3) order by id";
    return this.metadata.view.all<RemoteRow>(sql, orgID, name ?? null, remoteURL ?? null).map(remoteOf);
  }

  /** @throws TsdbError already_exists */
  create({ token, ...remote }: NewRemote): Promise<Remote> {
    return this.metadata.change((change) => {
      const id = change.newId();
      return this.planPut(change, id, { ...remote, sealedToken: this.box.seal(token, remoteContext(id)) });
    });
  }

  /** With the address of another server the token is gone that is not given again. @throws TsdbError not_found, already_exists */
  update(id: string, { token: given, ...changed }: Partial<Omit<NewRemote, "orgID">>): Promise<Remote> {
    return this.metadata.change((change) => {
      const { id: _, ...before } = this.get(id);
      const token = given ?? (isElsewhere(changed.remoteURL, before.remoteURL) ? "" : undefined);
      const sealedToken = token === undefined ? this.row(id)!.sealedToken : this.box.seal(token, remoteContext(id));
      return this.planPut(change, id, { ...before, ...changed, sealedToken });
    });
  }

  /** @throws TsdbError not_found, unprocessable while a replication sends there */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      if (this.metadata.view.count("from replications where remoteID = ?", id) > 0) {
        throw new TsdbError("unprocessable", "remote-connection cannot be deleted as a replication references it");
      }
      this.planDelete(change, id);
    });
  }

  planDelete(change: Change, id: string): void {
    // those of other organizations
    const used = this.metadata.view.all<{ id: string }>("select id from replications where remoteID = ?", id);
    for (const replication of used) change.remove("replication", replication.id);
    change.remove("remote", id);
  }

  private planPut(change: Change, id: string, record: RecordTypes["remote"]): Remote {
    const same = "select id from remotes where orgID = ? and name = ? and id <> ?";
    if (this.metadata.view.get(same, record.orgID, record.name, id) !== null) {
      throw new TsdbError("already_exists", "UNIQUE constraint failed: remotes.org_id, remotes.name");
    }
    change.put("remote", id, record);
    const { sealedToken: _, ...shown } = record;
    return { id, ...shown };
  }

  private row(id: string): RemoteRow | null {
    return this.metadata.view.get<RemoteRow>("select * from remotes where id = ?", id);
  }
}

function remoteOf({ sealedToken: _, allowInsecureTLS, ...row }: RemoteRow): Remote {
  return { ...row, allowInsecureTLS: allowInsecureTLS !== 0 };
}
