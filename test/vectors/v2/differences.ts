// Steps that ours answers otherwise, by the order or by intent. A step that no longer differs fails the test.

export interface Difference {
  /** `group / conversation`. */
  readonly conversation: string;
  readonly steps: readonly number[];
  readonly reason: string;
}

const OTHER_RUNTIME = "a trace in the format of the vendor's runtime: this server has none, and says so (501)";
const WHOLE_OR_NOTHING = "a setup that fails leaves nothing behind (FINDINGS 1.3)";
const ONE_KIND = "a column of a table is a tag or a field, not both";
const GZIP = "a body that is no gzip is the client's fault: 400 (FINDINGS 1.8)";
const OWN_PASSWORD = "the name in the Basic header counts, not only the password (FINDINGS 1.5)";
const TYPED = "analysis is of Flux, which needs no type; a fault of the request is 400 (facts 6.4)";
const UNKNOWN_FUNCTION = "an unknown function is 404 (FINDINGS 1.8)";
const CLIENTS_FAULT = "a body that cannot be read is the client's fault: 400 (FINDINGS 1.8)";
const TASK_STAYS = "the task of a check goes with that, not before it (FINDINGS 1.11)";
const PANICS = "what is missing is told, where the vendor's server panics (FINDINGS 1.7)";
const ENDPOINT_GONE = "the endpoint of a rule is deleted: 404 (FINDINGS 1.11)";
const ORGANIZATION = "the organization of a resource exists";
const VERBATIM = "properties of a view that the contract has are kept, where the vendor loses or refuses them (facts 7.2: stored verbatim)";
const NO_RESOURCE = "what does not exist has neither labels nor users (FINDINGS 1.10)";

export const DIFFERENCES: readonly Difference[] = [
  { conversation: "setup / retentionPeriodHrs", steps: [0, 2], reason: "hours are hours there, nanoseconds at the vendor's" },
  { conversation: "setup / retention too short", steps: [1], reason: WHOLE_OR_NOTHING },
  { conversation: "setup / bucket name with underscore", steps: [1], reason: WHOLE_OR_NOTHING },
  {
    conversation: "users / names and bodies",
    steps: [19, 20, 30],
    reason: "a status is active or inactive, and ids are the server's (FINDINGS 1.4)",
  },
  {
    conversation: "users / me and passwords",
    steps: [3, 6, 11, 12],
    reason: "one JSON document, and 400 for what a client sent (FINDINGS 1.5)",
  },
  { conversation: "users / me and passwords", steps: [8, 9, 10, 13], reason: OWN_PASSWORD },
  {
    conversation: "orgs / what deleting an org takes with it",
    steps: [9, 10, 11, 12, 14, 17],
    reason: "what an organization has goes with it (FINDINGS 1.12)",
  },
  {
    conversation: "buckets / retention and shard group durations on create",
    steps: [29],
    reason: "too long a retention is called so, and does not overflow",
  },
  { conversation: "authorizations / another org", steps: [11], reason: "the bucket's own organization counts (FINDINGS 1.1)" },
  {
    conversation: "buckets / a refused delete of a system bucket",
    steps: [5, 6],
    reason: "a refused deletion deletes nothing (FINDINGS 1.2)",
  },
  { conversation: "write / good lines", steps: [47], reason: ONE_KIND },
  { conversation: "write / good lines read back", steps: [0], reason: ONE_KIND },
  { conversation: "write / bad lines", steps: [61], reason: "a NUL stands in no name" },
  { conversation: "write / bad lines", steps: [63], reason: "the lines above that are stored here, or refused, are read" },
  { conversation: "write / empty bodies", steps: [6], reason: GZIP },
  { conversation: "write / encodings and headers", steps: [1, 5], reason: GZIP },
  { conversation: "write / encodings and headers", steps: [21], reason: "bytes that are no UTF-8 are not stored" },
  {
    conversation: "write / a bucket of another org by its id",
    steps: [5, 6, 7, 8, 10],
    reason: "the bucket's own organization counts (FINDINGS 1.1)",
  },
  { conversation: "write / good lines read back", steps: [1, 2, 3, 4], reason: `what step 0 refuses is not read back: ${ONE_KIND}` },
  { conversation: "v1_query / statements", steps: [24], reason: "the plan is that of this server" },
  { conversation: "v1_write / precisions", steps: [7, 8, 10, 11], reason: "u, m and h are microseconds, minutes and hours (facts 4.3)" },
  { conversation: "v1_write / bodies and errors", steps: [6], reason: GZIP },
  { conversation: "query / dialects", steps: [24, 25], reason: "a delimiter that separates or quotes rows is refused: no row would come" },
  { conversation: "query / errors of scripts", steps: [5], reason: "an unknown id of a bucket is 404, as a name (FINDINGS 1.8)" },

  {
    conversation: "query / errors of scripts",
    steps: [31, 32],
    reason: "a host that cannot be asked is told, and the script's fault (FINDINGS 1.8)",
  },
  { conversation: "query / buckets, databases and cardinality", steps: [3], reason: "databases are listed" },
  { conversation: "query_tools / analyze", steps: [15, 16, 23, 24, 26, 27], reason: TYPED },
  { conversation: "query_tools / suggestions", steps: [25, 26, 27], reason: UNKNOWN_FUNCTION },
  { conversation: "buckets / labels", steps: [9, 10, 12, 13], reason: "one JSON document (FINDINGS 1.6)" },
  { conversation: "dbrps / bodies and ids", steps: [17], reason: "the organization of a mapping exists, and the bucket is in it" },
  {
    conversation: "labels / names, bodies, ids",
    steps: [18],
    reason: "records refer to records that there are: the organization of a label",
  },
  {
    conversation: "scrapers / bodies and ids",
    steps: [0, 1, 2, 3, 4, 5, 14, 21, 26, 27, 28, 29, 30, 31],
    reason: CLIENTS_FAULT,
  },
  { conversation: "scrapers / bodies and ids", steps: [51, 53, 55], reason: NO_RESOURCE },
  { conversation: "scrapers / labels", steps: [15, 17], reason: NO_RESOURCE },
  { conversation: "scrapers / owners", steps: [12, 13], reason: CLIENTS_FAULT },
  { conversation: "scrapers / owners", steps: [14], reason: NO_RESOURCE },
  { conversation: "checks / threshold: create, read, change, delete", steps: [13, 14, 15, 16, 17, 18, 19], reason: TASK_STAYS },
  { conversation: "checks / what happens to a check whose task is deleted", steps: [1, 2, 3, 4, 5], reason: TASK_STAYS },
  { conversation: "checks / deadman: the generated script in many shapes", steps: [18, 19, 21], reason: PANICS },
  { conversation: "checks / ids", steps: [21, 23, 25], reason: NO_RESOURCE },
  { conversation: "checks / labels", steps: [15, 17], reason: NO_RESOURCE },
  ...["checks / members", "checks / owners", "notification_endpoints / members", "notification_endpoints / owners"].flatMap(
    (conversation) => [
      { conversation, steps: [12, 13], reason: CLIENTS_FAULT },
      { conversation, steps: [14], reason: NO_RESOURCE },
    ],
  ),
  { conversation: "notification_endpoints / ids", steps: [17, 19, 21], reason: NO_RESOURCE },
  { conversation: "notification_endpoints / list filters and paging", steps: [8, 9, 13], reason: PANICS },
  { conversation: "notification_endpoints / labels", steps: [15, 17], reason: NO_RESOURCE },
  ...["slack", "pagerduty", "http", "telegram"].map((type) => ({
    conversation: `notification_rules / ${type}: create, read, change, delete`,
    steps: [12],
    reason: ENDPOINT_GONE,
  })),
  { conversation: "notification_rules / the generated script: statuses, tags and times", steps: [77, 80], reason: PANICS },
  { conversation: "notification_rules / bodies", steps: [18, 62], reason: PANICS },
  { conversation: "notification_rules / bodies", steps: [23, 24], reason: CLIENTS_FAULT },
  { conversation: "notification_rules / labels", steps: [16, 18], reason: NO_RESOURCE },
  { conversation: "dashboards / bodies", steps: [11], reason: ORGANIZATION },
  { conversation: "dashboards / bodies", steps: [16], reason: VERBATIM },
  {
    conversation: "dashboards / list filters, sorting and paging",
    steps: [22, 23],
    reason: "a descending list is one, whatever it is sorted by",
  },
  {
    conversation: "dashboards / views of every type",
    steps: [23, 24, 47, 48, 55, 56, 65],
    reason: VERBATIM,
  },
  { conversation: "dashboards / permissions", steps: [27, 28, 33, 34], reason: "a refused change changes nothing" },
  { conversation: "dashboards / labels", steps: [10, 11, 13, 14], reason: "one JSON document (FINDINGS 1.6)" },
  { conversation: "variables / bodies", steps: [12, 65], reason: ORGANIZATION },
  { conversation: "variables / ids", steps: [18], reason: NO_RESOURCE },
  { conversation: "variables / list filters and paging", steps: [12], reason: "an unknown organization is 404" },
  { conversation: "variables / list filters and paging", steps: [20], reason: "a page is as long as it may be, also of an organization" },
  { conversation: "variables / labels", steps: [15, 17], reason: NO_RESOURCE },
  {
    conversation: "telegrafs / old plugin bodies",
    steps: [0, 1, 2, 4],
    reason: "settings of the agent that are its defaults are not written out",
  },
  { conversation: "telegrafs / old plugin bodies", steps: [5], reason: "the contract has TOML as the `config` of a plugin" },
  { conversation: "telegrafs / labels", steps: [15, 17], reason: NO_RESOURCE },
  ...["members", "owners"].flatMap((role) => [
    { conversation: `telegrafs / ${role}`, steps: [12, 13], reason: CLIENTS_FAULT },
    { conversation: `telegrafs / ${role}`, steps: [14], reason: NO_RESOURCE },
  ]),
  {
    conversation: "sources / create, read, change, delete",
    steps: [3, 4, 5, 6],
    reason: "no answer has a password or a shared secret",
  },
  {
    conversation: "notebooks_annotations / annotations and streams",
    steps: [0, 2, 5, 10, 12],
    reason: `the first request makes a stream and two annotations: ${PANICS}`,
  },
  { conversation: "sources / bodies, ids, permissions", steps: [0, 1, 2, 3, 4, 5], reason: CLIENTS_FAULT },
  { conversation: "tasks / ids", steps: [19, 22, 25], reason: NO_RESOURCE },
  { conversation: "tasks / labels", steps: [15, 17], reason: NO_RESOURCE },
  { conversation: "tasks / owners", steps: [12, 13], reason: CLIENTS_FAULT },
  { conversation: "tasks / owners", steps: [14], reason: NO_RESOURCE },
  {
    conversation: "replications / validating against a server that answers",
    steps: [7, 8],
    reason: "a remote's bucket is found by its name, and the name is told when it is not",
  },
  { conversation: "exports / filters", steps: [12], reason: "an unknown kind is the client's fault: 400 (FINDINGS 1.8)" },
  {
    conversation: "stacks / create, read, change, delete",
    steps: [17],
    reason: "what a client has attached to a stack stays when the stack goes (FINDINGS 1.15)",
  },
  { conversation: "stacks / permissions", steps: [26], reason: "a right is missing: 403, as on every route" },
  {
    conversation: "templates / tasks of v2alpha2",
    steps: [2, 4, 8],
    reason: "a script with the options of its task is applied (FINDINGS 1.14)",
  },
  { conversation: "templates / JSON and YAML requests", steps: [0, 1, 10], reason: "templates in YAML are read (FINDINGS 1.14)" },
  { conversation: "system / profiling", steps: [9], reason: OTHER_RUNTIME },
];
