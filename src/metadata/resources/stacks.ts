// Stacks: what was made of templates, so that the next template changes the same resources. A stack keeps its states as events.
import { TsdbError } from "../../model/errors.ts";
import type { RecordTypes, StackEvent } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";

export type Stack = RecordTypes["stack"] & { readonly id: string };

/** Of the events of a stack, as JSON. The oldest but the first go: each has the whole state. */
const EVENTS_BYTES_MAX = 1 << 18;
/** Of all stacks of an organization: a list of them has all their events. */
const BYTES_MAX = 1 << 25;

/** Finds and lists stacks, and plans their changes. */
export class Stacks {
  constructor(private readonly metadata: Metadata) {}

  find(id: string): Stack | null {
    type Row = Omit<Stack, "events"> & { readonly events: string };
    const row = this.metadata.view.get<Row>("select * from stacks where id = ?", id);
    return row === null ? null : { ...row, events: JSON.parse(row.events) as StackEvent[] };
  }

  /** @throws TsdbError not_found */
  get(id: string): Stack {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", `stack not found for key "${id}"`);
    return found;
  }

  /** In order of creation. */
  heads(orgID: string): Pick<Stack, "id">[] {
    return this.metadata.view.all("select id from stacks where orgID = ? order by id", orgID);
  }

  /** @throws TsdbError already_exists in the vendor's code for an organization that is not there, limit_exceeded */
  planCreate(change: Change, orgID: string, first: Omit<StackEvent, "eventType" | "updatedAt">): Stack {
    const { view } = this.metadata;
    if (view.get("select id from organizations where id = ?", orgID) === null) {
      throw new TsdbError("already_exists", `organization dependency does not exist for id["${orgID}"]`);
    }
    const stack: Stack = {
      ...{ id: change.newId(), orgID, createdAt: change.now },
      events: [{ eventType: "create", ...first, updatedAt: change.now }],
    };
    return this.put(change, stack);
  }

  /** Adds an event: the last one, changed. */
  planEvent(change: Change, stack: Stack, eventType: StackEvent["eventType"], changed: Partial<StackEvent>): Stack {
    const event = { ...lastEvent(stack), ...changed, eventType, updatedAt: change.now };
    return this.put(change, { ...stack, events: kept([...stack.events, event]) });
  }

  planDelete(change: Change, id: string): void {
    change.remove("stack", id);
  }

  /** @throws TsdbError limit_exceeded */
  private put(change: Change, { id, ...record }: Stack): Stack {
    const sql = "select coalesce(sum(length(events)), 0) as bytes from stacks where orgID = ? and id <> ?";
    const others = this.metadata.view.get<{ bytes: number }>(sql, record.orgID, id)!.bytes;
    if (others + JSON.stringify(record.events).length > BYTES_MAX) {
      throw new TsdbError(
        "limit_exceeded",
        `the stacks of an organization have at most ${BYTES_MAX} bytes; delete some that are not needed`,
      );
    }
    change.put("stack", id, record);
    return { id, ...record };
  }
}

/** What a stack is now. */
export function lastEvent({ events }: Stack): StackEvent {
  return events.at(-1)!;
}

function kept(events: readonly StackEvent[]): StackEvent[] {
  const [first, ...rest] = events;
  const sizes = rest.map((event) => JSON.stringify(event).length);
  let bytes = sizes.reduce((sum, size) => sum + size, JSON.stringify(first).length);
  let from = 0;
  for (; bytes > EVENTS_BYTES_MAX && from < rest.length - 1; from++) bytes -= sizes[from]!;
  return [first!, ...rest.slice(from)];
}
