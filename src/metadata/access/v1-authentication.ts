// Who a request of a v1 client comes from: a user name and a password, which are an authorization of their own, or a token as password.
import { createHmac, randomBytes } from "node:crypto";
import type { Metadata } from "../store/metadata.ts";
import type { Authentication } from "./authentication.ts";
import type { PasswordHasher } from "./passwords.ts";
import type { Permission } from "./permissions.ts";
import { Principal } from "./principal.ts";

interface LegacyRow {
  readonly orgID: string;
  readonly userID: string;
  readonly status: string;
  readonly permissions: string;
  readonly passwordHash: string | null;
  readonly userStatus: string | null;
}

interface Known {
  readonly principal: Principal;
  readonly passwordHash: string | null;
}

const KNOWN_MAX = 10_000;
const KEY_BYTES = 32;

/** A password is checked with its slow hash once: v1 clients send it with every request. */
export class V1Authentication {
  /** By user name; null: there is none of the name. */
  private readonly known = new Map<string, Known | null>();
  private knownVersion = -1;
  /** By the slow hash: a fast one of the password that it was found to fit, under a key of this process. */
  private readonly verified = new Map<string, string>();
  private readonly key = randomBytes(KEY_BYTES);

  constructor(
    private readonly metadata: Metadata,
    private readonly authentication: Pick<Authentication, "byToken">,
    private readonly passwords: Pick<PasswordHasher, "verify">,
  ) {}

  /** Null: the token is unknown or inactive, or its user is. */
  byToken(token: string): Principal | null {
    const found = this.authentication.byToken(token);
    return typeof found === "string" || !found.isActive ? null : found;
  }

  /** Of a name that is no v1 client's the password is a token. Null as above, or the password is wrong. @throws TsdbError
   *  too_many_requests */
  async byPassword(username: string, password: string): Promise<Principal | null> {
    const known = this.ofName(username);
    if (known === null) return this.byToken(password);
    const { principal, passwordHash } = known;
    return (await this.fits(password, passwordHash)) && principal.isActive ? principal : null;
  }

  private async fits(password: string, passwordHash: string | null): Promise<boolean> {
    if (passwordHash === null) return false;
    const fast = createHmac("sha256", this.key).update(password).digest("base64");
    if (this.verified.get(passwordHash) === fast) return true;
    const isRight = await this.passwords.verify(password, passwordHash);
    if (isRight) {
      if (this.verified.size >= KNOWN_MAX) this.verified.clear();
      this.verified.set(passwordHash, fast);
    }
    return isRight;
  }

  private ofName(username: string): Known | null {
    const { version, view } = this.metadata;
    if (version !== this.knownVersion || this.known.size >= KNOWN_MAX) {
      this.known.clear();
      this.knownVersion = version;
    }
    const before = this.known.get(username);
    if (before !== undefined) return before;
    const row = view.get<LegacyRow>(
      `select a.orgID, a.userID, a.status, a.permissions, a.passwordHash, u.status as userStatus
       from legacyAuthorizations a left join users u on u.id = a.userID where a.username = ?`,
      username,
    );
    const found = row === null ? null : { principal: principalOf(row), passwordHash: row.passwordHash };
    this.known.set(username, found);
    return found;
  }
}

function principalOf({ userID, orgID, status, userStatus, permissions }: LegacyRow): Principal {
  const isActive = status === "active" && userStatus === "active";
  return new Principal({ userID, orgID, by: "token", isActive, permissions: JSON.parse(permissions) as Permission[] });
}
