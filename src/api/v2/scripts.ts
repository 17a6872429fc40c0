// Runs scripts over the buckets of an organization: those of requests, and those of tasks.
import type { Principal } from "../../metadata/access/principal.ts";
import type { V2Line } from "../../metadata/line.ts";
import { bucketNeed } from "../../metadata/resources/buckets.ts";
import { ReadableBuckets } from "../../metadata/resources/readable-buckets.ts";
import { TsdbError } from "../../model/errors.ts";
import { type FluxBucket, type FluxDatabase, type FluxOptions, type FluxSecrets, NEEDS_BUCKETS } from "../../model/query/flux.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import type { V2Services } from "./app/services.ts";
import { BucketLines, type LineServices } from "./rows/bucket-lines.ts";

/** Organizations with more do not send the list with every script. */
const BUCKETS_SENT_MAX = 64;
/** Of statements that look at a script and read no rows. */
export const WITHOUT_ROWS: Omit<FluxOptions, "task"> = {
  ...{ organizationId: "", organizationName: "", otherOrganizations: [], nowNs: 0n, extern: null, ast: null, buckets: [] },
  ...{ dialect: { header: true, delimiter: ",", annotations: [] }, hasAllBuckets: true, databases: null, secrets: { values: {} } },
  ...{ allowsPrivateNetwork: false, sqliteFolder: null },
};
const SECRETS_PACKAGE = "influxdata/influxdb/secrets";

export type ScriptServices = Pick<V2Services, "line" | "query" | "options"> & LineServices;

export interface Script extends Pick<FluxOptions, "dialect" | "extern" | "ast" | "nowNs"> {
  /** Empty where there is a tree. */
  readonly text: string;
  /** Of a rehearsal nothing is written, and no list of statements has it. */
  readonly task: "query" | "run" | "rehearse";
}

export interface ScriptSender {
  readonly principal: Principal;
  readonly orgID: string;
  readonly signal: AbortSignal;
  /** Called when the script begins and ends to wait for other servers. */
  readonly onWaits?: (waits: boolean) => void;
}

/** Runs scripts with the rights of their senders. */
export class Scripts {
  private readonly lines: BucketLines;

  constructor(private readonly services: ScriptServices) {
    this.lines = new BucketLines(services);
  }

  /** @throws TsdbError unavailable before the log is replayed; of the script */
  async run(sender: ScriptSender, script: Script): Promise<QueryAnswer> {
    const { buckets } = this.services.line();
    if (buckets.countOf(sender.orgID) <= BUCKETS_SENT_MAX) return this.send(sender, script, true);
    try {
      return await this.send(sender, script, false);
    } catch (error) {
      if (!(error instanceof TsdbError) || error.details[NEEDS_BUCKETS] !== true) throw error;
      return this.send(sender, script, true);
    }
  }

  /** Compiles a script for later runs. @throws TsdbError of the script */
  async prepare(text: string, signal: AbortSignal): Promise<void> {
    await this.services.query.query({
      ...{ database: "", statement: text, format: "csv", params: {}, queryType: "flux", signal, isUnlisted: true },
      flux: { task: "prepare", ...WITHOUT_ROWS },
    });
  }

  private send(sender: ScriptSender, script: Script, hasAllBuckets: boolean): Promise<QueryAnswer> {
    const { text, extern, ast, dialect, nowNs, task } = script;
    const { principal, orgID, signal, onWaits } = sender;
    const line = this.services.line();
    const sources = [text, extern, ast];
    const buckets = readableBuckets(line, principal, orgID, hasAllBuckets ? null : namesIn(text));
    const secrets = secretsOf(line, sender, sources);
    const databases = databasesOf(line, orgID, sources);
    const { fluxAllowsPrivateNetwork: allowsPrivateNetwork, fluxSqliteFolder: sqliteFolder } = this.services.options;
    const named = { organizationId: orgID, organizationName: line.organizations.find(orgID)?.name ?? "" };
    const otherOrganizations = organizationsIn(line, principal, sources);
    const isRehearsal = task === "rehearse";
    const granted = { buckets, hasAllBuckets, databases, secrets, allowsPrivateNetwork, sqliteFolder };
    return this.services.query.query({
      ...{ database: orgID, statement: text, format: "csv", params: {}, queryType: "flux", signal },
      scope: new ReadableBuckets(line.buckets, principal),
      flux: { task, ...named, otherOrganizations, nowNs, dialect, extern, ast, ...granted },
      write: (bucketId, lines) => (isRehearsal ? Promise.resolve(null) : this.write(principal, bucketId, lines)),
      isUnlisted: isRehearsal,
      ...(onWaits === undefined ? {} : { onWaits }),
    });
  }

  /** @throws TsdbError not_found, forbidden */
  private async write(principal: Principal, bucketId: string, lines: string): Promise<string | null> {
    const bucket = this.services.line().buckets.find(bucketId);
    if (bucket === null) throw new TsdbError("not_found", `bucket not found: ${bucketId}`);
    return this.lines.store(new TextEncoder().encode(lines), principal, bucket);
  }
}

/** None unless a source of the script imports their package: they do not leave this thread without need. */
function secretsOf({ secrets }: V2Line, { principal, orgID }: ScriptSender, sources: readonly (string | null)[]): FluxSecrets {
  if (!sources.some((source) => source?.includes(SECRETS_PACKAGE))) return { values: {} };
  if (!principal.allows({ action: "read", type: "secrets", orgID })) return { refusal: `read:orgs/${orgID}/secrets is unauthorized` };
  return { values: secrets.all(orgID) };
}

function databasesOf({ mappings }: V2Line, orgID: string, sources: readonly (string | null)[]): FluxDatabase[] | null {
  if (!sources.some((source) => source?.includes("databases"))) return null;
  return mappings.list(orgID).map(({ database, retentionPolicy, isDefault, bucketID: bucketId }) => ({
    database,
    retentionPolicy,
    isDefault,
    bucketId,
  }));
}

/** Names of organizations in the script that the sender may see: `to` tells them from those that do not exist. */
function organizationsIn({ organizations }: V2Line, principal: Principal, sources: readonly (string | null)[]): string[] {
  const names = sources.flatMap((source) => (source !== null && /\borg\b/.test(source) ? namesIn(source) : []));
  return names.filter((name) => {
    const found = organizations.findByName(name);
    return found !== null && principal.allows({ action: "read", type: "orgs", id: found.id });
  });
}

/** Texts in a script that may be names or ids of buckets. */
function namesIn(text: string): readonly string[] {
  return [...new Set(text.match(/"[^"\\\n]{1,256}"/g)?.slice(0, 256) ?? [])].map((literal) => literal.slice(1, -1));
}

/** @param names null: all of the organization */
function readableBuckets(line: V2Line, principal: Principal, orgID: string, names: readonly string[] | null): FluxBucket[] {
  const found =
    names === null
      ? line.buckets.allOf(orgID)
      : names.flatMap((name) => line.buckets.findByName(orgID, name) ?? line.buckets.find(name) ?? []);
  return found
    .filter((bucket) => bucket.orgID === orgID && principal.allows(bucketNeed("read", bucket)))
    .map((bucket) => ({
      id: bucket.id,
      name: bucket.name,
      organizationId: orgID,
      retentionPeriodNs: BigInt(bucket.retentionSeconds) * 1_000_000_000n,
      ...(principal.allows(bucketNeed("write", bucket)) ? {} : { isReadOnly: true }),
    }));
}
