// Retention policies as InfluxDB 1.6.7 has them (test/golden/tsdbql/policies.json), with a start after each scene; and the statements of
// the differential test over rows of a default policy.
import { expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { createDatabases, isSameAnswerTo, WRITTEN_STATEMENTS } from "./differential.ts";
import { DATA, DATABASE } from "./differential-data.ts";
import { INTENDED } from "./differential-open.ts";
import { peerAt } from "./peer.ts";
import { expectScenes, golden } from "./policy-scenes.ts";

const TIMEOUT_MS = 120_000;

test("what 1.6.7 answers step by step, with a start after each scene", () => expectScenes(() => true), TIMEOUT_MS);

test(
  "rows of a default policy are answered as if there were no other",
  async () => {
    const goldens = new Map(golden("differential"));
    const server = await TestServer.start();
    const peer = peerAt(server.url);
    try {
      await peer.query({ q: `CREATE DATABASE ${DATABASE} WITH DURATION INF NAME main; CREATE DATABASE other` });
      await peer.query({ q: "CREATE RETENTION POLICY main ON other DURATION INF REPLICATION 1 DEFAULT" });
      await createDatabases(peer);
      for (const { database, retentionPolicy, lines } of DATA) {
        if (lines.length > 0) await peer.write(database, retentionPolicy, lines.join("\n"));
      }
      const wrong: string[] = [];
      const statements = WRITTEN_STATEMENTS.filter((one) => !INTENDED.has(one) && !/autogen|retention polic/i.test(one));
      for (const statement of statements) {
        const { text } = await peer.query({ db: DATABASE, q: statement });
        if (!isSameAnswerTo(statement, text.trimEnd(), goldens.get(statement)!))
          wrong.push(`${statement}\n${goldens.get(statement)}\n${text}`);
      }
      expect(statements.length).toBeGreaterThan(600);
      expect(wrong).toEqual([]);
    } finally {
      await server.dispose();
    }
  },
  TIMEOUT_MS,
);
