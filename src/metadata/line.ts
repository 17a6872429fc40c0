// The v2 line's services over one catalog, put together.
import type { Catalog } from "../storage/catalog/catalog.ts";
import { Authentication } from "./access/authentication.ts";
import { type HashCost, PasswordHasher } from "./access/passwords.ts";
import type { SecretBox } from "./access/secret-box.ts";
import { type SessionLimits, Sessions } from "./access/sessions.ts";
import { Authorizations } from "./resources/authorizations.ts";
import { BucketService } from "./resources/buckets.ts";
import { Labels } from "./resources/labels.ts";
import { LegacyAuthorizations } from "./resources/legacy-authorizations.ts";
import { Members } from "./resources/members.ts";
import { Onboarding } from "./resources/onboarding.ts";
import { Organizations } from "./resources/organizations.ts";
import { Secrets } from "./resources/secrets.ts";
import { Users } from "./resources/users.ts";
import { Metadata } from "./store/metadata.ts";

export interface LineOptions {
  readonly nowMs: () => number;
  readonly sessions: SessionLimits;
  /** Of tokens and secrets. */
  readonly box: SecretBox;
  /** Tokens are shown once. */
  readonly keepsHashesOnly: boolean;
  /** Of passwords; given by tests, for which the usual one is too slow. */
  readonly hashCost?: HashCost;
  /** Databases are to be dropped. */
  readonly onDropped: (databaseIds: readonly number[]) => void;
}

export class V2Line {
  readonly metadata: Metadata;
  readonly users: Users;
  readonly buckets: BucketService;
  readonly organizations: Organizations;
  readonly members: Members;
  readonly authorizations: Authorizations;
  readonly legacyAuthorizations: LegacyAuthorizations;
  readonly labels: Labels;
  readonly secrets: Secrets;
  readonly onboarding: Onboarding;
  readonly sessions: Sessions;
  readonly passwords: PasswordHasher;
  readonly authentication: Authentication;

  /** @throws TsdbError corrupt_file */
  constructor(catalog: Catalog, { nowMs, sessions, box, keepsHashesOnly, hashCost, onDropped }: LineOptions) {
    const metadata = Metadata.open(catalog, nowMs);
    this.metadata = metadata;
    this.users = new Users(metadata);
    this.labels = new Labels(metadata);
    this.buckets = new BucketService(metadata, this.labels, onDropped);
    // what cannot be removed now, on a full disk, is removed with the next one
    metadata.onDatabasesGone(() => void this.buckets.forgetDropped().catch(() => {}));
    this.organizations = new Organizations(metadata, this.buckets, this.labels);
    this.members = new Members(metadata, this.users);
    this.authorizations = new Authorizations(metadata, box, keepsHashesOnly);
    this.legacyAuthorizations = new LegacyAuthorizations(metadata);
    this.secrets = new Secrets(metadata, box);
    this.onboarding = new Onboarding(metadata, this);
    this.passwords = new PasswordHasher(hashCost);
    this.sessions = new Sessions(sessions, nowMs);
    this.authentication = new Authentication(metadata, this.members, this.sessions);
  }
}
