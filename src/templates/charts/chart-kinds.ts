// Kinds of charts in templates, and the corresponding types of views.

export type ViewType =
  | "band"
  | "gauge"
  | "geo"
  | "heatmap"
  | "histogram"
  | "line-plus-single-stat"
  | "markdown"
  | "mosaic"
  | "scatter"
  | "single-stat"
  | "table"
  | "xy";

/** As in exports; reading ignores case. */
const KINDS: { readonly [T in ViewType]: string } = {
  band: "Band",
  gauge: "Gauge",
  geo: "Geo",
  heatmap: "Heatmap",
  histogram: "Histogram",
  "line-plus-single-stat": "Single_Stat_Plus_Line",
  markdown: "Markdown",
  mosaic: "Mosaic",
  scatter: "Scatter",
  "single-stat": "Single_Stat",
  table: "Table",
  xy: "Xy",
};
const TYPES: ReadonlyMap<string, ViewType> = new Map(
  Object.entries(KINDS).map(([type, kind]) => [kind.toLowerCase(), type as ViewType] as const),
);

/** Charts that store only the values of colors. */
export const HEX_COLORS: ReadonlySet<ViewType> = new Set(["heatmap", "mosaic", "scatter"]);

/** Null: not a kind of chart. */
export function viewTypeOf(kind: string): ViewType | null {
  return TYPES.get(kind.toLowerCase()) ?? null;
}

/** Null: templates have no form for the view. */
export function chartKindOf(type: unknown): string | null {
  return typeof type === "string" && Object.hasOwn(KINDS, type) ? KINDS[type as ViewType] : null;
}
