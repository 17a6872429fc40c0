// The most frequent messages as flat objects of texts and numbers. Bun posts such objects without its serializer: there and back takes 50
// instead of 85 µs. Whatever else a message has is posted as it is.
import type { SnapshotNeed } from "../../scan/snapshot.ts";
import type { FromQueryWorker, StatementEnd, ToQueryWorker } from "./messages.ts";
import type { WireSnapshot, WireTable } from "./snapshot-wire.ts";

type StatementMessage = Extract<ToQueryWorker, { type: "query" }>;
type AnswerMessage = Extract<FromQueryWorker, { type: "answer" }>;
type Early = NonNullable<StatementMessage["early"]>;

/** A statement whose snapshot differs from the worker's latest as little as that of an earlier one did: not at all. */
interface PackedStatement extends Omit<StatementMessage, "type" | "params" | "early"> {
  readonly type: "packed query";
  readonly params?: StatementMessage["params"];
  /** The earlier snapshot. Absent: there is none in the statement's message. */
  readonly again?: number;
}

/** Bytes as Latin-1 text. */
interface PackedAnswer {
  readonly type: "packed answer";
  readonly id: number;
  readonly contentType: string;
  readonly text: string;
  /** JSON of a StatementEnd. */
  readonly end: string;
}

export type PackedToQueryWorker = ToQueryWorker | PackedStatement | (StatementMessage & { readonly number: number });
export type PackedFromQueryWorker = FromQueryWorker | PackedAnswer;

/** Larger answers are transferred. */
const TEXT_BYTES_MAX = 16 << 10;
/** Snapshots remembered by both sides; later ones take the places of the earliest. */
const KEPT_MAX = 256;

interface Kept {
  readonly number: number;
  readonly snapshot: WireSnapshot;
}

/** The sender of a worker's statements. Messages must be posted in the order in which they were packed. */
export class StatementPacker {
  private readonly kept = new Map<SnapshotNeed, Kept>();
  /** By number modulo KEPT_MAX. */
  private readonly needs: SnapshotNeed[] = [];
  private count = 0;

  pack(message: ToQueryWorker): PackedToQueryWorker {
    if (message.type !== "query") return message;
    const { early } = message;
    if (early === undefined) return packed(message, undefined);
    if (!isUnchanged(early.snapshot)) return message;
    const kept = this.kept.get(early.need);
    if (kept !== undefined && isSame(kept.snapshot, early.snapshot)) return packed(message, kept.number);
    return { ...message, number: this.keep(early) };
  }

  private keep({ need, snapshot }: Early): number {
    const before = this.kept.get(need);
    const number = before?.number ?? this.count++ % KEPT_MAX;
    if (before === undefined) {
      const oldest = this.needs[number];
      if (oldest !== undefined) this.kept.delete(oldest);
      this.needs[number] = need;
    }
    this.kept.set(need, { number, snapshot });
    return number;
  }
}

function packed({ early: _, params, ...rest }: StatementMessage, again: number | undefined): PackedStatement {
  return {
    ...rest,
    type: "packed query",
    ...(Object.keys(params).length === 0 ? {} : { params }),
    ...(again === undefined ? {} : { again }),
  };
}

/** The worker's side. */
export class StatementUnpacker {
  private readonly kept: Early[] = [];

  unpack(message: PackedToQueryWorker): ToQueryWorker {
    if (message.type === "query" && "number" in message && message.early !== undefined) this.kept[message.number] = message.early;
    if (message.type !== "packed query") return message;
    const { params = {}, again, ...rest } = message;
    return { ...rest, type: "query", params, ...(again === undefined ? {} : { early: this.kept[again]! }) };
  }
}

/** True if it consists of what the worker was sent before, and of numbers. */
function isUnchanged({ tables, forgotten, catalog, rest }: WireSnapshot): boolean {
  const { isInternal, systemRows, ...more } = rest;
  if (forgotten.length > 0 || catalog !== null || isInternal) return false;
  for (const _ in systemRows) return false;
  for (const _ in more) return false;
  return tables.every(isUnchangedTable);
}

function isUnchangedTable({ table, tombstones, runs, blocks, indexes }: WireTable): boolean {
  return table === null && tombstones.length === 0 && runs === null && blocks === null && indexes === null;
}

/** Of two unchanged ones. */
function isSame({ tables: a }: WireSnapshot, { tables: b }: WireSnapshot): boolean {
  return a.length === b.length && a.every((table, i) => isSameTable(table, b[i]!));
}

function isSameTable(a: WireTable, b: WireTable): boolean {
  if (a.tableId !== b.tableId || a.retentionMinNs !== b.retentionMinNs) return false;
  return a.sequence === b.sequence && a.lastDeletion === b.lastDeletion;
}

/** Null: the message is posted as it is. */
export function packAnswer({ id, contentType, bytes, end }: AnswerMessage): PackedAnswer | null {
  if (bytes.byteLength > TEXT_BYTES_MAX) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return { type: "packed answer", id, contentType, text, end: JSON.stringify(end) };
}

/** Main's side. The bytes have memory of their own, as they may be transferred to another thread: Bun has no pool for them. */
export function unpackAnswer(message: PackedFromQueryWorker): FromQueryWorker {
  if (message.type !== "packed answer") return message;
  const { id, contentType, text } = message;
  return { type: "answer", id, contentType, bytes: Buffer.from(text, "latin1"), end: JSON.parse(message.end) as StatementEnd };
}
