// Properties of views as clients read them. They are stored as a client sent them; members that it left out are shown with the defaults of
// the view's type, so that a reader finds each of them. Members and types that are not known here are shown as they are; known ones in
// letters of another case are known, as release 2.8.0 reads them.

type Members = Readonly<Record<string, unknown>>;

/** Members that are forms themselves: one, a list, or by name. */
interface Part {
  readonly as: "one" | "list" | "by name";
  readonly form: Form;
}

interface Form {
  readonly defaults: Members;
  readonly parts?: Readonly<Record<string, Part>>;
  /** Shown where it says something. */
  readonly optional?: readonly string[];
}

/** Of a cell that was given no view. */
const NO_PROPERTIES = { shape: "empty" } as const;

const texts = (...names: readonly string[]): Members => Object.fromEntries(names.map((name) => [name, ""]));
const numbers = (...names: readonly string[]): Members => Object.fromEntries(names.map((name) => [name, 0]));
const flags = (...names: readonly string[]): Members => Object.fromEntries(names.map((name) => [name, false]));
const lists = (...names: readonly string[]): Members => Object.fromEntries(names.map((name) => [name, null]));

/** Members of every view. */
const HEAD: Form = { defaults: texts("type", "shape") };
const NAMES = new WeakMap<Form, ReadonlyMap<string, string>>();

const one = (form: Form): Part => ({ as: "one", form });
const list = (form: Form): Part => ({ as: "list", form });

const BUILDER: Form = {
  defaults: { buckets: [], tags: [], functions: [], aggregateWindow: null },
  parts: {
    tags: list({ defaults: { ...texts("key", "aggregateFunctionType"), ...lists("values") } }),
    functions: list({ defaults: texts("name") }),
    aggregateWindow: one({ defaults: { ...texts("period"), ...flags("fillValues") } }),
  },
};
const QUERIES = list({
  defaults: { ...texts("text", "editMode", "name"), builderConfig: null },
  parts: { builderConfig: one(BUILDER) },
});
const AXIS: Form = { defaults: { ...lists("bounds"), ...texts("label", "prefix", "suffix", "base", "scale") } };
const AXES: Part = { as: "by name", form: AXIS };
const COLORS = list({ defaults: { ...texts("id", "type", "hex", "name"), ...numbers("value") } });
const DECIMAL_PLACES = one({ defaults: { ...flags("isEnforced"), ...numbers("digits") } });
const STATIC_LEGEND = one({
  defaults: {},
  optional: ["colorizeRows", "heightRatio", "show", "opacity", "orientationThreshold", "valueAxis", "widthRatio"],
});
const FIELD: Form = { defaults: { ...texts("internalName", "displayName"), ...flags("visible") } };

const ticks = (axis: "x" | "y"): Members => {
  const name = axis.toUpperCase();
  return {
    ...texts(`${axis}Column`),
    ...lists(`generate${name}AxisTicks`),
    ...numbers(`${axis}TotalTicks`, `${axis}TickStart`, `${axis}TickStep`),
  };
};
const NOTE = { ...texts("note"), ...flags("showNoteWhenEmpty") };
const LEGEND = { ...flags("legendColorizeRows", "legendHide"), ...numbers("legendOpacity", "legendOrientationThreshold") };
const FLAT_AXES = texts("xAxisLabel", "yAxisLabel", "xPrefix", "xSuffix", "yPrefix", "ySuffix");
const DOMAINS = ["xDomain", "yDomain"];
const LINES = {
  ...lists("queries", "colors", "axes"),
  ...NOTE,
  ...ticks("x"),
  ...ticks("y"),
  ...texts("timeFormat", "hoverDimension"),
  ...LEGEND,
};
const LINE_PARTS = { queries: QUERIES, axes: AXES, colors: COLORS, staticLegend: STATIC_LEGEND };
const NUMBER: Form = {
  defaults: { ...lists("queries", "colors"), ...texts("prefix", "tickPrefix", "suffix", "tickSuffix"), ...NOTE },
  parts: { queries: QUERIES, colors: COLORS, decimalPlaces: DECIMAL_PLACES },
};

/** By the type of a view. Colors are texts where a form of colors is missing. */
const FORMS: ReadonlyMap<unknown, Form> = new Map<unknown, Form>([
  ["single-stat", NUMBER],
  ["gauge", NUMBER],
  ["markdown", { defaults: texts("note") }],
  ["xy", { defaults: { ...LINES, ...texts("geom", "position"), ...flags("shadeBelow") }, parts: LINE_PARTS }],
  ["band", { defaults: { ...LINES, ...texts("geom", "upperColumn", "mainColumn", "lowerColumn") }, parts: LINE_PARTS }],
  [
    "line-plus-single-stat",
    {
      defaults: { ...LINES, ...texts("prefix", "suffix", "position"), ...flags("shadeBelow") },
      parts: { ...LINE_PARTS, decimalPlaces: DECIMAL_PLACES },
    },
  ],
  [
    "histogram",
    {
      defaults: {
        ...lists("queries", "colors", "fillColumns"),
        ...texts("xColumn", "xAxisLabel", "position"),
        ...numbers("binCount"),
        ...NOTE,
        ...LEGEND,
      },
      parts: { queries: QUERIES, colors: COLORS },
      optional: ["xDomain"],
    },
  ],
  [
    "heatmap",
    {
      defaults: {
        ...lists("queries", "colors"),
        ...numbers("binSize"),
        ...ticks("x"),
        ...ticks("y"),
        ...FLAT_AXES,
        ...NOTE,
        ...texts("timeFormat"),
        ...LEGEND,
      },
      parts: { queries: QUERIES },
      optional: DOMAINS,
    },
  ],
  [
    "scatter",
    {
      defaults: {
        ...lists("queries", "colors", "fillColumns", "symbolColumns"),
        ...{ ...ticks("x"), ...ticks("y"), ...FLAT_AXES, ...NOTE, ...texts("timeFormat"), ...LEGEND },
      },
      parts: { queries: QUERIES },
      optional: DOMAINS,
    },
  ],
  [
    "mosaic",
    {
      defaults: {
        ...lists("queries", "colors", "fillColumns", "yLabelColumns", "ySeriesColumns"),
        ...{ ...ticks("x"), ...FLAT_AXES, ...NOTE, ...texts("yLabelColumnSeparator", "timeFormat", "hoverDimension"), ...LEGEND },
      },
      parts: { queries: QUERIES },
      optional: DOMAINS,
    },
  ],
  ["check", { defaults: { ...texts("checkID"), ...lists("queries", "colors"), ...LEGEND }, parts: { queries: QUERIES } }],
  [
    "table",
    {
      defaults: { ...lists("queries", "colors", "fieldOptions"), ...texts("timeFormat"), ...NOTE },
      parts: {
        ...{ queries: QUERIES, colors: COLORS, decimalPlaces: DECIMAL_PLACES, fieldOptions: list(FIELD) },
        tableOptions: one({
          defaults: { ...flags("verticalTimeAxis", "fixFirstColumn"), ...texts("wrapping") },
          parts: { sortBy: one(FIELD) },
        }),
      },
    },
  ],
  [
    "geo",
    {
      defaults: {
        ...lists("queries", "colors", "layers"),
        ...numbers("zoom"),
        ...texts("mapStyle"),
        ...flags("allowPanAndZoom", "detectCoordinateFields"),
        ...NOTE,
      },
      parts: {
        ...{ queries: QUERIES, colors: COLORS, center: one({ defaults: numbers("lat", "lon") }) },
        layers: list({
          defaults: {
            ...texts("type", "radiusField", "colorField", "intensityField"),
            ...{
              ...lists("colors"),
              ...numbers("radius", "blur", "trackWidth", "speed"),
              ...flags("interpolateColors", "randomColors", "isClustered"),
            },
          },
          parts: { colors: COLORS, radiusDimension: one(AXIS), colorDimension: one(AXIS), intensityDimension: one(AXIS) },
        }),
      },
    },
  ],
  [
    "log-viewer",
    {
      defaults: lists("columns"),
      parts: { columns: list({ defaults: { ...texts("name"), ...numbers("position"), ...lists("settings") }, parts: {} }) },
    },
  ],
]);

/** The properties of a view as clients read them. */
export function shownProperties(stored: object | null): object {
  const properties = stored === null ? null : named(HEAD, stored as Members);
  if (properties === null || properties["shape"] === "empty") return NO_PROPERTIES;
  const form = properties["shape"] === "chronograf-v2" ? FORMS.get(properties["type"]) : undefined;
  return form === undefined ? properties : completed(form, properties);
}

/** The members with the spelling of the form. */
function named(form: Form, given: Members): Members {
  const names = namesOf(form);
  const isKnown = (name: string) => names.get(name.toLowerCase()) === name;
  if (Object.keys(given).every((name) => isKnown(name) || !names.has(name.toLowerCase()))) return given;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [names.get(name.toLowerCase()) ?? name, value]));
}

/** By their small letters. */
function namesOf(form: Form): ReadonlyMap<string, string> {
  let names = NAMES.get(form);
  if (names === undefined) {
    const { defaults, parts = {}, optional = [] } = form;
    names = new Map([...Object.keys(defaults), ...Object.keys(parts), ...optional].map((name) => [name.toLowerCase(), name]));
    NAMES.set(form, names);
  }
  return names;
}

/** Null is as absent. */
function completed(form: Form, members: Members): Members {
  const { defaults, parts = {}, optional = [] } = form;
  const given = named(form, members);
  const said = Object.entries(given).filter(
    ([name, value]) => (value !== null || !Object.hasOwn(defaults, name)) && !(optional.includes(name) && isNothing(value)),
  );
  const shown: Record<string, unknown> = { ...defaults, ...Object.fromEntries(said) };
  for (const [name, { as, form: partForm }] of Object.entries(parts)) {
    const member = shown[name];
    const part = (each: unknown) => (isMembers(each) ? completed(partForm, each) : each);
    if (as === "one") shown[name] = part(member ?? {});
    else if (as === "list" && Array.isArray(member)) shown[name] = member.map(part);
    else if (as === "by name" && isMembers(member)) {
      shown[name] = Object.fromEntries(Object.entries(member).map(([key, each]) => [key, part(each)]));
    }
  }
  return shown;
}

function isNothing(value: unknown): boolean {
  return value === null || value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
