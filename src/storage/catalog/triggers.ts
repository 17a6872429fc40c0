// The triggers of the processing engine that there are. Part of the catalog's state: no clock, no I/O.
import { ERROR_BEHAVIORS, type TriggerDef } from "../../model/triggers.ts";
import { badValue, readBoolean, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";

export interface CreateTrigger {
  readonly kind: "create_trigger";
  readonly trigger: TriggerDef;
}

export interface DeleteTrigger {
  readonly kind: "delete_trigger";
  readonly id: number;
}

/** It sees rows behind `sequence` of the write-ahead log from now on. */
export interface EnableTrigger {
  readonly kind: "enable_trigger";
  readonly id: number;
  readonly sequence: number;
}

/** `failed`: by its own error. */
export interface DisableTrigger {
  readonly kind: "disable_trigger";
  readonly id: number;
  readonly state: "disabled" | "failed";
}

export type TriggerOperation = CreateTrigger | DeleteTrigger | EnableTrigger | DisableTrigger;

/** True if the operation is of triggers. */
export function isTriggerOperation(operation: { readonly kind: string }): operation is TriggerOperation {
  return ["create_trigger", "delete_trigger", "enable_trigger", "disable_trigger"].includes(operation.kind);
}

/** The triggers by database and name. */
export class TriggerSet {
  /** Ids are never used again, also when their owner is gone. */
  nextId = 1;
  /** Another number after every change of which triggers there are and what they do. */
  changes = 0;
  /** In order of creation. */
  private readonly byId = new Map<number, TriggerDef>();
  /** By database, then name. */
  private readonly byName = new Map<number, Map<string, number>>();

  get count(): number {
    return this.byId.size;
  }

  withId(id: number): TriggerDef | undefined {
    return this.byId.get(id);
  }

  find(databaseId: number, name: string): TriggerDef | undefined {
    const id = this.byName.get(databaseId)?.get(name);
    return id === undefined ? undefined : this.byId.get(id);
  }

  /** Of a database, in order of creation. */
  ofDatabase(databaseId: number): TriggerDef[] {
    return [...(this.byName.get(databaseId)?.values() ?? [])].map((id) => this.byId.get(id)!);
  }

  /** In order of creation. */
  all(): TriggerDef[] {
    return [...this.byId.values()];
  }

  /** @throws TsdbError corrupt_file: it does not fit, and nothing is changed */
  apply(operation: TriggerOperation, hasDatabase: (id: number) => boolean): void {
    switch (operation.kind) {
      case "create_trigger":
        this.add(readTrigger(operation.trigger), hasDatabase);
        return;
      case "delete_trigger":
        this.remove(operation.id);
        return;
      case "enable_trigger":
        this.replace({ ...this.existing(operation.id), state: "enabled", sequence: operation.sequence });
        return;
      case "disable_trigger":
        this.replace({ ...this.existing(operation.id), state: operation.state });
        return;
    }
  }

  private add(trigger: TriggerDef, hasDatabase: (id: number) => boolean): void {
    const { id, databaseId, name } = trigger;
    if (!hasDatabase(databaseId)) violated(`trigger ${JSON.stringify(name)} in database ${databaseId}, which does not exist`);
    if (id < this.nextId) violated(`trigger id ${id} of ${JSON.stringify(name)} was used before`);
    const names = this.byName.get(databaseId) ?? new Map<string, number>();
    if (names.has(name)) violated(`a second trigger ${JSON.stringify(name)} in database ${databaseId}`);
    this.byName.set(databaseId, names.set(name, id));
    this.byId.set(id, trigger);
    this.nextId = id + 1;
    this.changes += 1;
  }

  /** Those of a database that is gone. */
  removeDatabase(databaseId: number): void {
    for (const { id } of this.ofDatabase(databaseId)) this.remove(id);
    this.byName.delete(databaseId);
  }

  private remove(id: number): void {
    const { databaseId, name } = this.existing(id);
    this.byId.delete(id);
    this.byName.get(databaseId)!.delete(name);
    this.changes += 1;
  }

  private replace(trigger: TriggerDef): void {
    this.byId.set(trigger.id, trigger);
    this.changes += 1;
  }

  private existing(id: number): TriggerDef {
    return this.byId.get(id) ?? violated(`trigger ${id} does not exist`);
  }
}

/** @throws TsdbError corrupt_file */
export function readTrigger(value: unknown): TriggerDef {
  const trigger = readObject("trigger", value);
  const { errorBehavior, state } = trigger;
  const behavior = ERROR_BEHAVIORS.find((each) => each === errorBehavior);
  if (behavior === undefined) badValue("errorBehavior", errorBehavior, ERROR_BEHAVIORS.join(", "));
  if (state !== "enabled" && state !== "disabled" && state !== "failed") badValue("state", state, "enabled, disabled or failed");
  return {
    id: readCount("id", trigger["id"]),
    databaseId: readCount("databaseId", trigger["databaseId"]),
    name: readText("name", trigger["name"]),
    plugin: readText("plugin", trigger["plugin"]),
    specification: readText("specification", trigger["specification"]),
    runAsync: readBoolean("runAsync", trigger["runAsync"]),
    errorBehavior: behavior,
    arguments: trigger["arguments"] === null ? null : readArguments(trigger["arguments"]),
    nodes: readText("nodes", trigger["nodes"]),
    state,
    sequence: readCount("sequence", trigger["sequence"]),
    createdMs: readCount("createdMs", trigger["createdMs"]),
  };
}

/** @throws TsdbError corrupt_file */
export function readTriggerOperation(kind: TriggerOperation["kind"], operation: Readonly<Record<string, unknown>>): TriggerOperation {
  if (kind === "create_trigger") return { kind, trigger: readTrigger(operation["trigger"]) };
  const id = readCount("id", operation["id"]);
  if (kind === "delete_trigger") return { kind, id };
  if (kind === "enable_trigger") return { kind, id, sequence: readCount("sequence", operation["sequence"]) };
  const { state } = operation;
  if (state !== "disabled" && state !== "failed") badValue("state", state, "disabled or failed");
  return { kind, id, state };
}

function readArguments(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(readObject("arguments", value));
  return Object.fromEntries(entries.map(([key, text]) => [key, readText(`arguments.${key}`, text)]));
}
