// Sources: servers whose data pages show. One is built in: this server. Its secrets are encrypted wherever they are kept.
import { TsdbError } from "../../../model/errors.ts";
import type { SecretBox } from "../../access/secret-box.ts";
import type { RecordTypes } from "../../store/kinds.ts";
import type { Metadata } from "../../store/metadata.ts";
import { isElsewhere } from "../origins.ts";

/** What a source is asked with. "": none. */
export interface SourceSecrets {
  readonly token: string;
  readonly password: string;
  readonly sharedSecret: string;
}
type SourceRecord = RecordTypes["source"];
export type NewSource = Omit<SourceRecord, "sealedSecrets"> & SourceSecrets;
export type Source = NewSource & { readonly id: string };
export type SourceUpdate = Partial<Omit<NewSource, "orgID" | "isDefault">>;

type SourceRow = Omit<SourceRecord, "isDefault" | "insecureSkipVerify"> & {
  readonly id: string;
  readonly isDefault: number;
  readonly insecureSkipVerify: number;
};

/** What a source's secrets are sealed for. */
export const sourceContext = (id: string): string => `source/${id}`;

const NO_SECRETS: SourceSecrets = { token: "", password: "", sharedSecret: "" };

/** This server, as clients of the vendor know it. Its organization is none of those that there are. */
const BUILT_IN: Source = {
  ...{ id: "020f755c3c082000", orgID: "50616e67652c206c", isDefault: true, name: "autogen", type: "self" },
  ...{ url: "", metaUrl: "", telegraf: "", defaultRP: "", username: "", insecureSkipVerify: false, ...NO_SECRETS },
};

/** Creates, finds, changes and deletes sources. */
export class Sources {
  constructor(
    private readonly metadata: Metadata,
    private readonly box: SecretBox,
  ) {}

  find(id: string): Source | null {
    if (id === BUILT_IN.id) return BUILT_IN;
    const row = this.row(id);
    return row === null ? null : this.sourceOf(row);
  }

  /** @throws TsdbError not_found */
  get(id: string): Source {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "source not found");
    return found;
  }

  /** The built-in one, and those of all organizations in order of creation. */
  heads(): Pick<Source, "id" | "orgID">[] {
    const sql = "select id, orgID from sources order by id";
    const { id, orgID: builtIn } = BUILT_IN;
    return [{ id, orgID: builtIn }, ...this.metadata.view.all<Pick<Source, "id" | "orgID">>(sql)];
  }

  create(source: NewSource): Promise<Source> {
    return this.metadata.change((change) => {
      const id = change.newId();
      change.put("source", id, this.recordOf({ id, ...source }));
      return { id, ...source };
    });
  }

  /** With the address of another server those secrets are gone that are not given again.
   *  @throws TsdbError not_found, forbidden */
  update(id: string, changes: SourceUpdate): Promise<Source> {
    return this.metadata.change((change) => {
      const before = this.changeable(id, "change");
      const isMoved = isElsewhere(changes.url, before.url);
      const source = { ...before, ...(isMoved ? NO_SECRETS : {}), ...changes };
      // what was encrypted with another key stays, until other secrets are given
      const isSealedAnew = isMoved || Object.keys(NO_SECRETS).some((name) => name in changes);
      const sealed = isSealedAnew ? {} : { sealedSecrets: this.row(id)!.sealedSecrets };
      change.put("source", id, { ...this.recordOf(source), ...sealed });
      return source;
    });
  }

  /** @throws TsdbError not_found, forbidden */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.changeable(id, "delete");
      change.remove("source", id);
    });
  }

  private changeable(id: string, what: string): Source {
    if (id === BUILT_IN.id) throw new TsdbError("forbidden", `cannot ${what} autogen source`);
    return this.get(id);
  }

  private row(id: string): SourceRow | null {
    return this.metadata.view.get<SourceRow>("select * from sources where id = ?", id);
  }

  private recordOf({ id, token, password, sharedSecret, ...source }: Source): SourceRecord {
    return { ...source, sealedSecrets: this.box.seal(JSON.stringify({ token, password, sharedSecret }), sourceContext(id)) };
  }

  private sourceOf({ sealedSecrets, isDefault, insecureSkipVerify, ...row }: SourceRow): Source {
    const secrets = secretsIn(this.box.open(sealedSecrets, sourceContext(row.id)));
    return { ...row, ...secrets, isDefault: isDefault !== 0, insecureSkipVerify: insecureSkipVerify !== 0 };
  }
}

/** @param text null: encrypted with another key. A backup may hold any text. */
function secretsIn(text: string | null): SourceSecrets {
  const given = (text === null ? {} : parsed(text)) as Readonly<Record<string, unknown>> | null;
  const secret = (name: keyof SourceSecrets): string => {
    const value = given?.[name];
    return typeof value === "string" ? value : "";
  };
  return { token: secret("token"), password: secret("password"), sharedSecret: secret("sharedSecret") };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
