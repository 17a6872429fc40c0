// Triggers in the catalog: the same after every restart, read from the log or from a snapshot; gone with their database; what does not fit
// is refused.
import { describe, expect, test } from "bun:test";
import type { TriggerDef } from "../../model/triggers.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "./catalog.ts";
import { type CatalogOperation, readOperation } from "./operations.ts";
import { CatalogState } from "./state.ts";

const DATABASES: CatalogOperation[] = [
  { kind: "create_database", id: 1, namespace: 0, name: "a" },
  { kind: "create_database", id: 2, namespace: 0, name: "b" },
];

const trigger = (id: number, over: Partial<TriggerDef> = {}): TriggerDef => ({
  ...{ id, databaseId: 1, name: `t${id}`, plugin: "count.py", specification: "all_tables", runAsync: false, errorBehavior: "log" },
  ...{ arguments: null, nodes: "all", state: "enabled", sequence: 7, createdMs: 1_700_000_000_000 },
  ...over,
});
const create = (def: TriggerDef): CatalogOperation => ({ kind: "create_trigger", trigger: def });
const MADE = [
  trigger(1, { arguments: { limit: "3", "": "" }, errorBehavior: "retry" }),
  trigger(2, { databaseId: 2, name: "t1", runAsync: true, specification: "every:10s" }),
  trigger(3, { state: "disabled", errorBehavior: "disable", nodes: "nodes:x" }),
];
const DELETED = { deletedMs: 5, hardDeleteMs: null } as const;
const soft: CatalogOperation = { kind: "soft_delete", of: "database", id: 1, name: "a-1", ...DELETED };

const LIVES: [what: string, operations: CatalogOperation[], all: TriggerDef[], live: TriggerDef[]][] = [
  ["those that were created", [], MADE, MADE],
  ["a deleted one", [{ kind: "delete_trigger", id: 1 }], MADE.slice(1), MADE.slice(1)],
  [
    "a name that is free again",
    [{ kind: "delete_trigger", id: 1 }, create(trigger(4, { name: "t1" }))],
    [...MADE.slice(1), trigger(4, { name: "t1" })],
    [...MADE.slice(1), trigger(4, { name: "t1" })],
  ],
  [
    "an enabled trigger sees rows from then on",
    [{ kind: "enable_trigger", id: 3, sequence: 99 }],
    [...MADE.slice(0, 2), { ...MADE[2]!, state: "enabled", sequence: 99 }],
    [...MADE.slice(0, 2), { ...MADE[2]!, state: "enabled", sequence: 99 }],
  ],
  [
    "a disabled trigger, and a failed one",
    [
      { kind: "disable_trigger", id: 1, state: "disabled" },
      { kind: "disable_trigger", id: 2, state: "failed" },
    ],
    [{ ...MADE[0]!, state: "disabled" }, { ...MADE[1]!, state: "failed" }, MADE[2]!],
    [{ ...MADE[0]!, state: "disabled" }, { ...MADE[1]!, state: "failed" }, MADE[2]!],
  ],
  ["those of a deleted database do not run", [soft], MADE, [MADE[1]!]],
  ["those of a restored database do", [soft, { kind: "restore", of: "database", id: 1, name: "again" }], MADE, MADE],
  ["those of a dropped database are gone", [soft, { kind: "drop", of: "database", id: 1 }], [MADE[1]!], [MADE[1]!]],
];

describe("triggers in the catalog", () => {
  test.each(LIVES)("%s", async (_, operations, all, live) => {
    for (const snapshotEntries of [1, 200]) {
      const store = new MemoryObjectStore();
      const open = () => Catalog.open(store, { prefix: "catalog", snapshotEntries });
      const catalog = await open();
      await catalog.apply([...DATABASES, ...MADE.map(create), ...operations]).durable;
      const nextId = operations.some(({ kind }) => kind === "create_trigger") ? 5 : 4;
      const check = (found: Catalog) => {
        expect(found.triggers.all()).toEqual(all);
        expect(found.liveTriggers()).toEqual(live);
        expect(found.triggers.count).toBe(all.length);
        expect(found.nextIds.triggerId).toBe(nextId);
        for (const def of all) expect(found.triggers.find(def.databaseId, def.name)).toEqual(def);
        for (const id of [1, 2]) expect(found.triggers.ofDatabase(id)).toEqual(all.filter(({ databaseId }) => databaseId === id));
      };
      check(catalog);
      await catalog.close();
      check(await open());
    }
  });

  test("a listener is called once for each step that changes triggers", async () => {
    const catalog = await Catalog.open(new MemoryObjectStore(), { prefix: "catalog" });
    let calls = 0;
    catalog.onTriggerChanges(() => calls++);
    catalog.apply(DATABASES);
    expect(calls).toBe(0);
    catalog.apply(MADE.map(create));
    catalog.apply([{ kind: "disable_trigger", id: 1, state: "failed" }]);
    catalog.apply([soft]);
    expect(calls).toBe(3);
  });

  test("a snapshot of a server without triggers has none", () => {
    const state = new CatalogState();
    for (const operation of DATABASES) state.apply(operation);
    const { triggers: _, nextTriggerId: __, ...old } = state.toSnapshot() as Record<string, unknown>;
    expect(CatalogState.fromSnapshot(old).triggers.all()).toEqual([]);
    expect(CatalogState.fromSnapshot(old).triggers.nextId).toBe(1);
  });

  const WRONG: [what: string, operation: CatalogOperation, message: RegExp][] = [
    ["an unknown database", create(trigger(4, { databaseId: 9 })), /database 9, which does not exist/],
    ["an id that was used", create(trigger(3)), /trigger id 3 of "t3" was used before/],
    ["a second one of the name", create(trigger(4, { name: "t1" })), /second trigger "t1" in database 1/],
    ["deleting none", { kind: "delete_trigger", id: 9 }, /trigger 9 does not exist/],
    ["enabling none", { kind: "enable_trigger", id: 9, sequence: 1 }, /trigger 9 does not exist/],
    ["disabling none", { kind: "disable_trigger", id: 9, state: "failed" }, /trigger 9 does not exist/],
  ];

  test.each(WRONG)("%s is a contradiction, and changes nothing", (_, operation, message) => {
    const state = new CatalogState();
    for (const each of [...DATABASES, ...MADE.map(create)]) state.apply(each);
    expect(() => state.apply(operation)).toThrow(message);
    expect(state.triggers.all()).toEqual(MADE);
  });

  const DAMAGED: [operation: unknown, message: RegExp][] = [
    [{ kind: "create_trigger", trigger: { ...trigger(1), errorBehavior: "explode" } }, /errorBehavior is "explode"/],
    [{ kind: "create_trigger", trigger: { ...trigger(1), state: "on" } }, /state is "on"/],
    [{ kind: "create_trigger", trigger: { ...trigger(1), arguments: { a: 1 } } }, /arguments.a is 1/],
    [{ kind: "create_trigger", trigger: { ...trigger(1), runAsync: 1 } }, /runAsync is 1/],
    [{ kind: "disable_trigger", id: 1, state: "enabled" }, /state is "enabled"/],
    [{ kind: "enable_trigger", id: 1 }, /sequence is missing/],
  ];

  test.each(DAMAGED)("%j is not read", (operation, message) => {
    expect(() => readOperation(operation)).toThrow(message);
  });
});
