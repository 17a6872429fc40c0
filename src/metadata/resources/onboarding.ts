// Setup: the first user, organization, bucket and token, once.
import { TsdbError } from "../../model/errors.ts";
import { operatorPermissions } from "../access/permissions.ts";
import type { Metadata } from "../store/metadata.ts";
import { type Authorization, type Authorizations, newToken } from "./authorizations.ts";
import type { Bucket, BucketService } from "./buckets.ts";
import type { Members } from "./members.ts";
import type { Organization, Organizations } from "./organizations.ts";
import type { Retention } from "./retention.ts";
import type { User, Users } from "./users.ts";

export interface Setup {
  readonly username: string;
  /** Null: the user cannot sign in. */
  readonly passwordHash: string | null;
  readonly org: string;
  readonly bucket: string;
  /** Null: one is made. */
  readonly token: string | null;
  readonly retention: Retention;
}

export interface SetupResult {
  readonly user: User;
  readonly org: Organization;
  readonly bucket: Bucket;
  readonly auth: Authorization;
}

interface Parts {
  readonly users: Users;
  readonly organizations: Organizations;
  readonly buckets: BucketService;
  readonly members: Members;
  readonly authorizations: Authorizations;
}

/** Sets up a server that has no user. */
export class Onboarding {
  constructor(
    private readonly metadata: Metadata,
    private readonly parts: Parts,
  ) {}

  /** Nobody has set the server up. */
  get isAllowed(): boolean {
    return this.parts.users.count === 0 && this.parts.organizations.count === 0;
  }

  /** @throws TsdbError already_exists */
  requireAllowed(): void {
    if (!this.isAllowed) throw new TsdbError("already_exists", "onboarding has already been completed");
  }

  /** All of it or nothing. @throws TsdbError already_exists, bad_request */
  async run({ username, passwordHash, org, bucket, token, retention }: Setup): Promise<SetupResult> {
    const { users, organizations, buckets, members, authorizations } = this.parts;
    const made = await this.metadata.change((change) => {
      this.requireAllowed();
      const user = { id: change.newId(), name: username, status: "active", oauthID: "" } as const;
      const { id: userID, ...record } = user;
      change.put("user", userID, record);
      if (passwordHash !== null) change.put("password", userID, { hash: passwordHash });
      members.planInstanceOwner(change, userID);
      const organization = organizations.planCreate(change, { name: org, description: "", ownerID: userID });
      const wanted = { orgID: organization.id, name: bucket, description: "", rp: "", retention };
      const bucketID = buckets.planAdopt(change, organization, wanted);
      const authorization = {
        orgID: organization.id,
        userID,
        status: "active",
        description: `${username}'s Token`,
        permissions: operatorPermissions(),
      } as const;
      const auth = authorizations.planCreate(change, authorization, token ?? newToken());
      return { user, org: organization, bucketID, auth };
    });
    const { user, bucketID, auth } = made;
    const shown = { ...authorizations.get(auth.id), token: auth.token };
    return { user: users.get(user.id), org: made.org, bucket: buckets.get(bucketID), auth: shown };
  }
}
