// Users: who signs in, and whom authorizations belong to.
import { TsdbError } from "../../model/errors.ts";
import type { RecordTypes, Status } from "../store/kinds.ts";
import type { Metadata } from "../store/metadata.ts";
import { type Page, pageClause } from "./page.ts";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  readonly oauthID: string;
}

const COLUMNS = "id, name, status, oauthID";

/** Creates, finds, changes and deletes users. */
export class Users {
  constructor(private readonly metadata: Metadata) {}

  get count(): number {
    return this.metadata.view.count("from users");
  }

  /** @throws TsdbError not_found */
  get(id: string): User {
    return this.find(id) ?? notFound();
  }

  find(id: string): User | null {
    return this.metadata.view.get<User>(`select ${COLUMNS} from users where id = ?`, id);
  }

  findByName(name: string): User | null {
    return this.metadata.view.get<User>(`select ${COLUMNS} from users where name = ?`, name);
  }

  /** @throws TsdbError not_found */
  byName(name: string): User {
    return this.findByName(name) ?? notFound();
  }

  /** In order of creation. */
  list(page: Page): User[] {
    const { clause, values } = page.isDescending && page.after !== null ? this.backwardsFrom(page, page.after) : pageClause(page);
    return this.metadata.view.all<User>(`select ${COLUMNS} from users ${clause}`, ...values);
  }

  /** As recorded, such a page begins with the user after `after`, or with the last one where nobody follows, and goes back from there. */
  private backwardsFrom(page: Page, after: string): ReturnType<typeof pageClause> {
    // its check is for every page
    pageClause(page);
    const next = this.metadata.view.get<{ id: string | null }>("select min(id) as id from users where id > ?", after)!.id;
    const whole = { ...page, after: null };
    return next === null ? pageClause(whole) : pageClause(whole, ["id <= ?"], [next]);
  }

  /** @throws TsdbError already_exists, empty_value */
  create(user: Omit<User, "id">): Promise<User> {
    return this.metadata.change((change) => {
      this.checkName(user.name, null);
      const id = change.newId();
      change.put("user", id, user);
      return { id, ...user };
    });
  }

  /** @throws TsdbError not_found, already_exists, empty_value */
  update(id: string, changed: Partial<Omit<User, "id">>): Promise<User> {
    return this.metadata.change((change) => {
      const user = { ...this.get(id), ...changed };
      this.checkName(user.name, id);
      const { name, status, oauthID } = user;
      change.put("user", id, { name, status, oauthID });
      return user;
    });
  }

  /** With password and memberships. Authorizations stay, and are refused from now on. @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      const { view } = this.metadata;
      this.get(id);
      for (const member of view.all<{ id: string }>("select id from members where userID = ?", id)) change.remove("member", member.id);
      if (this.passwordHash(id) !== null) change.remove("password", id);
      change.remove("user", id);
    });
  }

  /** Null: the user cannot sign in. */
  passwordHash(id: string): string | null {
    return this.metadata.view.get<RecordTypes["password"]>("select hash from passwords where id = ?", id)?.hash ?? null;
  }

  /** @throws TsdbError not_found */
  setPassword(id: string, hash: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      change.put("password", id, { hash });
    });
  }

  /** @throws TsdbError already_exists, empty_value */
  checkName(name: string, ownId: string | null): void {
    if (name === "") throw new TsdbError("empty_value", "key required");
    const other = this.findByName(name);
    if (other !== null && other.id !== ownId) throw new TsdbError("already_exists", `user with name ${name} already exists`);
  }
}

function notFound(): never {
  throw new TsdbError("not_found", "user not found");
}
