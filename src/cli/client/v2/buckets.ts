// tsdb v2 bucket, write, delete: buckets and the rows in them.
import { TsdbError } from "../../../model/errors.ts";
import type { ClientCommand } from "../command.ts";
import type { Input, Option } from "../options.ts";
import { retentionOf } from "../setup.ts";
import { SENDING, writeLines } from "../write.ts";
import { at, BUCKET, present, type Session, v2Command, wholeOf } from "./session.ts";
import { type Columns, durationText, type Row } from "./table.ts";

const BUCKETS = "/api/v2/buckets";

const ruleOf = (row: Row) => (row["retentionRules"] as { everySeconds?: number; shardGroupDurationSeconds?: number }[] | undefined)?.[0];
const COLUMNS: Columns = {
  ID: "id",
  Name: "name",
  Retention: (row) => durationText(ruleOf(row)?.everySeconds ?? 0),
  "Shard group duration": (row) => durationText(ruleOf(row)?.shardGroupDurationSeconds ?? 0, "n/a"),
  "Organization ID": "orgID",
  "Schema Type": (row) => row["schemaType"] ?? "implicit",
};

const NAME: Option = { name: "name", short: "n", value: "NAME", help: "The bucket's name.", env: ["INFLUX_BUCKET_NAME"] };
const ID: Option = { name: "id", short: "i", value: "ID", help: "The bucket's id.", env: ["INFLUX_BUCKET_ID"] };
const DESCRIPTION: Option = { name: "description", short: "d", value: "TEXT", help: "What it is for." };
const RETENTION: Option = { name: "retention", short: "r", value: "DURATION", help: "How long it keeps rows, such as 30d; 0 is for ever." };
const SHARD: Option = { name: "shard-group-duration", value: "DURATION", help: "The time that a file of it covers." };

/** Undefined if neither is given. @throws TsdbError config */
function rulesOf(input: Input): Row[] | undefined {
  const [retention, shard] = [input.option("retention"), input.option("shard-group-duration")];
  if (retention === undefined && shard === undefined) return undefined;
  const seconds = (text: string, name: string) => {
    try {
      return retentionOf(text);
    } catch (error) {
      throw new TsdbError("config", (error as Error).message.replace("--retention", name));
    }
  };
  const rule = {
    everySeconds: retention === undefined ? undefined : seconds(retention, "--retention"),
    shardGroupDurationSeconds: shard === undefined ? undefined : seconds(shard, "--shard-group-duration"),
  };
  return [{ type: "expire", ...present(rule) }];
}

/** The id that is given, or that of the name. @throws TsdbError config, not_found */
async function idOf(session: Session, input: Input): Promise<string> {
  const [id, name] = [input.given("id") ?? (input.given("name") === undefined ? input.option("id") : undefined), input.option("name")];
  if (id !== undefined) return id;
  if (name === undefined) throw new TsdbError("config", "which bucket? --id ID or --name NAME");
  return session.idOf(BUCKETS, "buckets", { ...session.neededOrganization, name }, `bucket "${name}"`);
}

/** A time with a date, as the server takes it. @throws TsdbError config */
function timeOf(input: Input, name: string): string {
  const text = input.required(name);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return text;
  throw new TsdbError("config", `--${name} must be a time such as 2026-01-02T03:04:05Z, got "${text}"`);
}

export const BUCKET_COMMANDS: readonly ClientCommand[] = [
  v2Command({
    words: "bucket create",
    summary: "Make a bucket.",
    hasOrganization: true,
    options: [NAME, DESCRIPTION, RETENTION, SHARD, { name: "schema-type", value: "TYPE", help: "implicit, which is the only one." }],
    run: async (session, input) => {
      const name = input.required("name");
      const own = { description: input.option("description"), schemaType: input.option("schema-type") };
      const body = { orgID: await session.orgId(), name, retentionRules: rulesOf(input) ?? [], ...present(own) };
      return session.show(COLUMNS, await session.json("POST", BUCKETS, { body }));
    },
  }),
  v2Command({
    words: "bucket list",
    also: ["ls", "find"],
    summary: "List buckets.",
    hasOrganization: true,
    options: [
      NAME,
      ID,
      { name: "limit", value: "COUNT", help: "Maximum number of buckets." },
      { name: "offset", value: "COUNT", help: "Leave out so many." },
    ],
    run: async (session, input) => {
      const query = present({ ...session.organization, name: input.option("name"), id: input.option("id") });
      const range = present({ limit: wholeOf(input, "limit"), offset: wholeOf(input, "offset") });
      return session.show(COLUMNS, await session.pages(BUCKETS, "buckets", query, range));
    },
  }),
  v2Command({
    words: "bucket update",
    summary: "Change a bucket's name, description or retention.",
    options: [ID, NAME, DESCRIPTION, RETENTION, SHARD],
    run: async (session, input) => {
      const own = { name: input.option("name"), description: input.option("description"), retentionRules: rulesOf(input) };
      return session.show(COLUMNS, await session.json("PATCH", at(BUCKETS, input.required("id")), { body: present(own) }));
    },
  }),
  v2Command({
    words: "bucket delete",
    also: ["rm"],
    summary: "Delete a bucket with its rows.",
    hasOrganization: true,
    options: [NAME, ID],
    run: async (session, input) => {
      const id = await idOf(session, input);
      const bucket = await session.json("GET", at(BUCKETS, id));
      await session.call("DELETE", at(BUCKETS, id));
      return session.show(COLUMNS, bucket);
    },
  }),
  v2Command({
    words: "write",
    summary: "Write line protocol from a file, an argument or standard input.",
    notes: "tsdb v2 write -b home 'temp,room=hall v=21.5'\ntsdb v2 write -b home -f lines.lp.gz -p s",
    positionals: [{ name: "LINES", isOptional: true }],
    hasOrganization: true,
    options: [
      ...BUCKET,
      { name: "file", short: "f", value: "FILE", help: "File with the lines; .gz is decompressed, - is standard input." },
      { name: "precision", short: "p", value: "UNIT", help: "Unit of times: s, ms, us, ns.", default: "ns", env: ["INFLUX_PRECISION"] },
      ...SENDING,
    ],
    run: (session, input) => {
      const query = { ...session.neededOrganization, ...writtenBucket(session), precision: input.option("precision") };
      return writeLines(input, session.terminal, { api: session.api, path: "/api/v2/write", query });
    },
  }),
  v2Command({
    words: "delete",
    summary: "Delete the rows of a bucket between two times.",
    notes: `tsdb v2 delete -b home --start 2026-01-01T00:00:00Z --stop 2026-02-01T00:00:00Z -p '_measurement="temp" AND room="hall"'`,
    hasOrganization: true,
    options: [
      ...BUCKET,
      { name: "start", value: "TIME", help: "The first time, such as 2026-01-02T03:04:05Z." },
      { name: "stop", value: "TIME", help: "The last time." },
      { name: "predicate", short: "p", value: "TEXT", help: "Which rows; without it all." },
    ],
    run: async (session, input) => {
      const body = { start: timeOf(input, "start"), stop: timeOf(input, "stop"), ...present({ predicate: input.option("predicate") }) };
      await session.call("POST", "/api/v2/delete", { query: { ...session.neededOrganization, ...session.bucket }, body });
      return 0;
    },
  }),
];

/** Writes have one parameter for both. */
function writtenBucket({ bucket }: Session): { readonly bucket: string } {
  return { bucket: "bucketID" in bucket ? bucket.bucketID : bucket.bucket };
}
