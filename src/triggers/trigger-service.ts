// Operations of users on triggers, by name: create, delete, enable, disable.
import { near, TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { hasControl } from "../model/names.ts";
import {
  ERROR_BEHAVIORS,
  type ErrorBehavior,
  type NewTrigger,
  type TriggerDef,
  type TriggerKind,
  type TriggerName,
  type TriggerService,
  type TriggerSpec,
} from "../model/triggers.ts";
import type { PluginPayload } from "../plugins/plugin-call.ts";
import type { PluginRuntime } from "../plugins/plugin-runtime.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { DatabaseDef } from "../storage/catalog/state.ts";
import { parseTriggerSpec, triggerKindOf } from "./spec.ts";

export interface TriggerServiceParts {
  readonly catalog: Catalog;
  readonly runtime: Pick<PluginRuntime, "locate">;
  /** Kinds of triggers that this server accepts. */
  readonly kinds: ReadonlySet<TriggerKind>;
  readonly isExecuting: (triggerId: number) => boolean;
  /** The newest durable frame of the log. */
  readonly durableSequence: () => number;
  readonly isNode: (nodeId: string) => boolean;
  readonly nowMs: () => number;
}

const NAME_BYTES_MAX = 1024;
const ARGUMENT_BYTES_MAX = 64 << 10;

/** Methods resolve when the catalog is durable. @throws TsdbError as TriggerService */
export class NamedTriggers implements TriggerService {
  constructor(private readonly parts: TriggerServiceParts) {}

  async create(request: NewTrigger): Promise<void> {
    const { catalog, runtime, nowMs, durableSequence } = this.parts;
    const { database: databaseName, name, plugin, specification, runAsync, isDisabled } = request;
    const spec = parseTriggerSpec(specification);
    this.checkKind(spec);
    const errorBehavior = behaviorOf(request.errorBehavior);
    checkName(name);
    checkArguments(request.arguments);
    await runtime.locate(plugin, payloadKindOf(spec));
    const database = this.database(databaseName);
    if (catalog.triggers.find(database.id, name) !== undefined) {
      refuse(`Cannot overwrite Processing Engine Trigger ${near(name, 200)} in Database ${databaseName}`);
    }
    const { triggersMax } = LIMITS;
    if (catalog.triggers.count >= triggersMax) {
      throw new TsdbError("limit_exceeded", `Adding a new trigger would exceed limit of ${triggersMax} triggers`, { limit: triggersMax });
    }
    const trigger: TriggerDef = {
      ...{ id: catalog.nextIds.triggerId, databaseId: database.id, name, plugin, specification: specification.trim() },
      ...{ runAsync, errorBehavior, arguments: request.arguments, nodes: this.nodes(request.nodes) },
      ...{ state: isDisabled ? "disabled" : "enabled", sequence: durableSequence(), createdMs: nowMs() },
    };
    await catalog.apply([{ kind: "create_trigger", trigger }]).durable;
  }

  async delete({ database, name }: TriggerName, force: boolean): Promise<void> {
    const { catalog, isExecuting } = this.parts;
    const { id } = this.find(database, name);
    if (!force && isExecuting(id)) refuse(`Cannot delete running plugin ${near(name, 200)}. Disable it first or use --force.`);
    await catalog.apply([{ kind: "delete_trigger", id }]).durable;
  }

  async enable({ database, name }: TriggerName): Promise<void> {
    const { catalog, runtime, durableSequence } = this.parts;
    const found = this.find(database, name);
    if (found.state === "enabled") return catalog.durable(catalog.version);
    const spec = parseTriggerSpec(found.specification);
    this.checkKind(spec);
    await runtime.locate(found.plugin, payloadKindOf(spec));
    // it may have been deleted, or enabled, meanwhile
    const { id, state } = this.find(database, name);
    if (state === "enabled") return catalog.durable(catalog.version);
    await catalog.apply([{ kind: "enable_trigger", id, sequence: durableSequence() }]).durable;
  }

  async disable({ database, name }: TriggerName): Promise<void> {
    const { catalog } = this.parts;
    const { id, state } = this.find(database, name);
    if (state === "disabled") return catalog.durable(catalog.version);
    await catalog.apply([{ kind: "disable_trigger", id, state: "disabled" }]).durable;
  }

  private find(databaseName: string, name: string): TriggerDef {
    const trigger = this.parts.catalog.triggers.find(this.database(databaseName).id, name);
    if (trigger === undefined) throw new TsdbError("not_found", `the requested resource was not found: ${near(name, 200)}`);
    return trigger;
  }

  private database(name: string): DatabaseDef {
    const database = this.parts.catalog.findDatabase(name);
    if (database === undefined) throw new TsdbError("unknown_database", `database not found: ${name}`, { database: name });
    return database;
  }

  private checkKind(spec: TriggerSpec): void {
    const kind = triggerKindOf(spec);
    if (!this.parts.kinds.has(kind)) refuse(`invalid request: server is configured to reject ${kind} plugin triggers`);
  }

  private nodes(nodes: readonly string[] | null): string {
    if (nodes === null) return "all";
    const unknown = nodes.find((nodeId) => !this.parts.isNode(nodeId));
    if (unknown !== undefined) throw new TsdbError("not_found", `node not found: ${near(unknown)}`);
    return `nodes:${[...new Set(nodes)].join(",")}`;
  }
}

function payloadKindOf({ kind }: TriggerSpec): PluginPayload["kind"] {
  return kind === "writes" || kind === "request" ? kind : "schedule";
}

function behaviorOf(text: string): ErrorBehavior {
  const behavior = ERROR_BEHAVIORS.find((each) => each === text.toLowerCase());
  return behavior ?? refuse(`unknown error_behavior '${near(text)}', expected ${ERROR_BEHAVIORS.join(", ")}`);
}

function checkName(name: string): void {
  if (name === "") refuse("a trigger's name cannot be empty");
  if (hasControl(name)) refuse("a trigger's name cannot have control characters");
  const bytes = Buffer.byteLength(name);
  if (bytes > NAME_BYTES_MAX) refuse(`the trigger's name is too long: ${bytes} bytes, max ${NAME_BYTES_MAX}`);
}

/** Limits their size: they are stored in the catalog and sent with every call. */
function checkArguments(args: NewTrigger["arguments"]): void {
  const bytes = Buffer.byteLength(JSON.stringify(args ?? {}));
  if (bytes > ARGUMENT_BYTES_MAX) refuse(`the trigger's arguments are too long: ${bytes} bytes as JSON, max ${ARGUMENT_BYTES_MAX}`);
}

function refuse(message: string): never {
  throw new TsdbError("bad_request", message);
}
