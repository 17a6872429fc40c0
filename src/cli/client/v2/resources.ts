// tsdb v2 dashboards, telegrafs, remote, replication: what is listed, made, changed and deleted in the same way.
import { TsdbError } from "../../../model/errors.ts";
import type { ClientCommand } from "../command.ts";
import type { Input, Option } from "../options.ts";
import { statementOf } from "../query.ts";
import { at, listOf, present, type Session, v2Command, wholeOf } from "./session.ts";
import type { Columns, Row } from "./table.ts";

const DASHBOARDS = "/api/v2/dashboards";
const TELEGRAFS = "/api/v2/telegrafs";
const REMOTES = "/api/v2/remotes";
const REPLICATIONS = "/api/v2/replications";

const DASHBOARD_COLUMNS: Columns = {
  ID: "id",
  OrgID: "orgID",
  Name: "name",
  Description: "description",
  "Num Cells": (row) => (row["cells"] as unknown[] | undefined)?.length ?? 0,
};
const TELEGRAF_COLUMNS: Columns = { ID: "id", OrgID: "orgID", Name: "name", Description: "description" };
const REMOTE_COLUMNS: Columns = {
  ID: "id",
  Name: "name",
  "Org ID": "orgID",
  "Remote URL": "remoteURL",
  "Remote Org ID": "remoteOrgID",
  "Allow Insecure TLS": "allowInsecureTLS",
};
const REPLICATION_COLUMNS: Columns = {
  ID: "id",
  Name: "name",
  "Org ID": "orgID",
  "Remote ID": "remoteID",
  "Local Bucket ID": "localBucketID",
  "Remote Bucket ID": "remoteBucketID",
  // other servers begin it with a capital letter
  "Remote Bucket Name": (row) => row["remoteBucketName"] ?? row["RemoteBucketName"],
  "Remaining Bytes to be Synced": "remainingBytesToBeSynced",
  "Current Queue Bytes on Disk": "currentQueueSizeBytes",
  "Max Queue Bytes": "maxQueueSizeBytes",
  "Latest Status Code": "latestResponseCode",
  "Drop Non-Retryable Data": "dropNonRetryableData",
};

const ID: Option = { name: "id", short: "i", value: "ID", help: "Its id." };
const IDS: Option = { ...ID, help: "Their ids; may be repeated.", joinedBy: "," };
const NAME: Option = { name: "name", short: "n", value: "NAME", help: "Its name." };
const DESCRIPTION: Option = { name: "description", short: "d", value: "TEXT", help: "What it is for." };

/** Of one organization, as the server wants it: by its id. */
async function inOrganization(session: Session, rest: Readonly<Record<string, string | undefined>>): Promise<Record<string, string>> {
  return { orgID: await session.orgId(), ...(present(rest) as Record<string, string>) };
}

/** Deletes one after the other; shows what is deleted. */
async function deleteAll(session: Session, path: string, ids: readonly string[], columns: Columns): Promise<number> {
  if (ids.length === 0) throw new TsdbError("config", "--id is needed: -i ID");
  const rows: Row[] = [];
  for (const id of ids) {
    rows.push(await session.json("GET", at(path, id), { headers: { accept: "application/json" } }));
    await session.call("DELETE", at(path, id));
  }
  return session.show(columns, rows);
}

const DASHBOARD: readonly ClientCommand[] = [
  v2Command({
    words: "dashboards",
    summary: "List dashboards.",
    hasOrganization: true,
    options: [IDS],
    run: async (session, input) => {
      const query = present({ ...session.organization });
      const ids = listOf(input, "id");
      if (ids.length === 0) return session.show(DASHBOARD_COLUMNS, await session.pages(DASHBOARDS, "dashboards", query));
      return session.show(DASHBOARD_COLUMNS, await Promise.all(ids.map((id) => session.json("GET", at(DASHBOARDS, id)))));
    },
  }),
];

const FILE: Option = { name: "file", short: "f", value: "FILE", help: "File with the configuration (TOML); - is standard input." };

const TELEGRAF: readonly ClientCommand[] = [
  v2Command({
    words: "telegrafs",
    summary: "List Telegraf configurations; one with --id as TOML.",
    hasOrganization: true,
    options: [ID],
    run: async (session, input) => {
      const id = input.option("id");
      if (id === undefined) {
        const query = present({ ...session.organization });
        const configurations = await session.list(TELEGRAFS, "configurations", query);
        return session.show(TELEGRAF_COLUMNS, configurations);
      }
      const found = await session.json("GET", at(TELEGRAFS, id), { headers: { accept: "application/json" } });
      if (input.flag("json")) return session.show(TELEGRAF_COLUMNS, found);
      session.terminal.out(`${String(found["config"]).replace(/\n*$/, "")}\n`);
      return 0;
    },
  }),
  v2Command({
    words: "telegrafs create",
    summary: "Keep a Telegraf configuration, for `telegraf --config URL`.",
    hasOrganization: true,
    options: [NAME, DESCRIPTION, FILE],
    run: async (session, input) => {
      const [name, config] = [input.required("name"), await statementOf(input, session.terminal)];
      const body = { orgID: await session.orgId(), name, config, description: input.option("description") ?? "" };
      return session.show(TELEGRAF_COLUMNS, await session.json("POST", TELEGRAFS, { body }));
    },
  }),
  v2Command({
    words: "telegrafs update",
    summary: "Change a Telegraf configuration; what is not given stays.",
    options: [ID, NAME, DESCRIPTION, FILE],
    run: async (session, input) => {
      const path = at(TELEGRAFS, input.required("id"));
      const { name, description, config, metadata, orgID } = await session.json("GET", path, { headers: { accept: "application/json" } });
      const given = {
        name: input.option("name"),
        description: input.option("description"),
        config: input.option("file") === undefined ? undefined : await statementOf(input, session.terminal),
      };
      // the server reads out of a new one what it writes to
      const kept = given.config === undefined ? { config, metadata } : {};
      const body = { name, description, orgID, ...kept, ...present(given) };
      return session.show(TELEGRAF_COLUMNS, await session.json("PUT", path, { body }));
    },
  }),
  v2Command({
    words: "telegrafs rm",
    also: ["delete", "remove"],
    summary: "Delete Telegraf configurations.",
    options: [IDS],
    run: (session, input) => deleteAll(session, TELEGRAFS, listOf(input, "id"), TELEGRAF_COLUMNS),
  }),
];

const REMOTE_OPTIONS: readonly Option[] = [
  NAME,
  DESCRIPTION,
  { name: "remote-url", value: "URL", help: "The other server." },
  { name: "remote-api-token", value: "TOKEN", help: "An API token of it." },
  { name: "remote-org-id", value: "ID", help: "An organization of it, by its id." },
  { name: "allow-insecure-tls", value: null, help: "Trust any certificate of it." },
];

function remoteOf(input: Input) {
  return present({
    name: input.option("name"),
    description: input.option("description"),
    remoteURL: input.option("remote-url"),
    remoteAPIToken: input.option("remote-api-token"),
    remoteOrgID: input.option("remote-org-id"),
    allowInsecureTLS: input.option("allow-insecure-tls") === undefined ? undefined : input.flag("allow-insecure-tls"),
  });
}

const REPLICATION_OPTIONS: readonly Option[] = [
  NAME,
  DESCRIPTION,
  { name: "remote-id", value: "ID", help: "The remote that rows are sent to." },
  { name: "remote-bucket-id", value: "ID", help: "A bucket there, by its id." },
  { name: "remote-bucket", value: "NAME", help: "The same by its name." },
  { name: "max-queue-bytes", value: "BYTES", help: "Rows that wait on disk; default 67108860." },
  { name: "max-age", value: "SECONDS", help: "How long rows wait; default 604800, 0 is for ever." },
  { name: "drop-non-retryable-data", value: null, help: "Drop rows that the other server refuses." },
  { name: "no-drop-non-retryable-data", value: null, help: "Keep them, and try again." },
];

/** Undefined if neither switch is given. @throws TsdbError config: both are */
function dropsOf(input: Input): boolean | undefined {
  const [drops, keeps] = [input.flag("drop-non-retryable-data"), input.flag("no-drop-non-retryable-data")];
  if (drops && keeps) throw new TsdbError("config", "either --drop-non-retryable-data or --no-drop-non-retryable-data");
  return drops ? true : keeps ? false : undefined;
}

function replicationOf(input: Input) {
  return present({
    name: input.option("name"),
    description: input.option("description"),
    remoteID: input.option("remote-id"),
    remoteBucketID: input.option("remote-bucket-id"),
    remoteBucketName: input.option("remote-bucket"),
    maxQueueSizeBytes: wholeOf(input, "max-queue-bytes"),
    maxAgeSeconds: wholeOf(input, "max-age"),
    dropNonRetryableData: dropsOf(input),
  });
}

/** What a replication has unless it is said: the server wants both. */
const QUEUE = { maxQueueSizeBytes: 67_108_860, maxAgeSeconds: 604_800 };

const REMOTE: readonly ClientCommand[] = [
  v2Command({
    words: "remote create",
    summary: "Name another server, to send rows to.",
    hasOrganization: true,
    options: REMOTE_OPTIONS,
    run: async (session, input) => {
      for (const name of ["name", "remote-url", "remote-api-token"]) input.required(name);
      const body = { orgID: await session.orgId(), allowInsecureTLS: false, ...remoteOf(input) };
      return session.show(REMOTE_COLUMNS, await session.json("POST", REMOTES, { body }));
    },
  }),
  v2Command({
    words: "remote list",
    also: ["ls", "find"],
    summary: "List remotes.",
    hasOrganization: true,
    options: [NAME, { name: "remote-url", value: "URL", help: "Those of this server." }],
    run: async (session, input) => {
      const query = await inOrganization(session, { name: input.option("name"), remoteURL: input.option("remote-url") });
      return session.show(REMOTE_COLUMNS, await session.list(REMOTES, "remotes", query));
    },
  }),
  v2Command({
    words: "remote update",
    summary: "Change a remote.",
    options: [ID, ...REMOTE_OPTIONS],
    run: async (session, input) =>
      session.show(REMOTE_COLUMNS, await session.json("PATCH", at(REMOTES, input.required("id")), { body: remoteOf(input) })),
  }),
  v2Command({
    words: "remote delete",
    also: ["rm"],
    summary: "Delete a remote.",
    options: [ID],
    run: (session, input) => deleteAll(session, REMOTES, [input.required("id")], REMOTE_COLUMNS),
  }),
];

const LOCAL_BUCKET: Option = { name: "local-bucket-id", value: "ID", help: "The bucket whose rows are sent." };

const REPLICATION: readonly ClientCommand[] = [
  v2Command({
    words: "replication create",
    summary: "Send the rows of a bucket to another server as they are written.",
    hasOrganization: true,
    options: [...REPLICATION_OPTIONS, LOCAL_BUCKET],
    run: async (session, input) => {
      for (const name of ["name", "remote-id"]) input.required(name);
      const localBucketID = input.required("local-bucket-id");
      if (input.option("remote-bucket-id") === undefined) input.required("remote-bucket");
      const body = { orgID: await session.orgId(), localBucketID, ...QUEUE, ...replicationOf(input) };
      return session.show(REPLICATION_COLUMNS, await session.json("POST", REPLICATIONS, { body }));
    },
  }),
  v2Command({
    words: "replication list",
    also: ["ls", "find"],
    summary: "List replications, and what waits in them.",
    hasOrganization: true,
    options: [NAME, { name: "remote-id", value: "ID", help: "Those to this remote." }, LOCAL_BUCKET],
    run: async (session, input) => {
      const own = { name: input.option("name"), remoteID: input.option("remote-id"), localBucketID: input.option("local-bucket-id") };
      const query = await inOrganization(session, own);
      return session.show(REPLICATION_COLUMNS, await session.list(REPLICATIONS, "replications", query));
    },
  }),
  v2Command({
    words: "replication update",
    summary: "Change a replication.",
    options: [ID, ...REPLICATION_OPTIONS],
    run: async (session, input) =>
      session.show(
        REPLICATION_COLUMNS,
        await session.json("PATCH", at(REPLICATIONS, input.required("id")), { body: replicationOf(input) }),
      ),
  }),
  v2Command({
    words: "replication delete",
    also: ["rm"],
    summary: "Delete a replication with what waits in it.",
    options: [ID],
    run: (session, input) => deleteAll(session, REPLICATIONS, [input.required("id")], REPLICATION_COLUMNS),
  }),
];

export const RESOURCE_COMMANDS: readonly ClientCommand[] = [...DASHBOARD, ...TELEGRAF, ...REMOTE, ...REPLICATION];
