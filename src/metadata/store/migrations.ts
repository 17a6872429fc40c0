// The tables of the view. Each step is run once on a database whose version is lower, so a snapshot of an older server can be brought to
// the current form; steps that were released are never changed.
import type { Database } from "bun:sqlite";

const MIGRATIONS: readonly string[] = [
  `create table organizations (
     id text primary key, name text not null unique, description text not null, namespace integer not null unique,
     createdAt text not null, updatedAt text not null
   ) strict;
   create table users (id text primary key, name text not null unique, status text not null, oauthID text not null) strict;
   create table passwords (id text primary key references users, hash text not null) strict;
   -- of the catalog, by the ids of buckets
   create table databases (
     id text primary key, namespace integer not null, name text not null, isDeleted integer not null,
     retentionSeconds integer not null, shardSeconds integer not null
   ) strict;
   create index databasesByName on databases (namespace, name);
   create table bucketRecords (
     id text primary key, type text not null, description text not null, rp text not null, createdAt text not null, updatedAt text not null
   ) strict;
   create view buckets as
     select d.id, o.id as orgID, d.name, coalesce(b.type, 'user') as type, coalesce(b.description, '') as description,
       coalesce(b.rp, '') as rp, d.retentionSeconds, d.shardSeconds, b.createdAt, b.updatedAt
     from databases d join organizations o on o.namespace = d.namespace left join bucketRecords b on b.id = d.id
     where d.isDeleted = 0;
   create table members (
     id text primary key, userID text not null references users, resourceType text not null, resourceID text not null, role text not null,
     unique (resourceType, resourceID, userID)
   ) strict;
   create index membersByUser on members (userID);
   create table authorizations (
     id text primary key, orgID text not null references organizations, userID text not null, status text not null,
     description text not null, permissions text not null, createdAt text not null, updatedAt text not null,
     tokenHash text not null unique, sealedToken text
   ) strict;
   create table legacyAuthorizations (
     id text primary key, orgID text not null references organizations, userID text not null, status text not null,
     description text not null, permissions text not null, createdAt text not null, updatedAt text not null,
     username text not null unique, passwordHash text
   ) strict;
   create table secrets (
     id text primary key, orgID text not null references organizations, key text not null, sealedValue text not null, unique (orgID, key)
   ) strict;`,
  `create table labels (
     id text primary key, orgID text not null references organizations, name text not null, properties text not null
   ) strict;
   create index labelsByOrganization on labels (orgID);
   create table labelMappings (
     id text primary key, labelID text not null references labels, resourceType text not null, resourceID text not null,
     unique (resourceType, resourceID, labelID)
   ) strict;
   create index mappingsByLabel on labelMappings (labelID);`,
  `create table dbrps (
     id text primary key, orgID text not null references organizations, bucketID text not null, database text not null,
     retentionPolicy text not null, isDefault integer not null, unique (orgID, database, retentionPolicy)
   ) strict;
   create index dbrpsByBucket on dbrps (bucketID);`,
  `create table scrapers (
     id text primary key, orgID text not null, bucketID text not null, name text not null, type text not null, url text not null,
     allowInsecure integer not null
   ) strict;
   create index scrapersByOrganization on scrapers (orgID);`,
  `create table checks (
     id text primary key, orgID text not null references organizations, name text not null, description text not null, status text not null,
     settings text not null, createdAt text not null, updatedAt text not null, ownerID text not null, taskID text not null,
     unique (orgID, name)
   ) strict;
   create table notificationEndpoints (
     id text primary key, orgID text not null, name text not null, description text not null, status text not null,
     settings text not null, createdAt text not null, updatedAt text not null, unique (orgID, name)
   ) strict;
   create table notificationRules (
     id text primary key, orgID text not null references organizations, name text not null, description text not null, status text not null,
     settings text not null, createdAt text not null, updatedAt text not null, ownerID text not null, taskID text not null,
     endpointID text not null
   ) strict;
   create index notificationRulesByOrganization on notificationRules (orgID);
   create index notificationRulesByEndpoint on notificationRules (endpointID);`,
  `create table tasks (
     id text primary key, orgID text not null references organizations, ownerID text not null, kind text not null, name text not null,
     description text not null, status text not null, flux text not null, every text, cron text, offset text, createdAt text not null,
     updatedAt text
   ) strict;
   create index tasksByOrganization on tasks (orgID);
   create table taskStates (
     id text primary key references tasks, latestCompleted text not null, doneAhead text not null, lastRunStatus text, lastRunError text,
     lastSuccess text
   ) strict;
   create table taskRuns (
     id text primary key, taskID text not null references tasks, scheduledFor text not null, requestedAt text not null,
     unique (taskID, scheduledFor)
   ) strict;`,
  `create table dashboards (
     id text primary key, orgID text not null references organizations, name text not null, description text not null, cells text not null,
     createdAt text not null, updatedAt text not null
   ) strict;
   create index dashboardsByOrganization on dashboards (orgID);
   create table variables (
     id text primary key, orgID text not null references organizations, name text not null, description text not null,
     arguments text not null, selected text, createdAt text not null, updatedAt text not null
   ) strict;
   create index variablesByOrganization on variables (orgID);`,
  `create table remotes (
     id text primary key, orgID text not null, name text not null, description text, remoteURL text not null, remoteOrgID text,
     allowInsecureTLS integer not null, sealedToken text not null, unique (orgID, name)
   ) strict;
   create table replications (
     id text primary key, orgID text not null, name text not null, description text, remoteID text not null references remotes,
     localBucketID text not null, remoteBucketID text, remoteBucketName text not null, maxQueueSizeBytes integer not null,
     dropNonRetryableData integer not null, maxAgeSeconds integer not null, sinceSequence integer not null, unique (orgID, name)
   ) strict;
   create index replicationsByRemote on replications (remoteID);
   create index replicationsByBucket on replications (localBucketID);`,
  `create table stacks (
     id text primary key, orgID text not null references organizations, createdAt text not null, events text not null
   ) strict;
   create index stacksByOrganization on stacks (orgID);`,
  `create table telegrafs (
     id text primary key, orgID text not null references organizations, name text not null, description text not null,
     config text not null, metadata text not null
   ) strict;
   create index telegrafsByOrganization on telegrafs (orgID);`,
  `create table sources (
     id text primary key, orgID text not null, isDefault integer not null, name text not null, type text not null, url text not null,
     metaUrl text not null, telegraf text not null, defaultRP text not null, username text not null, insecureSkipVerify integer not null,
     sealedSecrets text not null
   ) strict;
   create index sourcesByOrganization on sources (orgID);`,
  `create table notebooks (
     id text primary key, orgID text not null references organizations, name text not null, spec text not null, createdAt text not null,
     updatedAt text not null
   ) strict;
   create index notebooksByOrganization on notebooks (orgID);
   create table annotationStreams (
     id text primary key, orgID text not null references organizations, name text not null, description text not null,
     createdAt text not null, updatedAt text not null, unique (orgID, name)
   ) strict;
   create table annotations (
     id text primary key, orgID text not null references organizations, streamID text not null references annotationStreams,
     summary text not null, message text not null, stickers text not null, startTime text not null, endTime text not null
   ) strict;
   create index annotationsByStream on annotations (streamID, startTime, id);
   create index annotationsByOrganization on annotations (orgID);`,
  `create index variablesByName on variables (orgID, lower(name));
   create index labelsByName on labels (orgID, lower(name));`,
  "alter table dashboards add column cellPlaces text not null default '[]'",
  // a run that waits may be repeated for the same time
  `create table repeatedRuns (
     id text primary key, taskID text not null references tasks, scheduledFor text not null, requestedAt text not null
   ) strict;
   insert into repeatedRuns select id, taskID, scheduledFor, requestedAt from taskRuns;
   drop table taskRuns;
   alter table repeatedRuns rename to taskRuns;
   create index taskRunsByTask on taskRuns (taskID);`,
];

/** Runs the steps that the database has not seen. */
export function migrate(db: Database, steps: readonly string[] = MIGRATIONS): void {
  const { user_version: version } = db.query<{ user_version: number }, []>("pragma user_version").get()!;
  for (const [i, step] of steps.entries()) {
    if (i < version) continue;
    db.transaction(() => {
      db.run(step);
      db.run(`pragma user_version = ${i + 1}`);
    })();
  }
}
