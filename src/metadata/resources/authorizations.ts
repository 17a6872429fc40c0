// Authorizations: the API tokens of the v2 line. Of a token the log keeps its hash, by which it is found, and, unless tokens are to be
// shown once only, its encrypted text for lists.
import { randomBytes } from "node:crypto";
import { TsdbError } from "../../model/errors.ts";
import type { Permission } from "../access/permissions.ts";
import type { SecretBox } from "../access/secret-box.ts";
import type { AuthorizationRecord, RecordTypes, Status } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";

export interface Authorization extends AuthorizationRecord {
  readonly id: string;
  /** "" where it is not kept. */
  readonly token: string;
  readonly org: string;
  readonly user: string;
}

export interface NewAuthorization {
  readonly orgID: string;
  readonly userID: string;
  readonly status: Status;
  readonly description: string;
  readonly permissions: readonly Permission[];
}

export type AuthorizationHead = Pick<Authorization, "id" | "orgID" | "userID">;

export interface AuthorizationFilter {
  readonly orgID?: string | undefined;
  readonly userID?: string | undefined;
}

export interface AuthorizationUpdate {
  readonly status?: Status;
  readonly description?: string;
}

type Row = Omit<RecordTypes["authorization"], "permissions"> & {
  readonly id: string;
  readonly permissions: string;
  readonly org: string;
  readonly user: string;
};

const TOKEN_BYTES = 64;
/** Of users who are there: what belongs to a deleted one is not listed. */
const SELECT = `select a.*, o.name as org, u.name as user from authorizations a
  join organizations o on o.id = a.orgID join users u on u.id = a.userID`;

/** Creates, finds, changes and deletes authorizations. */
export class Authorizations {
  constructor(
    private readonly metadata: Metadata,
    private readonly box: SecretBox,
    /** Tokens are shown once. */
    readonly keepsHashesOnly: boolean,
  ) {}

  get count(): number {
    return this.metadata.view.count("from authorizations");
  }

  /** There are tokens, and the text of none is kept. */
  get hasHashesOnly(): boolean {
    return this.count > 0 && this.metadata.view.count("from authorizations where sealedToken is not null") === 0;
  }

  /** @throws TsdbError not_found, also where its user is deleted */
  get(id: string): Authorization {
    const found = this.find(id);
    if (found !== null) return found;
    this.head(id);
    throw new TsdbError("not_found", "user not found");
  }

  /** Also of a deleted user. @throws TsdbError not_found */
  head(id: string): AuthorizationHead {
    const found = this.metadata.view.get<AuthorizationHead>("select id, orgID, userID from authorizations where id = ?", id);
    if (found === null) throw new TsdbError("not_found", "authorization not found");
    return found;
  }

  find(id: string): Authorization | null {
    const row = this.metadata.view.get<Row>(`${SELECT} where a.id = ?`, id);
    return row === null ? null : this.shown(row);
  }

  /** In order of creation. */
  list(filter: AuthorizationFilter): Authorization[] {
    return this.heads(filter).map(({ id }) => this.get(id));
  }

  /** The same without what they hold. */
  heads({ orgID, userID }: AuthorizationFilter): AuthorizationHead[] {
    const sql = `select a.id, a.orgID, a.userID from authorizations a join users u on u.id = a.userID
      where (?1 is null or a.orgID = ?1) and (?2 is null or a.userID = ?2) order by a.id`;
    return this.metadata.view.all(sql, orgID ?? null, userID ?? null);
  }

  /** With the text of its new token. @throws TsdbError bad_request for an unknown organization or user */
  async create(wanted: NewAuthorization, how?: { readonly hashOnly: boolean }): Promise<Authorization> {
    const { id, token } = await this.metadata.change((change) => this.planCreate(change, wanted, newToken(), how));
    return { ...this.get(id), token };
  }

  /** @throws TsdbError bad_request, already_exists */
  planCreate(
    change: Change,
    wanted: NewAuthorization,
    token: string,
    { hashOnly } = { hashOnly: this.keepsHashesOnly },
  ): { readonly id: string; readonly token: string } {
    const { view } = this.metadata;
    const hasOrg = view.get("select id from organizations where id = ?", wanted.orgID) !== null;
    if (!hasOrg || view.get("select id from users where id = ?", wanted.userID) === null) {
      throw new TsdbError("bad_request", "unable to create token");
    }
    const tokenHash = hashOf(token);
    if (view.get("select id from authorizations where tokenHash = ?", tokenHash) !== null) {
      throw new TsdbError("already_exists", "token already exists");
    }
    const id = change.newId();
    const sealedToken = hashOnly ? null : this.box.seal(token, tokenContext(id));
    change.put("authorization", id, { ...wanted, createdAt: change.now, updatedAt: change.now, tokenHash, sealedToken });
    return { id, token };
  }

  /** @throws TsdbError not_found */
  async update(id: string, { status, description }: AuthorizationUpdate): Promise<Authorization> {
    await this.metadata.change((change) => {
      this.get(id);
      const { id: _, org: __, user: ___, ...row } = this.metadata.view.get<Row>(`${SELECT} where a.id = ?`, id)!;
      change.put("authorization", id, {
        ...row,
        permissions: JSON.parse(row.permissions) as Permission[],
        status: status ?? row.status,
        description: description ?? row.description,
        updatedAt: change.now,
      });
    });
    return this.get(id);
  }

  /** Also of a deleted user. @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.head(id);
      change.remove("authorization", id);
    });
  }

  private shown({ tokenHash: _, sealedToken, ...row }: Row): Authorization {
    const token = sealedToken === null ? "" : (this.box.open(sealedToken, tokenContext(row.id)) ?? "");
    return { ...row, permissions: JSON.parse(row.permissions) as Permission[], token };
  }
}

/** 86 characters of URL-safe base64 and `==`. */
export function newToken(): string {
  return `${randomBytes(TOKEN_BYTES).toString("base64url")}==`;
}

/** A made token has 512 random bits, so one round is enough; a text that a user chose at setup is as good as the user made it. */
export function hashOf(token: string): string {
  return Bun.SHA512.hash(token, "hex");
}

/** The hash that the vendor's server keeps of a token, in its text form: setup answers with it where tokens are shown once. */
export function phcHashOf(token: string): string {
  const base64 = Bun.SHA256.hash(token, "base64").replaceAll("+", "-").replaceAll("/", "_");
  return `$influxdb2-sha256$${base64}`;
}

/** What a sealed token belongs to. */
export function tokenContext(id: string): string {
  return `authorization ${id}`;
}
