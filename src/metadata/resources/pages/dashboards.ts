// Dashboards: cells on a grid, each with a view whose properties are the client's and are kept as they come.
import { TsdbError } from "../../../model/errors.ts";
import { PartIds } from "../../store/ids.ts";
import type { DashboardCell, RecordTypes } from "../../store/kinds.ts";
import type { Change, Metadata } from "../../store/metadata.ts";
import type { Labels } from "../labels.ts";
import type { Members } from "../members.ts";

export type Dashboard = RecordTypes["dashboard"] & { readonly id: string };
export type { DashboardCell };
/** A cell that is not there yet. */
export type NewCell = Omit<DashboardCell, "id" | "firstName">;
/** A cell that replaces the former ones. `id`: kept if it is given. */
export type ReplacingCell = NewCell & { readonly id?: string };
export type CellPlace = Pick<DashboardCell, "x" | "y" | "w" | "h">;
export interface CellView {
  readonly name: string;
  /** Null: none were given. */
  readonly properties: object | null;
}

/** Without the views of its cells, and without their names. */
export type DashboardSummary = Omit<Dashboard, "cells"> & { readonly cells: readonly CellHead[] };
export type CellHead = Omit<DashboardCell, "name" | "properties">;

type DashboardRow = Omit<Dashboard, "cells"> & { readonly cells: string };

const COLUMNS = "id, orgID, name, description, cells, createdAt, updatedAt";
/** Of a dashboard: a list shows where each is. */
export const CELLS_MAX = 1000;
/** Characters of all cells as JSON: a change writes them all. */
const CELLS_LENGTH_MAX = 4 << 20;

/** Creates, finds, changes and deletes dashboards. */
export class Dashboards {
  private readonly cellIds = new PartIds();

  constructor(
    private readonly metadata: Metadata,
    private readonly parts: { readonly labels: Labels; readonly members: Members },
  ) {}

  get count(): number {
    return this.metadata.view.count("from dashboards");
  }

  find(id: string): Dashboard | null {
    const row = this.metadata.view.get<DashboardRow>(`select ${COLUMNS} from dashboards where id = ?`, id);
    return row === null ? null : dashboardOf(row);
  }

  /** @throws TsdbError not_found */
  get(id: string): Dashboard {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "dashboard not found");
    return found;
  }

  /** Reads nothing of what its views hold. */
  summary(id: string): DashboardSummary | null {
    const sql = "select id, orgID, name, description, cellPlaces as cells, createdAt, updatedAt from dashboards where id = ?";
    const row = this.metadata.view.get<DashboardRow>(sql, id);
    return row === null ? null : { ...row, cells: JSON.parse(row.cells) as DashboardSummary["cells"] };
  }

  /** Without what they hold, in order of creation. */
  heads(orgID: string | null): Pick<Dashboard, "id" | "orgID" | "createdAt" | "updatedAt">[] {
    return this.metadata.view.all(
      "select id, orgID, createdAt, updatedAt from dashboards where (?1 is null or orgID = ?1) order by id",
      orgID,
    );
  }

  /** @throws TsdbError not_found for an unknown organization, too_large */
  create(wanted: { readonly orgID: string; readonly name: string; readonly description: string; readonly cells: readonly NewCell[] }) {
    return this.metadata.change((change) => this.planCreate(change, wanted));
  }

  planCreate(
    change: Change,
    {
      cells,
      ...wanted
    }: { readonly orgID: string; readonly name: string; readonly description: string; readonly cells: readonly NewCell[] },
  ): Dashboard {
    if (this.metadata.view.get("select id from organizations where id = ?", wanted.orgID) === null) {
      throw new TsdbError("not_found", "organization not found");
    }
    const id = change.newId();
    const made = cells.map((cell) => this.madeWithDashboard(change, cell));
    return this.put(change, { id, ...wanted, cells: made, createdAt: change.now, updatedAt: change.now });
  }

  /** @throws TsdbError not_found, too_large */
  update(
    id: string,
    changes: { readonly name?: string; readonly description?: string; readonly cells?: readonly ReplacingCell[] },
  ): Promise<Dashboard> {
    return this.metadata.change((change) => this.planUpdate(change, id, changes));
  }

  planUpdate(
    change: Change,
    id: string,
    { cells, ...changes }: { readonly name?: string; readonly description?: string; readonly cells?: readonly ReplacingCell[] },
  ): Dashboard {
    const ids = new Set<string>();
    const made = cells?.map(({ id: given, ...cell }) => {
      // of two cells of one id, the first has it: the id finds one cell
      const own = given === undefined || ids.has(given) ? {} : { id: given };
      if (given !== undefined) ids.add(given);
      return { ...this.madeWithDashboard(change, cell), ...own };
    });
    return this.put(change, { ...this.get(id), ...changes, ...(made === undefined ? {} : { cells: made }), updatedAt: change.now });
  }

  /** @param usingView the cell whose view the new one begins with; null: an empty view @throws TsdbError not_found, too_large */
  addCell(id: string, { name, ...place }: CellPlace & { readonly name: string }, usingView: string | null): Promise<DashboardCell> {
    return this.metadata.change((change) => {
      const dashboard = this.get(id);
      const copied = usingView === null ? { name, properties: null } : viewOf(dashboard, usingView);
      const view = name === "" ? copied : { ...copied, name };
      const cell = { id: this.cellId(change), ...place, ...view };
      this.put(change, { ...dashboard, cells: [...dashboard.cells, cell], updatedAt: change.now });
      return cell;
    });
  }

  /** Places cells anew; those that are left out go. @throws TsdbError not_found, already_exists for a cell that is not there */
  replaceCells(id: string, places: readonly (CellPlace & { readonly id: string })[]): Promise<Dashboard> {
    return this.metadata.change((change) => {
      const dashboard = this.get(id);
      const known = new Map(dashboard.cells.map((cell) => [cell.id, cell]));
      const cells = places.map((place) => {
        const cell = known.get(place.id);
        // also a cell that the list has twice
        if (cell === undefined) throw new TsdbError("already_exists", "cannot replace cells that were not already present");
        known.delete(place.id);
        return { ...cell, ...place };
      });
      return this.put(change, { ...dashboard, cells, updatedAt: change.now });
    });
  }

  /** @throws TsdbError not_found */
  updateCell(id: string, cellID: string, changes: Partial<CellPlace>): Promise<DashboardCell> {
    return this.changeCell(id, cellID, "cell not found", (cell) => ({ ...cell, ...changes }));
  }

  /** @throws TsdbError not_found, too_large */
  updateView(id: string, cellID: string, changes: Partial<CellView>): Promise<DashboardCell> {
    return this.changeCell(id, cellID, "view not found", (cell) => ({ ...cell, ...changes }));
  }

  /** @throws TsdbError not_found */
  removeCell(id: string, cellID: string): Promise<void> {
    return this.metadata.change((change) => {
      const dashboard = this.get(id);
      const cells = dashboard.cells.filter((cell) => cell.id !== cellID);
      if (cells.length === dashboard.cells.length) throw new TsdbError("not_found", "cell not found");
      this.put(change, { ...dashboard, cells, updatedAt: change.now });
    });
  }

  /** With its labels, members and owners. @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      this.planDelete(change, id);
    });
  }

  planDelete(change: Change, id: string): void {
    this.parts.labels.planRemoveAll(change, "dashboards", id);
    this.parts.members.planRemoveAll(change, "dashboards", id);
    change.remove("dashboard", id);
  }

  private madeWithDashboard(change: Change, cell: NewCell): DashboardCell {
    const hasView = cell.name !== "" || cell.properties !== null;
    return { id: this.cellId(change), ...cell, ...(hasView ? { firstName: cell.name } : {}) };
  }

  /** Cells are no records of their own. */
  private cellId({ now }: Change): string {
    return this.cellIds.next(Date.parse(now));
  }

  private changeCell(id: string, cellID: string, missing: string, to: (cell: DashboardCell) => DashboardCell): Promise<DashboardCell> {
    return this.metadata.change((change) => {
      const dashboard = this.get(id);
      const before = dashboard.cells.find((cell) => cell.id === cellID);
      if (before === undefined) throw new TsdbError("not_found", missing);
      const after = to(before);
      this.put(change, { ...dashboard, cells: dashboard.cells.map((cell) => (cell === before ? after : cell)), updatedAt: change.now });
      return after;
    });
  }

  private put(change: Change, dashboard: Dashboard): Dashboard {
    if (dashboard.cells.length > CELLS_MAX) throw new TsdbError("too_large", `a dashboard may have ${CELLS_MAX} cells`);
    const { length } = JSON.stringify(dashboard.cells);
    if (length > CELLS_LENGTH_MAX) {
      throw new TsdbError("too_large", `the cells of a dashboard have ${length} characters as JSON, and may have ${CELLS_LENGTH_MAX}`);
    }
    const { id, ...record } = dashboard;
    change.put("dashboard", id, record);
    return dashboard;
  }
}

/** The view of a cell. @throws TsdbError not_found */
export function viewOf({ cells }: Dashboard, cellID: string): CellView {
  const cell = cells.find(({ id }) => id === cellID);
  if (cell === undefined) throw new TsdbError("not_found", "view not found");
  return { name: cell.name, properties: cell.properties };
}

function dashboardOf({ cells, ...row }: DashboardRow): Dashboard {
  return { ...row, cells: JSON.parse(cells) as DashboardCell[] };
}
