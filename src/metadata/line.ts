// The v2 line's services over one catalog, put together.
import type { Catalog } from "../storage/catalog/catalog.ts";
import { Authentication } from "./access/authentication.ts";
import { checkPassword, type HashCost, PasswordHasher } from "./access/passwords.ts";
import type { SecretBox } from "./access/secret-box.ts";
import { type SessionLimits, Sessions } from "./access/sessions.ts";
import { V1Authentication } from "./access/v1-authentication.ts";
import { AlertRecords } from "./resources/alert-records.ts";
import { Authorizations } from "./resources/authorizations.ts";
import { type BucketLimits, BucketService, NO_BUCKET_LIMITS } from "./resources/buckets.ts";
import { Labels } from "./resources/labels.ts";
import { LegacyAuthorizations } from "./resources/legacy-authorizations.ts";
import { Mappings } from "./resources/mappings.ts";
import { Members } from "./resources/members.ts";
import { Onboarding, type Setup, type SetupResult } from "./resources/onboarding.ts";
import { Organizations } from "./resources/organizations.ts";
import { AnnotationStreams } from "./resources/pages/annotation-streams.ts";
import { Annotations } from "./resources/pages/annotations.ts";
import { Dashboards } from "./resources/pages/dashboards.ts";
import { Notebooks } from "./resources/pages/notebooks.ts";
import { Sources } from "./resources/pages/sources.ts";
import { Telegrafs } from "./resources/pages/telegrafs.ts";
import { Variables } from "./resources/pages/variables.ts";
import { PortableRecords } from "./resources/portable-records.ts";
import { Remotes } from "./resources/replication/remotes.ts";
import { Replications } from "./resources/replication/replications.ts";
import { checkRetention } from "./resources/retention.ts";
import { Scrapers } from "./resources/scrapers.ts";
import { Secrets } from "./resources/secrets.ts";
import { Stacks } from "./resources/stacks.ts";
import { Tasks } from "./resources/tasks.ts";
import { Users } from "./resources/users.ts";
import type { RecordTypes } from "./store/kinds.ts";
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
  /** Shared with users of port 8181, so that both together take no more memory. */
  readonly passwords?: PasswordHasher;
  readonly bucketLimits?: BucketLimits;
  /** Of all records. */
  readonly recordBytesMax?: number;
  /** Databases are to be dropped. */
  readonly onDropped: (databaseIds: readonly number[]) => void;
}

export interface FirstSetup extends Pick<Setup, "username" | "org" | "bucket" | "token"> {
  readonly password: string;
  /** Of the bucket; 0 = for ever. */
  readonly everySeconds: number;
}

/** The services of the v2 line. */
export class V2Line {
  readonly metadata: Metadata;
  readonly users: Users;
  readonly buckets: BucketService;
  readonly organizations: Organizations;
  readonly members: Members;
  readonly authorizations: Authorizations;
  readonly legacyAuthorizations: LegacyAuthorizations;
  readonly labels: Labels;
  readonly mappings: Mappings;
  readonly secrets: Secrets;
  readonly scrapers: Scrapers;
  readonly remotes: Remotes;
  readonly replications: Replications;
  readonly checks: AlertRecords<"check">;
  readonly notificationEndpoints: AlertRecords<"notification_endpoint">;
  readonly notificationRules: AlertRecords<"notification_rule">;
  readonly tasks: Tasks;
  readonly dashboards: Dashboards;
  readonly variables: Variables;
  readonly telegrafs: Telegrafs;
  readonly sources: Sources;
  readonly notebooks: Notebooks;
  readonly annotationStreams: AnnotationStreams;
  readonly annotations: Annotations;
  readonly stacks: Stacks;
  readonly portable: PortableRecords;
  readonly onboarding: Onboarding;
  readonly sessions: Sessions;
  readonly passwords: PasswordHasher;
  readonly authentication: Authentication;
  readonly v1Authentication: V1Authentication;

  /** @throws TsdbError corrupt_file */
  constructor(
    catalog: Catalog,
    { nowMs, sessions, box, keepsHashesOnly, hashCost, passwords, bucketLimits = NO_BUCKET_LIMITS, recordBytesMax, onDropped }: LineOptions,
  ) {
    const metadata = Metadata.open(catalog, nowMs, recordBytesMax);
    this.metadata = metadata;
    this.users = new Users(metadata);
    this.labels = new Labels(metadata);
    this.mappings = new Mappings(metadata);
    this.remotes = new Remotes(metadata, box);
    this.replications = new Replications(metadata);
    this.buckets = new BucketService(metadata, this, bucketLimits, onDropped);
    // what cannot be removed now, on a full disk, is removed with the next one
    metadata.onDatabasesGone(() => void this.buckets.forgetDropped().catch(() => {}));
    this.members = new Members(metadata, this.users);
    this.scrapers = new Scrapers(metadata, this);
    this.checks = new AlertRecords(metadata, this, "check");
    this.notificationEndpoints = new AlertRecords(metadata, this, "notification_endpoint");
    this.notificationRules = new AlertRecords(metadata, this, "notification_rule");
    this.tasks = new Tasks(metadata, this);
    this.dashboards = new Dashboards(metadata, this);
    this.variables = new Variables(metadata, this);
    this.telegrafs = new Telegrafs(metadata, this);
    this.sources = new Sources(metadata, box);
    this.notebooks = new Notebooks(metadata);
    this.annotationStreams = new AnnotationStreams(metadata);
    this.annotations = new Annotations(metadata, this.annotationStreams);
    this.organizations = new Organizations(metadata, this);
    this.authorizations = new Authorizations(metadata, box, keepsHashesOnly);
    this.legacyAuthorizations = new LegacyAuthorizations(metadata);
    this.secrets = new Secrets(metadata, box);
    this.stacks = new Stacks(metadata);
    this.portable = new PortableRecords(box, keepsHashesOnly);
    this.onboarding = new Onboarding(metadata, this);
    this.passwords = passwords ?? new PasswordHasher(hashCost);
    this.sessions = new Sessions(sessions, nowMs);
    this.authentication = new Authentication(metadata, this.members, this.sessions);
    this.v1Authentication = new V1Authentication(metadata, this.authentication, this.passwords);
  }

  /** Encrypts anew, in one step, the tokens and secrets that the previous key has encrypted. Gives their number. */
  async renewSealed(): Promise<number> {
    const { catalog } = this.metadata;
    const renewed = (["authorization", "secret", "remote", "source"] as const).flatMap((of) =>
      [...catalog.records.ofKind(of)].flatMap(([id, value]) => this.portable.renewed({ of, id, value }) ?? []),
    );
    if (renewed.length === 0) return 0;
    await this.metadata.change((change) => {
      for (const { of, id, value } of renewed) change.put(of, id, value as unknown as RecordTypes[typeof of]);
    });
    return renewed.length;
  }

  /** Makes the first user, organization, bucket and token. @param password "": the user cannot sign in @throws TsdbError already_exists,
   *  bad_request, unprocessable: nothing is made then */
  async setUp({ password, everySeconds, ...names }: FirstSetup, { strong }: { readonly strong: boolean }): Promise<SetupResult> {
    this.onboarding.requireAllowed();
    if (password !== "") checkPassword(password, { strong });
    const retention = checkRetention({ everySeconds });
    const passwordHash = password === "" ? null : await this.passwords.hash(password);
    return this.onboarding.run({ ...names, passwordHash, retention });
  }
}
