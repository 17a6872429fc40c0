// Notes which tables have rows in frames that may not be durable yet, so that a durable group wakes the triggers of its tables only.

export interface NotedTable {
  readonly databaseId: number;
  readonly tableId: number;
}

/** The tables with rows in recent frames. */
export class RowNotes {
  /** The newest frames with rows of each database and table. */
  private readonly lastOfDatabase = new Map<number, number>();
  private readonly lastOfTable = new Map<number, number>();
  /** Tables with rows since they were last taken, by table: the database, and the newest frame. */
  private readonly pending = new Map<number, { readonly databaseId: number; readonly sequence: number }>();

  constructor(
    /** The newest frame that is not noted: it may have rows of any table. */
    private readonly startSequence: number,
  ) {}

  /** Call it for each table of a frame. */
  note(databaseId: number, tableId: number, sequence: number): void {
    this.lastOfDatabase.set(databaseId, sequence);
    this.lastOfTable.set(tableId, sequence);
    this.pending.set(tableId, { databaseId, sequence });
  }

  /** Frames up to `sequence` are durable. Returns each table with rows in them that were not returned before; a table with rows in later
   *  frames too may be returned without. */
  take(sequence: number): NotedTable[] {
    const taken: NotedTable[] = [];
    for (const [tableId, { databaseId, sequence: last }] of this.pending) {
      taken.push({ databaseId, tableId });
      if (last <= sequence) this.pending.delete(tableId);
    }
    return taken;
  }

  /** The newest frame that may have rows of the table, or of any table of the database. */
  last({ databaseId, tableId }: { readonly databaseId: number; readonly tableId: number | null }): number {
    return (tableId === null ? this.lastOfDatabase.get(databaseId) : this.lastOfTable.get(tableId)) ?? this.startSequence;
  }
}
