// Writes views as charts of templates: the inverse of the reader. Omits members with default values.
import { isMembers, type Members } from "../template-object.ts";
import { chartKindOf, HEX_COLORS, type ViewType } from "./chart-kinds.ts";

interface Cell {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly properties: object | null;
}

const SAME = [
  ...["prefix", "suffix", "tickPrefix", "tickSuffix", "note", "geom", "position", "timeFormat", "hoverDimension", "binCount", "binSize"],
  ...["upperColumn", "mainColumn", "lowerColumn", "fillColumns", "yLabelColumns", "yLabelColumnSeparator", "ySeriesColumns"],
  ...["generateXAxisTicks", "xTotalTicks", "xTickStart", "xTickStep", "generateYAxisTicks", "yTotalTicks", "yTickStart", "yTickStep"],
  ...["legendColorizeRows", "legendHide", "legendOpacity", "legendOrientationThreshold", "colorMapping"],
  ...["zoom", "mapStyle", "allowPanAndZoom", "detectCoordinateFields"],
] as const;
const LAYER_MEMBERS = [
  ...["radiusField", "colorField", "intensityField", "radius", "blur", "interpolateColors", "trackWidth", "speed", "randomColors"],
  "isClustered",
] as const;
const RENAMED = { showNoteWhenEmpty: "noteOnEmpty", xColumn: "xCol", yColumn: "yCol", shadeBelow: "shade" } as const;

/** In the order of their positions. Omits cells whose views have no form in templates. */
export function chartsOf(cells: readonly Cell[]): object[] {
  return [...cells].sort((a, b) => a.x - b.x || a.y - b.y).flatMap(chartOf);
}

function chartOf({ name, x, y, w, h, properties }: Cell): object[] {
  const view: Members = isMembers(properties) ? properties : {};
  const kind = chartKindOf(view["type"]);
  if (kind === null || w <= 0 || h <= 0) return [];
  const type = view["type"] as ViewType;
  const head = { kind, ...present({ name, xPos: x, yPos: y, width: w, height: h }) };
  const legend = isMembers(view["staticLegend"]) ? view["staticLegend"] : {};
  if (type === "markdown") return [{ ...head, ...present({ note: view["note"] }), staticLegend: {} }];
  const renamed = Object.fromEntries(Object.entries(RENAMED).map(([from, to]) => [to, view[from]]));
  const same = Object.fromEntries(SAME.map((member) => [member, view[member]]));
  return [
    {
      ...head,
      // as recorded, the legend's members are repeated here
      ...present({ ...same, ...renamed, ...legend }),
      ...decimals(view["decimalPlaces"]),
      ...present({ colors: colorsOf(type, view["colors"]), axes: axesOf(type, view), queries: queriesOf(view["queries"]) }),
      ...(type === "table" ? tableOf(view) : {}),
      ...(type === "geo" ? mapOf(view) : {}),
      staticLegend: present(legend),
    },
  ];
}

/** Without empty members. */
function present(members: Members): Members {
  const isEmpty = (value: unknown) =>
    value === undefined || value === null || value === "" || value === 0 || value === false || isEmptyList(value) || isEmptyRecord(value);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isEmptyRecord(value: unknown): boolean {
  return isMembers(value) && Object.keys(value).length === 0;
}

function decimals(places: unknown): object {
  if (!isMembers(places) || places["isEnforced"] !== true) return {};
  return { decimalPlaces: typeof places["digits"] === "number" ? places["digits"] : 0 };
}

function queriesOf(queries: unknown): object[] {
  return itemsOf(queries).flatMap(({ text }) => (typeof text === "string" && text.trim() !== "" ? [{ query: text }] : []));
}

function colorsOf(type: ViewType, colors: unknown): object[] {
  if (HEX_COLORS.has(type)) return Array.isArray(colors) ? colors.flatMap((hex) => (typeof hex === "string" ? [{ hex }] : [])) : [];
  return itemsOf(colors).map(({ id, name, type: of, hex, value }) => present({ id, name, type: of, hex, value }));
}

function axesOf(type: ViewType, view: Members): object[] {
  if (isMembers(view["axes"])) {
    const { axes } = view as { readonly axes: Members };
    return Object.keys(axes).flatMap((name) => {
      const axis = axes[name];
      if (!isMembers(axis)) return [];
      const { base, label, prefix, suffix, scale } = axis;
      return [{ name, ...present({ base, label, prefix, suffix, scale }) }];
    });
  }
  const names = HEX_COLORS.has(type) ? ["x", "y"] : type === "histogram" ? ["x"] : [];
  return names.map((name) => {
    const [label, prefix, suffix] = [view[`${name}AxisLabel`], view[`${name}Prefix`], view[`${name}Suffix`]];
    return { name, ...present({ label, prefix, suffix, domain: view[`${name}Domain`] }) };
  });
}

function tableOf(view: Members): object {
  const options = isMembers(view["tableOptions"]) ? view["tableOptions"] : {};
  const { verticalTimeAxis, wrapping, fixFirstColumn, sortBy } = options;
  const by = isMembers(sortBy) ? sortBy["internalName"] : "";
  const tableOptions = present({ verticalTimeAxis, sortBy: by, wrapping, fixFirstColumn });
  return {
    ...(Object.keys(tableOptions).length === 0 ? {} : { tableOptions }),
    ...present({
      fieldOptions: itemsOf(view["fieldOptions"]).map(({ internalName, displayName, visible }) =>
        present({ fieldName: internalName, displayName, visible }),
      ),
    }),
  };
}

function mapOf({ center, layers }: Members): Members {
  const { lat, lon } = isMembers(center) ? center : {};
  return present({ lat, lon, geoLayers: itemsOf(layers).map(layerOf) });
}

/** Its dimensions have names here. */
function layerOf({ type, colors, ...layer }: Members): Members {
  const dimension = (name: string) => {
    const axis = layer[`${name}Dimension`];
    const { label, prefix, suffix, base, scale } = isMembers(axis) ? axis : {};
    return { [`${name}Dimension`]: { name, ...present({ label, prefix, suffix, base, scale }) } };
  };
  return {
    ...present({ layerType: type, ...Object.fromEntries(LAYER_MEMBERS.map((name) => [name, layer[name]])) }),
    ...{ ...dimension("radius"), ...dimension("color"), ...dimension("intensity") },
    ...present({ viewColors: itemsOf(colors).map(present) }),
  };
}

function itemsOf(list: unknown): Members[] {
  return Array.isArray(list) ? list.filter(isMembers) : [];
}
