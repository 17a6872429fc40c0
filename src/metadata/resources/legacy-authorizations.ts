// Authorizations of v1 clients: a user name and a password instead of a token.
import { TsdbError } from "../../model/errors.ts";
import type { Permission } from "../access/permissions.ts";
import type { RecordTypes } from "../store/kinds.ts";
import type { Metadata } from "../store/metadata.ts";
import type { Authorization, AuthorizationFilter, AuthorizationHead, AuthorizationUpdate, NewAuthorization } from "./authorizations.ts";

type LegacyRow = Omit<RecordTypes["legacy_authorization"], "permissions"> & {
  readonly id: string;
  readonly permissions: string;
  readonly org: string;
  readonly user: string;
};

const SELECT = `select a.*, o.name as org, u.name as user from legacyAuthorizations a
  join organizations o on o.id = a.orgID join users u on u.id = a.userID`;

/** Their `token` is the user name. */
export class LegacyAuthorizations {
  constructor(private readonly metadata: Metadata) {}

  /** @throws TsdbError not_found */
  get(id: string): Authorization {
    return shown(this.row(id));
  }

  /** @throws TsdbError not_found */
  byName(username: string): Authorization {
    return shown(this.row(username, "username"));
  }

  find(id: string): Authorization | null {
    const row = this.metadata.view.get<LegacyRow>(`${SELECT} where a.id = ?`, id);
    return row === null ? null : shown(row);
  }

  /** Without what they hold, in order of creation. */
  heads({ orgID, userID }: AuthorizationFilter): AuthorizationHead[] {
    const sql = `select a.id, a.orgID, a.userID from legacyAuthorizations a join users u on u.id = a.userID
      where (?1 is null or a.orgID = ?1) and (?2 is null or a.userID = ?2) order by a.id`;
    return this.metadata.view.all(sql, orgID ?? null, userID ?? null);
  }

  /** @throws TsdbError bad_request for an unknown organization or user, already_exists */
  async create(wanted: NewAuthorization & { readonly username: string }): Promise<Authorization> {
    const id = await this.metadata.change((change) => {
      const { view } = this.metadata;
      const hasOrg = view.get("select id from organizations where id = ?", wanted.orgID) !== null;
      if (!hasOrg || view.get("select id from users where id = ?", wanted.userID) === null) {
        throw new TsdbError("bad_request", "unable to create token");
      }
      if (view.get("select id from legacyAuthorizations where username = ?", wanted.username) !== null) {
        throw new TsdbError("already_exists", "token already exists");
      }
      const made = change.newId();
      change.put("legacy_authorization", made, { ...wanted, createdAt: change.now, updatedAt: change.now, passwordHash: null });
      return made;
    });
    return this.get(id);
  }

  /** @throws TsdbError not_found */
  async update(id: string, { status, description }: AuthorizationUpdate): Promise<Authorization> {
    await this.put(id, (row) => ({ ...row, status: status ?? row.status, description: description ?? row.description }));
    return this.get(id);
  }

  /** @throws TsdbError not_found */
  setPassword(id: string, passwordHash: string): Promise<void> {
    return this.put(id, (row) => ({ ...row, passwordHash }));
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      change.remove("legacy_authorization", id);
    });
  }

  private put(
    id: string,
    changed: (row: RecordTypes["legacy_authorization"]) => Omit<RecordTypes["legacy_authorization"], "updatedAt">,
  ): Promise<void> {
    return this.metadata.change((change) => {
      const { id: _, org: __, user: ___, ...row } = this.row(id);
      const before = { ...row, permissions: JSON.parse(row.permissions) as Permission[] };
      change.put("legacy_authorization", id, { ...changed(before), updatedAt: change.now });
    });
  }

  private row(value: string, by: "id" | "username" = "id"): LegacyRow {
    const row = this.metadata.view.get<LegacyRow>(`${SELECT} where a.${by} = ?`, value);
    if (row === null) throw new TsdbError("not_found", "authorization not found");
    return row;
  }
}

function shown({ passwordHash: _, username, ...row }: LegacyRow): Authorization {
  return { ...row, permissions: JSON.parse(row.permissions) as Permission[], token: username };
}
