// The server that the contract of the v2 line is tested on: set up, with another organization beside the first, and with rows.
import { TestServer } from "../../support/servers/server.ts";
import { CatalogLog, type LoggedOperation } from "../../support/storage/catalog-log.ts";
import type { Answer, Sent } from "../world.ts";

export const ORG = "contract";
export const BUCKET = "readings";
export const USER = { name: "admin", password: "password12" };
const OPERATOR = "operator-token";
const ALERTS = ["checks", "notificationEndpoints", "notificationRules"];
const RESOURCE_TYPES = [
  "authorizations",
  "buckets",
  "labels",
  "secrets",
  "dbrp",
  "tasks",
  "scrapers",
  "remotes",
  "replications",
  ...["sources", "notebooks", "annotations"],
  ...ALERTS,
];

type Members = Readonly<Record<string, unknown>>;
interface WithId {
  readonly id: string;
}

/** The objects that requests of the contract refer to. */
export class V2World {
  orgID = "";
  userID = "";
  bucketID = "";
  /** For everything in another organization, and for nothing else. */
  stranger = "";
  /** The answer to setting up, which happens once. */
  setUp!: Answer;
  /** What records are, in order: a change of anything but rows and sessions is in it. */
  readonly log: CatalogLog;
  private names = 0;
  private fence: WithId = { id: "" };

  private constructor(readonly server: TestServer) {
    this.log = new CatalogLog(server.dataDir);
  }

  static async start(): Promise<V2World> {
    const world = new V2World(await TestServer.start({ withBuckets: true }));
    const setup = { username: USER.name, password: USER.password, org: ORG, bucket: BUCKET, token: OPERATOR, retentionPeriodSeconds: 0 };
    world.setUp = await world.send({ method: "POST", path: "/api/v2/setup", body: JSON.stringify(setup) }, null);
    const { org, user, bucket } = JSON.parse(world.setUp.text) as Record<"org" | "user" | "bucket", WithId>;
    [world.orgID, world.userID, world.bucketID] = [org.id, user.id, bucket.id];
    await world.writeRows();
    const { id: orgID } = await world.post<WithId>("/api/v2/orgs", { name: "other" });
    const permissions = RESOURCE_TYPES.flatMap((type) => ["read", "write"].map((action) => ({ action, resource: { type, orgID } })));
    world.fence = (await world.post<{ label: WithId }>("/api/v2/labels", { orgID: world.orgID, name: "fence" })).label;
    world.stranger = (await world.post<{ token: string }>("/api/v2/authorizations", { orgID, permissions })).token;
    return world;
  }

  /** Rows that stay as they are, unless a deletion takes them: they are there again then. */
  writeRows(): Promise<Answer> {
    return this.write(this.bucketID, "readings,host=a v=1 1\nreadings,host=b v=2 2");
  }

  dispose(): Promise<void> {
    return this.server.dispose();
  }

  fresh(): string {
    return `new${++this.names}`;
  }

  /** `authorization`: the header's value; undefined: the operator's unless the request brings credentials, null: none. */
  async send({ method, path, headers = {}, body = null }: Sent, authorization?: string | null): Promise<Answer> {
    const own = Object.keys(headers).some((name) => /^(authorization|cookie)$/i.test(name));
    const chosen = authorization === undefined ? (own ? null : `Token ${OPERATOR}`) : authorization;
    const kept = authorization === undefined ? headers : withoutCredentials(headers);
    const response = await fetch(this.server.bucketsUrl + path, {
      method,
      headers: { ...kept, ...(chosen === null ? {} : { authorization: chosen }) },
      body,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
  }

  async post<T>(path: string, body: Members): Promise<T> {
    return JSON.parse((await this.succeed({ method: "POST", path, body: JSON.stringify(body) })).text) as T;
  }

  write(bucketID: string, lines: string): Promise<Answer> {
    return this.succeed({ method: "POST", path: `/api/v2/write?orgID=${this.orgID}&org=&bucket=${bucketID}`, body: lines });
  }

  async freshBucket(): Promise<string> {
    return (await this.post<WithId>("/api/v2/buckets", { orgID: this.orgID, name: this.fresh(), retentionRules: [] })).id;
  }

  async freshOrganization(): Promise<string> {
    return (await this.post<WithId>("/api/v2/orgs", { name: this.fresh() })).id;
  }

  async freshUser(): Promise<string> {
    return (await this.post<WithId>("/api/v2/users", { name: this.fresh() })).id;
  }

  async freshLabel(): Promise<string> {
    return (await this.post<{ label: WithId }>("/api/v2/labels", { orgID: this.orgID, name: this.fresh() })).label.id;
  }

  async freshAuthorization(path = "/api/v2/authorizations", more: Members = {}): Promise<string> {
    return (await this.post<WithId>(path, { ...this.newAuthorization(), ...more })).id;
  }

  newAuthorization(): { readonly orgID: string; readonly permissions: readonly Members[] } {
    const { orgID } = this;
    return { orgID, permissions: [{ action: "read", resource: { type: "buckets", orgID, id: this.bucketID } }] };
  }

  async freshMapping(): Promise<string> {
    const { orgID, bucketID } = this;
    return (await this.post<WithId>("/api/v2/dbrps", { orgID, bucketID, database: this.fresh(), retention_policy: "rp" })).id;
  }

  /** Without an address, so that nothing is read. */
  async freshScraper(): Promise<string> {
    const { orgID, bucketID } = this;
    const target = { orgID, bucketID, name: this.fresh(), type: "prometheus", url: "" };
    return (await this.post<WithId>("/api/v2/scrapers", target)).id;
  }

  async freshDashboard(): Promise<string> {
    return (await this.post<WithId>("/api/v2/dashboards", { orgID: this.orgID, name: this.fresh() })).id;
  }

  /** Of a dashboard of its own. */
  async freshCell(): Promise<{ readonly path: string; readonly id: string }> {
    const path = `/api/v2/dashboards/${await this.freshDashboard()}/cells`;
    const { id } = await this.post<WithId>(path, { x: 1, name: "a name" });
    return { path: `${path}/${id}`, id };
  }

  newVariable(): Members {
    const { orgID } = this;
    return {
      ...{ orgID, name: this.fresh(), description: "a text", selected: ["a"], arguments: { type: "constant", values: ["a", "b"] } },
    };
  }

  async freshVariable(): Promise<string> {
    return (await this.post<WithId>("/api/v2/variables", this.newVariable())).id;
  }

  newRemote(): Members {
    const text = { name: this.fresh(), description: "a text", remoteURL: this.server.bucketsUrl, remoteAPIToken: OPERATOR };
    return { orgID: this.orgID, ...text, remoteOrgID: this.orgID, allowInsecureTLS: true };
  }

  async freshRemote(): Promise<string> {
    return (await this.post<WithId>("/api/v2/remotes", this.newRemote())).id;
  }

  async newReplication(): Promise<Members> {
    const { orgID } = this;
    const [remoteID, localBucketID, remoteBucketID] = [await this.freshRemote(), await this.freshBucket(), await this.freshBucket()];
    return {
      ...{ orgID, name: this.fresh(), description: "a text", remoteID, localBucketID, remoteBucketID, remoteBucketName: "a name" },
      ...{ maxQueueSizeBytes: 33_554_430, dropNonRetryableData: true, maxAgeSeconds: 60 },
    };
  }

  async freshReplication(): Promise<string> {
    return (await this.post<WithId>("/api/v2/replications", await this.newReplication())).id;
  }

  newTelegraf(): Members {
    const config = '[agent]\n  interval = "10s"\n[[outputs.influxdb_v2]]\n  bucket = "b"\n';
    return { orgID: this.orgID, name: this.fresh(), description: "a text", config, metadata: { buckets: ["b"] } };
  }

  async freshTelegraf(): Promise<string> {
    return (await this.post<WithId>("/api/v2/telegrafs", this.newTelegraf())).id;
  }

  /** This server: others are not asked. */
  newSource(): Members {
    const secrets = { token: "t", username: "a name", password: "p", sharedSecret: "s" };
    const place = { default: true, name: "a name", type: "self", url: this.server.bucketsUrl, metaUrl: "http://localhost/meta" };
    return { orgID: this.orgID, ...place, ...secrets, insecureSkipVerify: true, telegraf: "a name", defaultRP: "a name" };
  }

  async freshSource(): Promise<string> {
    return (await this.post<WithId>("/api/v2/sources", this.newSource())).id;
  }

  newNotebook(): Members {
    return { orgID: this.orgID, name: "a name", spec: { text: "a text", list: [1, { deep: true }] } };
  }

  async freshNotebook(): Promise<string> {
    return (await this.post<WithId>("/api/v2private/notebooks", this.newNotebook())).id;
  }

  newAnnotation(): Members {
    const text = { stream: this.fresh(), summary: "a text", message: "a text", stickers: { key: "a value" } };
    return { ...text, startTime: "2020-01-01T00:00:00Z", endTime: "2020-01-01T01:00:00.5Z" };
  }

  async freshAnnotation(): Promise<string> {
    const path = `/api/v2private/annotations?orgID=${this.orgID}`;
    const { text } = await this.succeed({ method: "POST", path, body: JSON.stringify([this.newAnnotation()]) });
    return (JSON.parse(text) as [WithId])[0].id;
  }

  async freshStream(): Promise<WithId & { readonly stream: string }> {
    const [path, stream] = [`/api/v2private/streams?orgID=${this.orgID}`, this.fresh()];
    const { text } = await this.succeed({ method: "PUT", path, body: JSON.stringify({ stream }) });
    return JSON.parse(text) as WithId & { readonly stream: string };
  }

  newTask(): Members {
    const flux = `import "array"\noption task = {name: "${this.fresh()}", every: 1h}\narray.from(rows: [{v: 1}])`;
    return { orgID: this.orgID, org: ORG, flux, status: "inactive", description: "a text" };
  }

  async freshTask(status = "inactive"): Promise<string> {
    return (await this.post<WithId>("/api/v2/tasks", { ...this.newTask(), status })).id;
  }

  /** A run that has ended. */
  async freshRun(): Promise<string> {
    const runs = `/api/v2/tasks/${await this.freshTask("active")}/runs`;
    const run = `${runs}/${(await this.post<WithId>(runs, { scheduledFor: "2020-01-01T00:00:00Z" })).id}`;
    for (;;) {
      const { text } = await this.succeed({ method: "GET", path: run });
      if ((JSON.parse(text) as { status: string }).status === "success") return run;
    }
  }

  /** A run on its way. */
  async endlessRun(): Promise<string> {
    const flux =
      'import "generate"\noption task = {name: "t", every: 1h}\ngenerate.from(count: 100000000, fn: (n) => n, start: 2020-01-01T00:00:00Z, stop: 2021-01-01T00:00:00Z) |> sum()';
    const { id } = await this.post<WithId>("/api/v2/tasks", { ...this.newTask(), flux, status: "active" });
    const runs = `/api/v2/tasks/${id}/runs`;
    return `${runs}/${(await this.post<WithId>(runs, { scheduledFor: "2020-01-01T00:00:00Z" })).id}`;
  }

  newCheck(): Members {
    const text = `from(bucket: "${BUCKET}") |> range(start: -1h) |> filter(fn: (r) => r._field == "v")`;
    return {
      ...{ orgID: this.orgID, name: this.fresh(), description: "a text", type: "threshold", status: "inactive", every: "1h", offset: "1m" },
      query: { text, editMode: "advanced", name: "" },
      ...{ statusMessageTemplate: "a text", tags: [{ key: "k", value: "v" }] },
      thresholds: [{ type: "greater", level: "CRIT", value: 5, allValues: true }],
    };
  }

  async freshCheck(): Promise<string> {
    return (await this.post<WithId>("/api/v2/checks", this.newCheck())).id;
  }

  newEndpoint(): Members {
    const { orgID } = this;
    const slack = { url: "http://localhost:1/hook", token: "t" };
    return { orgID, name: this.fresh(), description: "a text", type: "slack", status: "inactive", ...slack };
  }

  async freshEndpoint(): Promise<string> {
    return (await this.post<WithId>("/api/v2/notificationEndpoints", this.newEndpoint())).id;
  }

  async newRule(): Promise<Members> {
    return {
      ...{ orgID: this.orgID, endpointID: await this.freshEndpoint(), name: this.fresh(), description: "a text", type: "slack" },
      ...{ status: "inactive", every: "1h", offset: "1m", sleepUntil: "2030-01-01T00:00:00Z", runbookLink: "http://localhost/" },
      ...{ limit: 1, limitEvery: 60, channel: "#ops", messageTemplate: "a text" },
      tagRules: [{ key: "k", value: "v", operator: "equal" }],
      statusRules: [{ currentLevel: "CRIT", previousLevel: "OK" }],
    };
  }

  async freshRule(): Promise<string> {
    return (await this.post<WithId>("/api/v2/notificationRules", await this.newRule())).id;
  }

  async freshStack(): Promise<string> {
    return (await this.post<WithId>("/api/v2/stacks", { orgID: this.orgID, name: this.fresh() })).id;
  }

  /** The cookie of a new session. */
  async signIn(): Promise<string> {
    const answer = await this.succeed({ method: "POST", path: "/api/v2/signin", headers: { authorization: basicOf(USER.password) } });
    return answer.headers.get("set-cookie")!.split(";")[0]!;
  }

  async get(path: string): Promise<Answer> {
    return this.succeed({ method: "GET", path });
  }

  /** Operations of the log from number `begin`, but for what tasks do by themselves. */
  async changesSince(begin: number): Promise<LoggedOperation[]> {
    // a change that all changes before it precede in the log
    const properties = { fence: this.fresh() };
    await this.succeed({ method: "PATCH", path: `/api/v2/labels/${this.fence.id}`, body: JSON.stringify({ properties }) });
    return this.log.since(begin).filter(({ of, id }) => id !== this.fence.id && !/^task_(?:run|state)$/.test(String(of)));
  }

  /** Everything that operations change, as a client sees it. */
  async state(): Promise<Record<string, string>> {
    const { orgID, bucketID } = this;
    const lists = [
      ...[
        "/api/v2/authorizations",
        "/private/legacy/authorizations",
        `/api/v2/labels?orgID=${orgID}`,
        `/api/v2/dbrps?orgID=${orgID}`,
        "/api/v2/scrapers",
        ...["notebooks", "annotations", "streams"].map((name) => `/api/v2private/${name}?orgID=${orgID}`),
        ...["/api/v2/dashboards?include=properties", "/api/v2/variables", "/api/v2/telegrafs", "/api/v2/sources"],
        // runs change the others
        "/api/v2/tasks?status=inactive",
        ...ALERTS.map((name) => `/api/v2/${name}?orgID=${orgID}&limit=100&descending=true`),
      ],
      ...["secrets", "members", "owners"].map((name) => `/api/v2/orgs/${orgID}/${name}`),
      ...["labels", "members", "owners"].map((name) => `/api/v2/buckets/${bucketID}/${name}`),
    ];
    const found = await Promise.all(lists.map(async (path) => [path, (await this.get(path)).text] as const));
    const paged = await Promise.all(["buckets", "orgs", "users"].map(async (name) => [name, await this.pages(name)] as const));
    return { ...Object.fromEntries([...found, ...paged]), rows: await this.rows() };
  }

  /** What the log does not have. */
  async rows(): Promise<string> {
    return JSON.stringify(await this.server.sql(BUCKET, "SELECT count(*) AS n, sum(v) AS total FROM readings"));
  }

  private async pages(name: string): Promise<string> {
    const found: unknown[] = [];
    for (;;) {
      const { text } = await this.get(`/api/v2/${name}?limit=100&offset=${found.length}`);
      const page = (JSON.parse(text) as Record<string, unknown[]>)[name]!;
      found.push(...page);
      if (page.length < 100) return JSON.stringify(found);
    }
  }

  private async succeed(sent: Sent): Promise<Answer> {
    const answer = await this.send(sent);
    if (answer.status >= 300) throw new Error(`${sent.method} ${sent.path}: ${answer.status} ${answer.text}`);
    return answer;
  }
}

/** The Authorization header with this password. */
export function basicOf(password: string): string {
  return `Basic ${btoa(`${USER.name}:${password}`)}`;
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)));
}
