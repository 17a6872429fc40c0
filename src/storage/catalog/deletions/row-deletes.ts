// Requests to delete rows: kept with their outcome. Part of the catalog's state: no clock, no I/O. Their tombstones are in tombstones.ts.
import type { RowDeleteDef, RowDeleteState } from "../../../model/rows/row-delete.ts";
import { badValue, readArray, readCount, readNs, readObject, readText } from "../../../object-store/operation-values.ts";
import { violated } from "../contradiction.ts";

export interface RequestRowDelete {
  readonly kind: "request_row_delete";
  readonly request: RowDeleteDef;
}

/** It can no longer be taken back: its tombstones are as any other. */
export interface ReleaseRowDelete {
  readonly kind: "release_row_delete";
  readonly sequence: number;
}

export interface CompleteRowDelete {
  readonly kind: "complete_row_delete";
  readonly sequence: number;
  readonly endedMs: number;
}

/** Takes it back, with its tombstones. */
export interface AbortRowDelete {
  readonly kind: "abort_row_delete";
  readonly sequence: number;
  readonly endedMs: number;
  readonly reason: string;
}

/** Nothing is left of a request that has ended. */
export interface ForgetRowDelete {
  readonly kind: "forget_row_delete";
  readonly sequence: number;
}

export type RowDeleteOperation = RequestRowDelete | ReleaseRowDelete | CompleteRowDelete | AbortRowDelete | ForgetRowDelete;

const KINDS: ReadonlySet<string> = new Set<RowDeleteOperation["kind"]>([
  ...(["request_row_delete", "release_row_delete", "complete_row_delete", "abort_row_delete", "forget_row_delete"] as const),
]);
const STATES: readonly RowDeleteState[] = ["held", "applying", "completed", "aborted"];

/** True if the operation is of requests to delete rows. */
export function isRowDeleteOperation(operation: { readonly kind: string }): operation is RowDeleteOperation {
  return KINDS.has(operation.kind);
}

/** What a change of a request means for its tombstones. */
export interface TombstoneChanges {
  release(ids: readonly number[]): void;
  retract(ids: readonly number[]): void;
}

/** Requests by sequence. */
export class RowDeleteSet {
  /** Sequences are never used again. */
  nextSequence = 1;
  private pendingCount_ = 0;
  private readonly bySequence = new Map<number, RowDeleteDef>();

  /** Neither completed nor aborted. */
  get pendingCount(): number {
    return this.pendingCount_;
  }

  get count(): number {
    return this.bySequence.size;
  }

  find(sequence: number): RowDeleteDef | undefined {
    return this.bySequence.get(sequence);
  }

  /** Ascending sequences. */
  all(): IterableIterator<RowDeleteDef> {
    return this.bySequence.values();
  }

  /** @throws TsdbError corrupt_file: nothing is changed then */
  apply(operation: RowDeleteOperation, tombstones: TombstoneChanges): void {
    if (operation.kind === "request_row_delete") {
      this.add(operation.request);
      return;
    }
    const { sequence } = operation;
    const request = this.bySequence.get(sequence) ?? violated(`row delete request ${sequence} does not exist`);
    const isPending = request.state === "held" || request.state === "applying";
    switch (operation.kind) {
      case "release_row_delete":
        if (request.state !== "held") violated(`row delete request ${sequence} is released, and was ${request.state}`);
        tombstones.release(request.tombstoneIds);
        this.bySequence.set(sequence, { ...request, state: "applying" });
        return;
      case "complete_row_delete":
        if (!isPending) violated(`row delete request ${sequence} is completed, and was ${request.state}`);
        this.end(request, { state: "completed", endedMs: operation.endedMs });
        return;
      case "abort_row_delete":
        if (request.state !== "held") violated(`row delete request ${sequence} is aborted, and was ${request.state}`);
        tombstones.retract(request.tombstoneIds);
        this.end(request, { state: "aborted", endedMs: operation.endedMs, abortReason: operation.reason });
        return;
      case "forget_row_delete":
        if (isPending) violated(`row delete request ${sequence} is forgotten, and was ${request.state}`);
        this.bySequence.delete(sequence);
        return;
    }
  }

  toJson(): unknown {
    return { nextSequence: this.nextSequence, requests: [...this.bySequence.values()] };
  }

  /** Adds what a snapshot holds; those of older servers hold nothing. @throws TsdbError corrupt_file */
  restore(value: unknown): void {
    if (value === undefined) return;
    const rowDeletes = readObject("rowDeletes", value);
    for (const request of readArray("requests", rowDeletes["requests"])) this.add(readRequest(request));
    this.nextSequence = Math.max(this.nextSequence, readCount("nextSequence", rowDeletes["nextSequence"]));
  }

  private add(request: RowDeleteDef): void {
    const { sequence, state } = request;
    if (sequence < this.nextSequence) violated(`row delete request ${sequence} was there before`);
    this.bySequence.set(sequence, request);
    this.nextSequence = sequence + 1;
    if (state === "held" || state === "applying") this.pendingCount_ += 1;
  }

  private end(request: RowDeleteDef, end: Pick<RowDeleteDef, "state" | "endedMs"> & Partial<RowDeleteDef>): void {
    this.bySequence.set(request.sequence, { ...request, ...end });
    this.pendingCount_ -= 1;
  }
}

/** @throws TsdbError corrupt_file */
export function readRowDeleteOperation(kind: RowDeleteOperation["kind"], operation: Readonly<Record<string, unknown>>): RowDeleteOperation {
  if (kind === "request_row_delete") return { kind, request: readRequest(operation["request"]) };
  const sequence = readCount("sequence", operation["sequence"]);
  switch (kind) {
    case "release_row_delete":
    case "forget_row_delete":
      return { kind, sequence };
    case "complete_row_delete":
      return { kind, sequence, endedMs: readCount("endedMs", operation["endedMs"]) };
    case "abort_row_delete":
      return { kind, sequence, endedMs: readCount("endedMs", operation["endedMs"]), reason: readText("reason", operation["reason"]) };
  }
}

function readRequest(value: unknown): RowDeleteDef {
  const request = readObject("request", value);
  const count = (name: string) => readCount(name, request[name]);
  const text = (name: string) => readText(name, request[name]);
  const ns = (name: string) => (request[name] === null ? null : String(readNs(name, request[name])));
  const state = request["state"] as RowDeleteState;
  if (!STATES.includes(state)) badValue("state", state, STATES.join(", "));
  return {
    ...{ sequence: count("sequence"), databaseId: count("databaseId"), tableId: count("tableId") },
    ...{ database: text("database"), table: text("table"), predicate: text("predicate"), createdMs: count("createdMs") },
    ...{ minTimeNs: ns("minTimeNs"), endTimeNs: ns("endTimeNs"), state },
    tombstoneIds: readArray("tombstoneIds", request["tombstoneIds"]).map((id) => readCount("tombstoneIds", id)),
    endedMs: request["endedMs"] === null ? null : count("endedMs"),
    abortReason: request["abortReason"] === null ? null : text("abortReason"),
  };
}
