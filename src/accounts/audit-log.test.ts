// The audit log as it is stored: its lines, how long they are kept, and what happens when they cannot be stored.
import { describe, expect, test } from "bun:test";
import { findAuditTable } from "../ingest/definitions/server-tables.ts";
import type { IncomingBody, WriteService } from "../model/write.ts";
import { MemoryObjectStore } from "../object-store/memory-object-store.ts";
import { Catalog } from "../storage/catalog/catalog.ts";
import { AuditLog } from "./audit-log.ts";

const DAY_NS = 86_400_000_000_000n;

async function world(retentionNs = 90n * DAY_NS) {
  const catalog = await Catalog.open(new MemoryObjectStore(), { prefix: "catalog" });
  const bodies: string[] = [];
  const reports: string[] = [];
  const failing = { isOn: false };
  const writes: WriteService = {
    receive: (): IncomingBody => {
      let text = "";
      return {
        ...{ byteCount: 0, memoryBytes: 0, release: () => {} },
        append: (bytes) => {
          text += Buffer.from(bytes).toString();
        },
        write: async () => {
          if (failing.isOn) throw new Error("no space");
          bodies.push(text);
          return { rowCount: 1, rejectedCount: 0, lineErrors: [], schemaLimit: false, empty: false };
        },
      };
    },
  };
  const log = (retention = retentionNs) =>
    new AuditLog({ catalog, retentionNs: retention, nowMs: () => 1000, report: (level, text) => reports.push(`${level} ${text}`) });
  return { catalog, bodies, reports, failing, writes, log };
}

describe("events", () => {
  test("before the start of writes wait for it, each with a time of its own", async () => {
    const { bodies, writes, log } = await world();
    const audit = log();
    audit.record({ actor: "user ann", action: "sign_in", address: "192.0.2.1" });
    audit.record({ actor: 'user "a\\b"', action: "sign_in", outcome: "failure", details: "a\nb" });
    expect(bodies).toEqual([]);
    audit.start(writes);
    await audit.flush();
    expect(bodies).toEqual([
      'audit_log actor="user ann",action="sign_in",target="",outcome="success",address="192.0.2.1",details="" 1000000000\n' +
        'audit_log actor="user \\"a\\\\b\\"",action="sign_in",target="",outcome="failure",address="",details="a\nb" 1000000001\n',
    ]);
  });

  test("that cannot be stored are counted, and the count is stored", async () => {
    const { bodies, reports, failing, writes, log } = await world();
    const audit = log();
    audit.start(writes);
    failing.isOn = true;
    for (let i = 0; i < 3; i++) audit.record({ actor: "user ann", action: "sign_in" });
    await audit.flush();
    expect(bodies).toEqual([]);
    expect(reports.filter((line) => line.startsWith("error"))).toEqual(["error events of the audit log cannot be stored"]);
    failing.isOn = false;
    audit.record({ actor: "user ann", action: "sign_out" });
    await audit.flush();
    expect(bodies[0]!.split("\n")).toEqual([
      expect.stringContaining("sign_out"),
      expect.stringContaining("3 events could not be stored"),
      "",
    ]);
    // every event is in the server's log
    expect(reports.filter((line) => line === "info audit")).toHaveLength(4);
  });

  test("of a flood are bounded in memory and in length", async () => {
    const { bodies, writes, log } = await world();
    const audit = log();
    for (let i = 0; i < 20_000; i++) audit.record({ actor: "x".repeat(100_000), action: "sign_in" });
    audit.start(writes);
    await audit.flush();
    const lines = bodies.join("").split("\n");
    expect(lines.length).toBe(10_002);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(1200);
    expect(lines.at(-2)).toContain("10000 events could not be stored");
  });
});

test("rows are kept as long as the server says, from its next start on", async () => {
  const { catalog, writes, log } = await world();
  const retention = () => catalog.retentionNs("table", findAuditTable(catalog)!.id);
  for (const days of [90n, 7n, 7n, 365n]) {
    const audit = log(days * DAY_NS);
    audit.start(writes);
    audit.record({ actor: "user ann", action: "sign_in" });
    await audit.flush();
    expect(retention()).toBe(days * DAY_NS);
  }
});
