// Reads charts of templates as properties of views, the form in which dashboards store them.
import { near } from "../../model/errors.ts";
import { readScript } from "../kinds/parameters.ts";
import type { SpecReader } from "../spec-reader.ts";
import { isMembers } from "../template-object.ts";
import { HEX_COLORS, type ViewType, viewTypeOf } from "./chart-kinds.ts";

export interface Chart {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly properties: object;
}

interface Axis {
  readonly label: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly base: string;
  readonly scale: string;
  readonly domain: readonly number[];
}

const PLACE_MAX = 2 ** 31 - 1;
const GEOMETRIES: ReadonlySet<string> = new Set(["line", "step", "stacked", "bar", "monotoneX"]);
const POSITIONS: ReadonlySet<string> = new Set(["", "overlaid", "stacked"]);
/** Of charts that cannot do without. */
const AXES_NEEDED: Readonly<Partial<Record<ViewType, readonly string[]>>> = {
  ...{ xy: ["x", "y"], "line-plus-single-stat": ["x", "y"], heatmap: ["x", "y"], scatter: ["x", "y"], histogram: ["x"] },
};

/** Dimensions of a layer of a map, in the order in which views have them. */
const LAYER_AXES = ["radius", "color", "intensity"] as const;

interface Axes {
  readonly x: Axis;
  readonly y: Axis;
  /** By name, in order. */
  readonly all: ReadonlyMap<string, Axis>;
}

const NO_AXIS: Axis = { label: "", prefix: "", suffix: "", base: "", scale: "", domain: [] };
const QUERY = {
  ...{ editMode: "advanced", name: "" },
  builderConfig: { buckets: [], tags: [], functions: [], aggregateWindow: { period: "", fillValues: false } },
};
const HEAD = { shape: "chronograf-v2" } as const;

/** Returns an empty list for an unknown kind. Errors are collected in the reader. @param prefix of keys in the environment */
export function readChart(spec: SpecReader, prefix: string): Chart[] {
  const kind = spec.text("kind").trim();
  const type = viewTypeOf(kind);
  if (type === null) {
    spec.issue("kind", `invalid chart kind provided: ${near(kind.toLowerCase())}`);
    return [];
  }
  const [w, h] = [place(spec, "width"), place(spec, "height")];
  // as recorded, of both the height is told
  if (type !== "markdown" && Math.min(w, h) <= 0) spec.issue(h <= 0 ? "height" : "width", "must be greater than 0");
  const properties = type === "markdown" ? { ...HEAD, type, note: spec.text("note") } : new ChartReader(spec, type, prefix).properties();
  return [{ name: spec.text("name").trim(), x: place(spec, "xPos"), y: place(spec, "yPos"), w, h, properties }];
}

class ChartReader {
  constructor(
    private readonly spec: SpecReader,
    private readonly type: ViewType,
    private readonly prefix: string,
  ) {}

  properties(): object {
    const { spec, type } = this;
    const text = (name: string) => spec.text(name);
    const colors = this.colors();
    const geom = type === "xy" || type === "band" ? this.geometry() : "";
    const axes = this.axes();
    const common = { ...HEAD, type, queries: this.queries() };
    const note = { note: text("note"), showNoteWhenEmpty: spec.boolean("noteOnEmpty") };
    const fixes = { prefix: text("prefix"), suffix: text("suffix") };
    switch (type) {
      case "single-stat":
      case "gauge": {
        const ticks = { tickPrefix: text("tickPrefix"), tickSuffix: text("tickSuffix") };
        return { ...common, ...fixes, ...ticks, colors, decimalPlaces: this.decimalPlaces(), ...note };
      }
      case "xy": {
        const mapping = spec.raw("colorMapping");
        return {
          ...{ ...common, axes: recordAxes(axes), staticLegend: this.staticLegend(), geom, colors, ...note },
          ...{ ...this.ticks("x"), ...this.ticks("y"), shadeBelow: spec.boolean("shade"), position: this.position() },
          ...{ timeFormat: text("timeFormat"), hoverDimension: text("hoverDimension"), ...this.legend() },
          ...(isMembers(mapping) ? { colorMapping: mapping } : {}),
        };
      }
      case "line-plus-single-stat":
        return {
          ...{ ...common, axes: recordAxes(axes), staticLegend: this.staticLegend(), colors, ...fixes },
          ...{ decimalPlaces: this.decimalPlaces(), ...note, ...this.ticks("x"), ...this.ticks("y") },
          ...{ shadeBelow: spec.boolean("shade"), position: this.position() },
          // the format of times is not stored, as recorded
          ...{ timeFormat: "", hoverDimension: text("hoverDimension"), ...this.legend() },
        };
      case "band":
        return {
          ...{ ...common, axes: recordAxes(axes), staticLegend: this.staticLegend(), geom, colors, ...note },
          ...{ timeFormat: text("timeFormat"), hoverDimension: text("hoverDimension"), ...this.ticks("x"), ...this.ticks("y") },
          ...{ upperColumn: text("upperColumn"), mainColumn: text("mainColumn"), lowerColumn: text("lowerColumn") },
          ...this.legend(),
        };
      case "table":
        return { ...common, colors, ...this.table(), ...note };
      case "histogram":
        return {
          ...{ ...common, colors, xColumn: text("xCol"), fillColumns: this.listed("fillColumns"), ...domain("x", axes.x) },
          ...{ xAxisLabel: axes.x.label, position: this.position(), binCount: spec.number("binCount"), ...note, ...this.legend() },
        };
      case "heatmap":
        return {
          ...{ ...common, colors, binSize: spec.number("binSize"), ...this.ticks("x"), ...this.ticks("y"), ...flatAxes(axes) },
          ...{ ...note, timeFormat: text("timeFormat"), ...this.legend() },
        };
      case "scatter":
        // columns of fills and symbols are not stored, as recorded
        return {
          ...{ ...common, colors, fillColumns: null, symbolColumns: null, ...this.ticks("x"), ...this.ticks("y"), ...flatAxes(axes) },
          ...{ ...note, timeFormat: text("timeFormat"), ...this.legend() },
        };
      case "mosaic":
        return {
          ...{ ...common, colors, fillColumns: null, ...this.ticks("x") },
          ...{ yLabelColumnSeparator: text("yLabelColumnSeparator"), yLabelColumns: this.listed("yLabelColumns") },
          ...{ ySeriesColumns: this.listed("ySeriesColumns"), ...flatAxes(axes), ...note, timeFormat: text("timeFormat") },
          ...{ hoverDimension: text("hoverDimension"), ...this.legend() },
        };
      case "geo":
        return { ...common, ...this.map(), colors, ...note };
      case "markdown":
        return common;
    }
  }

  private queries(): object[] | null {
    const queries = this.spec.list("queries").flatMap((query, i) => {
      const { text } = readScript(query, `${this.prefix}.queries[${i}]`, ["params"]);
      return text === "" ? [] : [{ text, ...QUERY }];
    });
    return queries.length === 0 ? null : queries;
  }

  private colors(): unknown {
    const colors = this.spec.list("colors").map((color) => {
      const read = colorOf(color);
      if (read.hex === "") color.issue("hex", "a color must have a hex value provided");
      return read;
    });
    if (HEX_COLORS.has(this.type)) return colors.map(({ hex }) => hex);
    for (const wanted of this.type === "gauge" ? ["min", "max"] : []) {
      if (!colors.some(({ type }) => type === wanted)) this.spec.issue("colors", `type not found: ${JSON.stringify(wanted)}`);
    }
    return colors.length === 0 ? null : colors;
  }

  private axes(): Axes {
    const found = new Map<string, Axis>();
    for (const axis of this.spec.list("axes")) {
      const text = (name: string) => axis.text(name);
      const domain = axis.numbers("domain");
      const read = { label: text("label"), prefix: text("prefix"), suffix: text("suffix"), base: text("base"), scale: text("scale") };
      found.set(text("name").toLowerCase(), { ...read, domain });
    }
    const needed = AXES_NEEDED[this.type] ?? [];
    for (const name of needed) if (!found.has(name)) this.spec.issue("axes", `axis not found: ${JSON.stringify(name)}`);
    return { x: found.get("x") ?? NO_AXIS, y: found.get("y") ?? NO_AXIS, all: found };
  }

  /** Null: absent. */
  private listed(name: string): string[] | null {
    const items = this.spec.texts(name);
    return items.length === 0 ? null : items;
  }

  private decimalPlaces(): object {
    const digits = this.spec.whole("decimalPlaces");
    return { isEnforced: digits !== null, digits: digits ?? 0 };
  }

  private geometry(): string {
    const geom = this.spec.text("geom");
    if (this.type === "xy" && !GEOMETRIES.has(geom)) this.spec.issue("geom", unknownType(geom));
    return geom;
  }

  private position(): string {
    const position = this.spec.text("position");
    if (!POSITIONS.has(position.toLowerCase()) && this.type !== "histogram") {
      const given = JSON.stringify(near(position));
      this.spec.issue("position", `invalid position supplied ${given}; valid positions is one of [overlaid, stacked]`);
    }
    return position;
  }

  private ticks(axis: "x" | "y"): object {
    const { spec } = this;
    const upper = axis.toUpperCase();
    return {
      [`${axis}Column`]: spec.text(`${axis}Col`),
      [`generate${upper}AxisTicks`]: this.listed(`generate${upper}AxisTicks`),
      [`${axis}TotalTicks`]: spec.number(`${axis}TotalTicks`),
      [`${axis}TickStart`]: spec.number(`${axis}TickStart`),
      [`${axis}TickStep`]: spec.number(`${axis}TickStep`),
    };
  }

  private legend(): object {
    const { spec } = this;
    return {
      ...{ legendColorizeRows: spec.boolean("legendColorizeRows"), legendHide: spec.boolean("legendHide") },
      ...{ legendOpacity: spec.number("legendOpacity"), legendOrientationThreshold: spec.number("legendOrientationThreshold") },
    };
  }

  /** Only the given members. */
  private staticLegend(): object {
    const legend = this.spec.object("staticLegend");
    const members = {
      ...{ colorizeRows: legend.boolean("colorizeRows"), heightRatio: legend.number("heightRatio"), show: legend.boolean("show") },
      ...{ opacity: legend.number("opacity"), orientationThreshold: legend.number("orientationThreshold") },
      ...{ valueAxis: legend.text("valueAxis"), widthRatio: legend.number("widthRatio") },
    };
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== false && value !== 0 && value !== ""));
  }

  private table(): object {
    const { spec } = this;
    const options = spec.object("tableOptions");
    const sortBy = { internalName: options.text("sortBy"), displayName: "", visible: false };
    const wrapping = options.text("wrapping");
    const [verticalTimeAxis, fixFirstColumn] = [options.boolean("verticalTimeAxis"), options.boolean("fixFirstColumn")];
    const fieldOptions = spec.list("fieldOptions").map((field) => {
      return { internalName: field.text("fieldName"), displayName: field.text("displayName"), visible: field.boolean("visible") };
    });
    const tableOptions = { verticalTimeAxis, sortBy, wrapping, fixFirstColumn };
    return { tableOptions, fieldOptions, timeFormat: spec.text("timeFormat"), decimalPlaces: this.decimalPlaces() };
  }

  private map(): object {
    const { spec } = this;
    const layers = spec.list("geoLayers");
    return {
      ...{ center: { lat: spec.number("lat"), lon: spec.number("lon") }, zoom: spec.number("zoom"), mapStyle: spec.text("mapStyle") },
      ...{ allowPanAndZoom: spec.boolean("allowPanAndZoom"), detectCoordinateFields: spec.boolean("detectCoordinateFields") },
      layers: layers.length === 0 ? null : layers.map(layerOf),
    };
  }
}

function layerOf(layer: SpecReader): object {
  const colors = layer.list("viewColors").map(colorOf);
  const [radiusDimension, colorDimension, intensityDimension] = LAYER_AXES.map((name) => dimensionOf(layer.object(`${name}Dimension`)));
  const whole = (name: string) => Math.trunc(layer.number(name));
  return {
    ...{ type: layer.text("layerType"), radiusField: layer.text("radiusField"), colorField: layer.text("colorField") },
    ...{ intensityField: layer.text("intensityField"), colors: colors.length === 0 ? null : colors },
    ...{ radius: whole("radius"), blur: whole("blur"), radiusDimension, colorDimension, intensityDimension },
    ...{ interpolateColors: layer.boolean("interpolateColors"), trackWidth: whole("trackWidth"), speed: whole("speed") },
    ...{ randomColors: layer.boolean("randomColors"), isClustered: layer.boolean("isClustered") },
  };
}

/** Its name follows from its place. */
function dimensionOf(axis: SpecReader): object {
  const [label, prefix, suffix] = [axis.text("label"), axis.text("prefix"), axis.text("suffix")];
  return { bounds: null, label, prefix, suffix, base: axis.text("base"), scale: axis.text("scale") };
}

function unknownType(given: string): string {
  return given === "" ? 'type not found: ""' : `type provided is not supported: ${JSON.stringify(near(given))}`;
}

function colorOf(color: SpecReader) {
  return {
    id: color.text("id"),
    type: color.text("type"),
    hex: color.text("hex"),
    name: color.text("name").trim(),
    value: color.number("value"),
  };
}

function recordAxes({ all }: Axes): object {
  const record = ({ label, prefix, suffix, base, scale }: Axis) => ({ bounds: [], label, prefix, suffix, base, scale });
  return Object.fromEntries([...all].map(([name, axis]) => [name, record(axis)]));
}

/** Absent where the axis has none. */
function domain(name: "x" | "y", axis: Axis): object {
  return axis.domain.length === 0 ? {} : { [`${name}Domain`]: axis.domain };
}

function flatAxes({ x, y }: Axes): object {
  return {
    ...{ ...domain("x", x), ...domain("y", y), xAxisLabel: x.label, yAxisLabel: y.label },
    ...{ xPrefix: x.prefix, xSuffix: x.suffix, yPrefix: y.prefix, ySuffix: y.suffix },
  };
}

/** What is no place on 32 bits is none. */
function place(spec: SpecReader, name: string): number {
  const value = Math.trunc(spec.number(name));
  return Math.abs(value) <= PLACE_MAX ? value : 0;
}
