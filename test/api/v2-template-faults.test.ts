// What is wrong in a template: which resource is told, where in it, and in which order. Recorded on release 2.8.0.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Issue, issueText } from "../../src/templates/issue.ts";
import { object, TemplateServer } from "./template-server.ts";

const SHORT = "must be a string of at least 2 chars in length";
const SLACK = "NotificationEndpointSlack";
const HTTP = "NotificationEndpointHTTP";
const NAME_RULE =
  "a DNS-1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

let templates: TemplateServer;
beforeAll(async () => {
  templates = await TemplateServer.start();
});
afterAll(() => templates.server.stop());

/** `[0].spec.name: reason` for each issue of a plan. */
async function faults(...contents: readonly object[]): Promise<string[]> {
  const { errors = [] } = (await templates.apply({ dryRun: true, template: { contents } })).body;
  return errors.map((issue: Issue) => {
    const [, path, reason] = /field=root(\S+) reason=(.*)$/.exec(issueText(issue))!;
    return `${path}: ${JSON.parse(reason!)}`;
  });
}

const CHECK = { every: "1m", query: "buckets()", statusMessageTemplate: "m" };
const THRESHOLDS = { thresholds: [{ type: "greater", level: "crit", value: 1 }] };
const LIST = { type: "constant", values: ["a"] };
const associated = (name: string) => ({ associations: [{ kind: "Label", name }] });

describe("two of one name: the later is told by its name in the metadata, and nothing else of it is read", () => {
  test.each([
    ...["Label", "Bucket"].map((kind) => [[object(kind, "d1", { name: "same" }), object(kind, "d2", { name: "same" })]]),
    [[object("Variable", "d1", { ...LIST, name: "same" }), object("Variable", "d2", { ...LIST, name: "same" })]],
    [[object("Bucket", "d1", { name: "same" }), object("Bucket", "d2", { name: "same", retentionRules: [{}], ...associated("none") })]],
  ])("%j", async (contents) => {
    expect(await faults(...contents)).toEqual(["[1].spec.name: duplicate name: d2"]);
  });

  test("names in the metadata; a refused resource takes no display name", async () => {
    expect(await faults(object("Label", "d1", { name: "x" }), object("Label", "d1", { name: "y" }))).toEqual([
      `[0].spec.name: ${SHORT}`,
      "[1].metadata.name: duplicate name: d1",
    ]);
    const labels = [object("Label", "d1", { name: "xx" }), object("Label", "d1", { name: "yy" }), object("Label", "d3", { name: "yy" })];
    expect(await faults(...labels)).toEqual(["[1].metadata.name: duplicate name: d1"]);
  });

  test("a label that is refused is no label of others, nor an endpoint that of a rule", async () => {
    const labels = [object("Label", "l1", { name: "same" }), object("Label", "l2", { name: "same" })];
    expect(await faults(...labels, object("Bucket", "b1", associated("l2")))).toEqual([
      "[1].spec.name: duplicate name: l2",
      '[2].associations[0]: label "l2" does not exist in pkg',
    ]);
    const endpoints = ["e1", "e2"].map((name) => object(SLACK, name, { name: "same", url: "http://x" }));
    const rule = object("NotificationRule", "r1", { endpointName: "e2", every: "1m", statusRules: [{ currentLevel: "CRIT" }] });
    expect(await faults(...endpoints, rule)).toEqual([
      "[1].spec.name: duplicate name: e2",
      '[2].spec.endpointName: notification endpoint "e2" does not exist in pkg',
    ]);
  });

  test("checks may share a name; endpoints and checks are read kind by kind", async () => {
    const named = { ...CHECK, name: "same" };
    expect(await faults(object("CheckThreshold", "d1", { ...named, ...THRESHOLDS }), object("CheckDeadman", "d2", named))).toEqual([]);
    const slack = object(SLACK, "d1", { name: "same", url: "http://x" });
    const http = object(HTTP, "d2", { name: "same", url: "http://x", type: "none", method: "GET" });
    expect(await faults(slack, http)).toEqual(["[0].spec.name: duplicate name: d1"]);
    const checks = [object("CheckDeadman", "d1", CHECK), object("CheckThreshold", "d1", { ...CHECK, ...THRESHOLDS })];
    expect(await faults(...checks)).toEqual(["[0].metadata.name: duplicate name: d1"]);
  });
});

test.each([
  ["a".repeat(63), null],
  ["a".repeat(64), "must be no more than 63 characters"],
  ["é".repeat(32), `must be no more than 63 characters; ${NAME_RULE}`],
  ["a_b", NAME_RULE],
])("the name %j", async (name, reason) => {
  const told = reason === null ? [] : [`[0].metadata.name: name ${JSON.stringify(name)} is invalid; ${reason}`];
  expect(await faults(object("Label", name, { name: "xx" }))).toEqual(told);
});

test("of an unknown version the name is not looked at", async () => {
  const wrong = { ...object("Label", "a_b", {}), apiVersion: "x" };
  const reason = 'invalid API version provided "x"; must be 1 in [influxdata.com/v2alpha1, influxdata.com/v2alpha2]';
  expect(await faults(wrong)).toEqual([`[0].apiVersion: ${reason}`]);
});

test("faults come in the order of the resources, those of associations last", async () => {
  const associations = [{ kind: "Label", name: "none" }, { kind: "x" }];
  const rule = object("NotificationRule", "r", { endpointName: "none", associations, statusRules: [{ currentLevel: "OK" }] });
  const bucket = object("Bucket", "b", { name: "x", associations, retentionRules: [{ everySeconds: 3600 }] });
  const last = (index: number) => [
    `[${index}].associations[0]: label "none" does not exist in pkg`,
    `[${index}].associations[1].kind: unsupported kind provided`,
  ];
  expect(await faults(rule, bucket)).toEqual([
    '[0].spec.endpointName: notification endpoint "none" does not exist in pkg',
    "[0].spec.every: must be provided",
    ...last(0),
    `[1].spec.name: ${SHORT}`,
    '[1].spec.retentionRules[0].type: type must be "expire"',
    ...last(1),
  ]);
});

const rule = (statusRules: readonly object[]) => [
  object(SLACK, "e", { url: "http://x" }),
  object("NotificationRule", "r", { endpointName: "e", every: "1m", statusRules }),
];
const board = (...charts: readonly object[]) => [object("Dashboard", "d", { name: "dd", charts })];
const level = (given: string) => `must be 1 in [CRIT, WARN, INFO, OK]; got="${given}"`;
describe("faults of members of one place have the path of the last of them, and are told once", () => {
  test.each([
    [
      [object("Bucket", "bb", { retentionRules: [{}, {}] })],
      [0, 1].flatMap((at) => [
        `[0].spec.retentionRules[${at}].type: seconds must be a minimum of 3600`,
        `[0].spec.retentionRules[${at}].type: type must be "expire"`,
      ]),
    ],
    [
      rule([{ currentLevel: "x", previousLevel: "y" }, { currentLevel: "x" }]),
      ["X", "Y"].map((given) => `[1].spec.statusRules.currentLevel[1]: ${level(given)}`),
    ],
    [
      board({ kind: "Gauge" }, { kind: "Gauge" }),
      [0, 1].flatMap((at) =>
        ["must be greater than 0", 'type not found: "min"', 'type not found: "max"'].map(
          (reason) => `[0].spec.charts[${at}].colors: ${reason}`,
        ),
      ),
    ],
    [
      board({ kind: "Table", colors: [{}, { hex: "#1" }, {}] }),
      [
        "[0].spec.charts[0].colors[2]: must be greater than 0",
        ...[0, 2].map((at) => `[0].spec.charts[0].colors[${at}].hex: a color must have a hex value provided`),
      ],
    ],
  ])("%j", async (contents, expected) => {
    expect(await faults(...contents)).toEqual(expected);
  });
});
