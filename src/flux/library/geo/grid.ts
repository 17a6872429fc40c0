// S2 cells: tokens, levels, and coverings of regions.
import { s2 } from "s2js";
import { FluxError } from "../../values/flux-error.ts";
import type { Region } from "./regions.ts";

const LEVEL_MAX = 30;
/** Cells of a covering, unless the caller wants fewer. */
const CELLS_MAX = 100;

export interface Grid {
  readonly level: number;
  readonly tokens: readonly string[];
}
const NO_GRID: Grid = { level: -1, tokens: [] };

export interface GridSize {
  readonly level: number;
  readonly maxLevel: number;
  readonly minSize: number;
  readonly maxSize: number;
}

/** Cells of one level that cover the region: of `level`, or of the first level with enough cells. @throws FluxError */
export function gridOf(region: Region, { level, maxLevel, minSize, maxSize }: GridSize): Grid {
  if (level > LEVEL_MAX) throw new FluxError(`invalid level (${level}, must be <= ${LEVEL_MAX})`);
  if (level > -1) return gridOfLevel(region, level);
  if (minSize <= 0 && maxSize <= 0) throw new FluxError("either minSize or maxSize must be specified");
  const most = maxSize > 0 ? maxSize : CELLS_MAX;
  let found: Grid | null = null;
  for (let each = 1; each <= (maxLevel > 0 ? maxLevel : LEVEL_MAX); each++) {
    const grid = gridOfLevel(region, each);
    if (grid.tokens.length > most) break;
    found = grid;
    if (minSize > 0 && grid.tokens.length >= minSize) break;
  }
  if (found === null || (found.tokens.length < minSize && maxLevel <= 0)) return NO_GRID;
  return found;
}

function gridOfLevel(region: Region, level: number): Grid {
  const covering = new s2.RegionCoverer({ minLevel: level, maxLevel: level, maxCells: CELLS_MAX }).covering(region);
  if (covering.length === 0) return NO_GRID;
  return { level, tokens: covering.map(s2.cellid.toToken) };
}

/** Of the cube that is around the sphere. */
const FACES = 6n;

/** @throws FluxError */
function cellOf(token: string, message = "invalid token specified"): bigint {
  const cell = /^[0-9a-fA-F]{1,16}$/.test(token) ? s2.cellid.fromToken(token) : 0n;
  if (cell >> 61n >= FACES || !s2.cellid.valid(cell)) throw new FluxError(message);
  return cell;
}

/** The level of a cell, 0 to 30. @throws FluxError for an invalid token */
export function levelOf(token: string): number {
  return s2.cellid.level(cellOf(token));
}

/** The center of a cell. @throws FluxError for an invalid token */
export function centerOf(token: string): s2.LatLng {
  return s2.cellid.latLng(cellOf(token));
}

/** Token of the cell of a level that holds the cell or the place. @throws FluxError */
export function parentToken(of: string | s2.LatLng, level: number): string {
  if (level < 1 || level > LEVEL_MAX) throw new FluxError("level value must be [1, 30]");
  if (typeof of !== "string") return s2.cellid.toToken(s2.cellid.parent(s2.cellid.fromLatLng(of), level));
  const message = "invalid token specified or requested level greater then current level";
  const cell = cellOf(of, message);
  if (level > s2.cellid.level(cell)) throw new FluxError(message);
  return s2.cellid.toToken(s2.cellid.parent(cell, level));
}
