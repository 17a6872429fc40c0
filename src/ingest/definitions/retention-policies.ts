// Retention policies with the behaviour of version 1.x, stored as databases of their own (model/retention-policies.ts) and as settings of
// the database they belong to.

import type { DatabaseService } from "../../model/databases.ts";
import { TsdbError } from "../../model/errors.ts";
import { databaseOfPolicy, validateDatabaseName } from "../../model/names.ts";
import { isOwnPolicy, noPolicy, type PolicyLookup, type PolicyRules, splitPolicy } from "../../model/retention-policies.ts";
import { DAY_NS, HOUR_NS } from "../../model/time/time-units.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { CatalogOperation, CreateDatabase } from "../../storage/catalog/operations.ts";
import { freshPolicies, type PolicySettings, type SetPolicies } from "../../storage/catalog/policies.ts";
import { checkDatabaseLimit } from "../../storage/catalog/schema-limits.ts";
import type { DatabaseDef } from "../../storage/catalog/state.ts";
import type { RetentionClause } from "../../tsdbql/parse/ast.ts";
import { checkFreeDatabase } from "./database-service.ts";

const OWN_NAME = "autogen";

export interface PolicyInfo {
  /** In the spelling of its creator. */
  readonly name: string;
  readonly def: DatabaseDef;
  /** 0 = forever. */
  readonly retentionNs: bigint;
  /** Displayed only: no behaviour depends on it. */
  readonly shardNs: bigint;
  readonly replicas: number;
  readonly isDefault: boolean;
}

/** The configurable properties of a policy. */
type PolicyShape = Pick<PolicyInfo, "name" | "retentionNs" | "shardNs" | "replicas">;

interface Parts {
  readonly catalog: Catalog;
  readonly databases: Pick<DatabaseService, "createDatabase" | "deleteDatabase" | "deleteTable">;
}

/** The retention policies of every database. Changes are one catalog operation each and resolve once it is durable. @throws TsdbError
 *  unknown_database, not_found, already_exists, bad_query */
export class RetentionPolicies implements PolicyLookup {
  constructor(private readonly parts: Parts) {}

  defaultPolicy(database: string): string | null {
    const def = this.parts.catalog.findDatabase(database);
    return def === undefined ? null : this.settings(def).defaultPolicy;
  }

  requireDefault(database: string): void {
    const { catalog } = this.parts;
    const def = catalog.findDatabase(database);
    if (def === undefined) return;
    const { defaultPolicy } = this.settings(def);
    const isThere =
      defaultPolicy === null ? this.hasOwn(def) : catalog.findDatabase(databaseOfPolicy(database, defaultPolicy)) !== undefined;
    if (!isThere) throw noPolicy(defaultPolicy ?? OWN_NAME, database);
  }

  rules(database: string): PolicyRules | null {
    const def = this.parts.catalog.findDatabase(database);
    if (def === undefined) return null;
    const { defaultPolicy, place } = this.settings(def);
    return defaultPolicy === null && place !== null ? null : { defaultPolicy, hasOwn: this.hasOwn(def) };
  }

  /** In order of creation. Rows written to the database by its own name make it one of its policies again. */
  list(database: string): PolicyInfo[] {
    const { catalog } = this.parts;
    const base = catalog.findDatabase(database);
    const placed = base !== undefined && this.hasOwn(base) ? [{ def: base, place: this.settings(base).place ?? base.id }] : [];
    for (const def of catalog.databases()) if (def.name.startsWith(`${database}/`)) placed.push({ def, place: def.id });
    const defaultPolicy = base === undefined ? null : this.settings(base).defaultPolicy;
    return placed.sort((a, b) => a.place - b.place).map(({ def }) => this.info(def, defaultPolicy));
  }

  async createDatabase(name: string, clause: RetentionClause | null): Promise<void> {
    const { catalog, databases } = this.parts;
    checkName(name);
    if (clause === null) {
      if (catalog.findDatabase(name) === undefined) await databases.createDatabase({ name, retentionNs: null });
      return;
    }
    const wanted = shapeOf(clause.name === null || clause.name === "" ? OWN_NAME : checkName(clause.name), clause);
    const existing = this.list(name);
    if (existing.length === 0) {
      checkDurations(wanted);
      await this.make(name, wanted, true);
      return;
    }
    const same = existing.find((policy) => isSameName(policy.name, wanted.name));
    if (same?.isDefault !== true || !matches(same, clause)) throw conflict();
  }

  async create(database: string, name: string, clause: RetentionClause): Promise<void> {
    checkName(name);
    const wanted = shapeOf(name, clause);
    checkDurations(wanted);
    const existing = this.required(database).find((policy) => isSameName(policy.name, name));
    if (existing === undefined) return this.make(database, wanted, clause.isDefault);
    const { retentionNs, shardNs, replicas } = existing;
    if (retentionNs !== wanted.retentionNs || shardNs !== wanted.shardNs || replicas !== wanted.replicas) {
      throw new TsdbError("already_exists", "retention policy already exists");
    }
    if (clause.isDefault && !existing.isDefault) throw conflict();
  }

  async alter(database: string, name: string, clause: RetentionClause): Promise<void> {
    const existing = this.required(database).find((policy) => isSameName(policy.name, name));
    if (existing === undefined) throw new TsdbError("not_found", `retention policy not found: ${name}`);
    checkDuration(clause.durationNs);
    const retentionNs = clause.durationNs ?? existing.retentionNs;
    if (retentionNs > 0n && retentionNs < (clause.shardDurationNs ?? existing.shardNs)) throw incompatible();
    const shardNs = clause.shardDurationNs === null ? existing.shardNs : shardDuration(clause.shardDurationNs, retentionNs);
    const { id } = existing.def;
    const operations: CatalogOperation[] = [];
    if (clause.durationNs !== null) operations.push({ kind: "set_retention", of: "database", id, retentionNs: String(retentionNs) });
    const shown = { shardNs: String(shardNs), replicas: clause.replication ?? existing.replicas };
    operations.push({ kind: "set_policies", databaseId: id, ...this.settings(existing.def), ...shown });
    if (clause.isDefault) this.setDefault(database, existing.def.name, operations);
    await this.parts.catalog.apply(operations).durable;
  }

  /** Dropping a missing policy has no effect. A dropped default policy remains the default, although it is missing. */
  async drop(database: string, name: string): Promise<void> {
    const { catalog, databases } = this.parts;
    const existing = this.list(database).find((policy) => isSameName(policy.name, name));
    if (existing === undefined) return;
    const { def } = existing;
    const deletion = { database: def.name, dataOnly: false, hardDeleteAt: "now" } as const;
    if (def.name !== database) return databases.deleteDatabase({ ...deletion, removeTables: false });
    const { durable } = catalog.apply([{ kind: "set_policies", databaseId: def.id, ...this.settings(def), place: null, label: null }]);
    await Promise.all([durable, ...catalog.tables(def.id).map(({ name: table }) => databases.deleteTable({ ...deletion, table }))]);
  }

  /** @throws TsdbError unknown_database */
  required(database: string): PolicyInfo[] {
    const found = this.list(database);
    if (found.length > 0 || this.parts.catalog.findDatabase(database) !== undefined) return found;
    throw new TsdbError("unknown_database", `database not found: ${database}`, { database });
  }

  /** One atomic catalog change: the database, if it is missing, and the policy. */
  private async make(database: string, wanted: PolicyShape, isDefault: boolean): Promise<void> {
    const { catalog } = this.parts;
    const isOwn = isOwnPolicy(wanted.name);
    const name = databaseOfPolicy(database, wanted.name);
    const operations: CatalogOperation[] = [];
    const def = this.madeDatabase(name, operations);
    operations.push({ kind: "set_retention", of: "database", id: def.id, retentionNs: String(wanted.retentionNs) });
    const before = isOwn && def.isNew ? freshPolicies(def.id) : this.settings(def);
    operations.push({
      ...{ kind: "set_policies", databaseId: def.id, ...before },
      ...(isOwn && !def.isNew ? { place: catalog.nextIds.databaseId } : {}),
      label: wanted.name === (splitPolicy(name).policy ?? OWN_NAME) ? null : wanted.name,
      ...{ shardNs: String(wanted.shardNs), replicas: wanted.replicas },
    });
    if (isDefault) this.setDefault(database, name, operations);
    await catalog.apply(operations).durable;
  }

  /** The database of this name; adds its creation to `operations` if it does not exist. */
  private madeDatabase(name: string, operations: CatalogOperation[]): DatabaseDef & { readonly isNew: boolean } {
    const { catalog } = this.parts;
    const isMade = (one: CatalogOperation): one is CreateDatabase => one.kind === "create_database" && one.name === name;
    const existing = catalog.findDatabase(name) ?? operations.find(isMade);
    if (existing !== undefined) return { ...existing, isNew: false };
    validateDatabaseName(name);
    checkFreeDatabase(catalog, name);
    const made = operations.filter(({ kind }) => kind === "create_database").length;
    checkDatabaseLimit({ databaseCount: catalog.databaseCount + made }, catalog.limits);
    const def = { id: catalog.nextIds.databaseId + made, namespace: 0, name };
    operations.push({ kind: "create_database", ...def });
    return { ...def, isNew: true };
  }

  /** A database created for its default policy is not itself one of its policies. */
  private setDefault(database: string, name: string, operations: CatalogOperation[]): void {
    const base = this.madeDatabase(database, operations);
    const isSet = (one: CatalogOperation): one is SetPolicies => one.kind === "set_policies" && one.databaseId === base.id;
    const settings = operations.find(isSet) ?? (base.isNew ? { ...freshPolicies(base.id), place: null } : this.settings(base));
    operations.push({ ...settings, kind: "set_policies", databaseId: base.id, defaultPolicy: splitPolicy(name).policy });
  }

  private hasOwn(def: DatabaseDef): boolean {
    return this.settings(def).place !== null || this.parts.catalog.tables(def.id).length > 0;
  }

  private settings({ id }: DatabaseDef): PolicySettings {
    const { defaultPolicy, place, label, shardNs, replicas } = this.parts.catalog.policies(id);
    return { defaultPolicy, place, label, shardNs, replicas };
  }

  private info(def: DatabaseDef, defaultPolicy: string | null): PolicyInfo {
    const { label, shardNs, replicas } = this.settings(def);
    const { policy } = splitPolicy(def.name);
    const retentionNs = this.parts.catalog.retentionNs("database", def.id) ?? 0n;
    return {
      name: label ?? policy ?? OWN_NAME,
      ...{ def, retentionNs, replicas, isDefault: policy === defaultPolicy },
      shardNs: shardNs === null ? usualShardNs(retentionNs) : BigInt(shardNs),
    };
  }
}

function isSameName(a: string, b: string): boolean {
  return databaseOfPolicy("", a) === databaseOfPolicy("", b);
}

/** @throws TsdbError bad_query */
function shapeOf(name: string, { durationNs, shardDurationNs, replication }: RetentionClause): PolicyShape {
  checkDuration(durationNs);
  const retentionNs = durationNs ?? 0n;
  return { name, retentionNs, shardNs: shardDuration(shardDurationNs, retentionNs), replicas: replication ?? 1 };
}

/** True if a policy equals the clause. */
function matches({ retentionNs, shardNs, replicas }: PolicyInfo, clause: RetentionClause): boolean {
  if (clause.durationNs !== null && clause.durationNs !== retentionNs) return false;
  if (clause.replication !== null && clause.replication !== replicas) return false;
  return shardDuration(clause.shardDurationNs, retentionNs) === shardNs;
}

function shardDuration(wantedNs: bigint | null, retentionNs: bigint): bigint {
  if (wantedNs === null || wantedNs === 0n) return usualShardNs(retentionNs);
  return wantedNs < HOUR_NS ? HOUR_NS : wantedNs;
}

/** The shard duration that version 1.x chooses. */
function usualShardNs(retentionNs: bigint): bigint {
  if (retentionNs === 0n || retentionNs >= 180n * DAY_NS) return 7n * DAY_NS;
  return retentionNs >= 2n * DAY_NS ? DAY_NS : HOUR_NS;
}

function checkDuration(durationNs: bigint | null): void {
  if (durationNs === null || durationNs === 0n || durationNs >= HOUR_NS) return;
  throw new TsdbError("bad_query", "retention policy duration must be at least 1h0m0s");
}

function checkDurations({ retentionNs, shardNs }: PolicyShape): void {
  if (retentionNs > 0n && retentionNs < shardNs) throw incompatible();
}

function incompatible(): TsdbError {
  return new TsdbError("bad_query", "retention policy duration must be greater than the shard duration");
}

function conflict(): TsdbError {
  return new TsdbError("already_exists", "retention policy conflicts with an existing policy");
}

/** Checks a name as version 1.x does; other invalid names are rejected when the database is created. @throws TsdbError bad_query */
function checkName(name: string): string {
  if (name === "" || name === "." || name === ".." || /[/\\\p{C}]|(?! )\p{Z}/u.test(name)) {
    throw new TsdbError("bad_query", "invalid name");
  }
  return name;
}
