// Retention policies, step by step: writes and statements with the database and the policy that the request names. `npm run goldens:tsdbql`
// asks the peer.
import type { Peer } from "./peer.ts";

export type PolicyStep =
  | { readonly q: string; readonly db?: string; readonly rp?: string }
  | { readonly write: string; readonly db: string; readonly rp?: string };

/** Of the database that statements are about unless they say so. */
const DATABASE = "p";

const made: PolicyStep[] = [
  "CREATE DATABASE p WITH DURATION INF REPLICATION 3 SHARD DURATION 3h NAME y",
  "SHOW RETENTION POLICIES",
  // the same again, and others
  "CREATE DATABASE p WITH DURATION INF REPLICATION 3 SHARD DURATION 3h NAME y",
  "CREATE DATABASE p WITH DURATION INF NAME y",
  "CREATE DATABASE p WITH NAME z",
  "CREATE DATABASE p WITH DURATION 3d",
  "CREATE DATABASE p",
  "SELECT * FROM autogen.m",
  "CREATE RETENTION POLICY z ON p DURATION INF REPLICATION 1",
  "CREATE RETENTION POLICY autogen ON p DURATION INF REPLICATION 1",
  "CREATE RETENTION POLICY autogen ON p DURATION INF REPLICATION 1 DEFAULT",
  "CREATE RETENTION POLICY y ON p DURATION INF REPLICATION 3 DEFAULT",
  "CREATE RETENTION POLICY y ON p DURATION INF REPLICATION 3 SHARD DURATION 3h DEFAULT",
  "SHOW RETENTION POLICIES",
  // names and durations
  'CREATE DATABASE ""',
  'CREATE DATABASE "."',
  'CREATE DATABASE "a/b"',
  'CREATE DATABASE "a\\\\b"',
  'CREATE DATABASE x WITH NAME "a/b"',
  'CREATE RETENTION POLICY "" ON p DURATION INF REPLICATION 1',
  'CREATE RETENTION POLICY "a/b" ON nowhere DURATION 1m REPLICATION 1',
  "CREATE RETENTION POLICY t ON nowhere DURATION 1m REPLICATION 1",
  "CREATE RETENTION POLICY t ON nowhere DURATION 1h REPLICATION 1",
  "CREATE RETENTION POLICY t ON p DURATION 1h REPLICATION 1 SHARD DURATION 2h",
  "CREATE DATABASE x WITH DURATION 1m",
  "CREATE DATABASE x WITH DURATION 1h SHARD DURATION 2h",
  "SHOW RETENTION POLICIES ON x",
  'CREATE DATABASE x WITH NAME ""',
  "SHOW RETENTION POLICIES ON x",
  "CREATE DATABASE x WITH NAME autogen",
  "CREATE DATABASE x WITH REPLICATION 1",
  'CREATE RETENTION POLICY "MyRp" ON x DURATION 1d REPLICATION 1 DEFAULT',
  "SHOW RETENTION POLICIES ON x",
  "CREATE DATABASE x WITH REPLICATION 1",
  'ALTER RETENTION POLICY "MyRp" ON x SHARD DURATION 2d',
  'ALTER RETENTION POLICY "MyRp" ON x SHARD DURATION 10m',
  'ALTER RETENTION POLICY "MyRp" ON x DURATION 30m',
  'ALTER RETENTION POLICY "MyRp" ON x DURATION 4d REPLICATION 2 SHARD DURATION 1m',
  'ALTER RETENTION POLICY "MyRp" ON x DURATION 1h',
  "ALTER RETENTION POLICY autogen ON x DURATION 1d",
  "ALTER RETENTION POLICY autogen ON x DURATION 1d SHARD DURATION 0s DEFAULT",
  "SHOW RETENTION POLICIES ON x",
  "ALTER RETENTION POLICY missing ON x DURATION 1m",
  "ALTER RETENTION POLICY missing ON nowhere DURATION 1m",
  "DROP DATABASE x",
  "SHOW RETENTION POLICIES ON x",
].map((q) => ({ q, db: DATABASE }));

const written: PolicyStep[] = [
  { write: "m,t=d f=1 1", db: DATABASE },
  { write: "m,t=y f=2 2\nmy,t=y g=2i 2", db: DATABASE, rp: "y" },
  { write: 'm,t=z f=3 3\nmz,t=z,u=z h="a" 3', db: DATABASE, rp: "z" },
  { write: "m,t=a f=4 4\nma,t=a,v=a k=t 4", db: DATABASE, rp: "autogen" },
];

const READS: readonly string[] = [
  "SELECT * FROM m",
  "SELECT f FROM y.m",
  "SELECT f, t FROM z.m",
  "SELECT f FROM autogen.m",
  "SELECT f FROM p..m",
  "SELECT f FROM p.z.m",
  "SELECT f FROM missing.m",
  "SELECT f FROM p.missing.m",
  "SELECT * FROM (SELECT f FROM m)",
  "SELECT * FROM (SELECT f FROM z.m), (SELECT f FROM m)",
  "SELECT f FROM m, z.m",
  "SELECT count(f) FROM /m/",
  "SHOW MEASUREMENTS",
  "SHOW SERIES",
  "SHOW SERIES FROM m",
  "SHOW TAG KEYS",
  "SHOW TAG KEYS FROM mz",
  "SHOW TAG VALUES WITH KEY = t",
  "SHOW FIELD KEYS",
  "SHOW FIELD KEYS FROM mz",
  "SHOW FIELD KEYS FROM z.mz",
  "SHOW SERIES CARDINALITY",
  "SHOW SERIES EXACT CARDINALITY",
  "SHOW SERIES EXACT CARDINALITY FROM m",
  "SHOW SERIES CARDINALITY FROM mz",
  "SHOW SERIES CARDINALITY FROM z.mz",
  "SHOW MEASUREMENT CARDINALITY",
  "SHOW MEASUREMENT EXACT CARDINALITY",
  "SHOW TAG KEY EXACT CARDINALITY",
  "SHOW TAG VALUES EXACT CARDINALITY WITH KEY = t",
  "SHOW FIELD KEY EXACT CARDINALITY",
];

const read: PolicyStep[] = READS.flatMap((q) =>
  [undefined, "", "z"].map((rp) => ({ q, db: DATABASE, ...(rp === undefined ? {} : { rp }) })),
);

const changed: PolicyStep[] = [
  "SELECT * INTO c FROM m GROUP BY *",
  "SELECT * FROM y.c",
  "SELECT * INTO z.c FROM m GROUP BY *",
  "SELECT * FROM z.c",
  "SELECT * INTO p..c2 FROM z.m GROUP BY *",
  "SELECT * FROM c2",
  "SELECT f INTO missing.c FROM m",
  "SELECT f INTO z.:MEASUREMENT FROM /^m$/ GROUP BY *",
  "SELECT f FROM z.m",
  "DELETE FROM m WHERE t = 'y'",
  "SELECT f FROM z.m",
  "SELECT f FROM m",
  "DROP SERIES FROM m WHERE t = 'a'",
  "SELECT f FROM autogen.m",
  "DROP MEASUREMENT c",
  "SELECT * FROM z.c",
  "SELECT * FROM c",
  // another default
  "ALTER RETENTION POLICY z ON p DEFAULT",
  "SHOW RETENTION POLICIES",
  "SELECT f FROM m",
  "SHOW FIELD KEYS FROM mz",
  "SHOW SERIES EXACT CARDINALITY FROM m",
  "ALTER RETENTION POLICY autogen ON p DEFAULT",
  "SELECT f FROM m",
  "SELECT k FROM ma",
  "ALTER RETENTION POLICY y ON p DEFAULT",
].map((q) => ({ q, db: DATABASE }));

/** The default one goes, then all, then there is one again. 1.6.7 goes on listing what was only in a policy that was dropped, so lists of
 *  measurements and tags are asked for when all are gone. */
const dropped: PolicyStep[] = [
  "DROP RETENTION POLICY missing ON p",
  "DROP RETENTION POLICY y ON p",
  "SHOW RETENTION POLICIES",
  "SELECT f FROM m",
  "SELECT f FROM p..m",
  "SELECT f FROM z.m",
  "SHOW FIELD KEYS",
  "SHOW SERIES EXACT CARDINALITY",
  "SELECT f INTO x FROM z.m",
  "DROP RETENTION POLICY autogen ON p",
  "SHOW RETENTION POLICIES",
  "SELECT k FROM autogen.ma",
  "DROP RETENTION POLICY z ON p",
  "SHOW RETENTION POLICIES",
  "SHOW MEASUREMENTS",
  "CREATE DATABASE p",
  "SHOW RETENTION POLICIES",
  "CREATE DATABASE p WITH DURATION 2d NAME w",
  "SHOW RETENTION POLICIES",
  "SELECT f FROM m",
  "DROP DATABASE p",
  "SELECT f FROM m",
].map((q) => ({ q, db: DATABASE }));

/** Between them a server may be started again. */
export const POLICY_SCENES: readonly (readonly PolicyStep[])[] = [made, written, read, changed, read, dropped];

/** The answer of each statement, in order. */
export async function askPolicies(server: Omit<Peer, "stop">, steps: readonly PolicyStep[]): Promise<string[]> {
  const answers: string[] = [];
  for (const step of steps) {
    if ("write" in step) await server.write(step.db, step.rp ?? null, step.write);
    else answers.push((await server.query({ ...step })).text.trimEnd());
  }
  return answers;
}
