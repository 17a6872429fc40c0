// Charts become the members of views that interfaces read (the API's document), and charts again.
import { describe, expect, test } from "bun:test";
import type { Issue } from "../issue.ts";
import { SpecReader } from "../spec-reader.ts";
import { readChart } from "./chart-reader.ts";
import { chartsOf } from "./chart-writer.ts";

const HEAD = { name: "n", xPos: 1, yPos: 2, width: 3, height: 4, queries: [{ query: "buckets()" }] };
const COLORS = { colors: [{ name: "a", type: "text", hex: "#123456", value: 1.5 }] };
const RANGE = { colors: ["min", "max"].map((type) => ({ name: "a", type, hex: "#123456", value: 1.5 })) };
const LEGEND = { legendColorizeRows: true, legendHide: true, legendOpacity: 0.5, legendOrientationThreshold: 5 };
const TICKS = {
  ...{ xCol: "x", generateXAxisTicks: ["a"], xTotalTicks: 1, xTickStart: 2.5, xTickStep: 3 },
  ...{ yCol: "y", generateYAxisTicks: ["b"], yTotalTicks: 4, yTickStart: 5, yTickStep: 6 },
};
const NOTE = { note: "text", noteOnEmpty: true };
const AXES = { axes: ["x", "y"].map((name) => ({ name, label: "l", prefix: "p", suffix: "s", base: "10", scale: "log" })) };
const FLAT = {
  ...{ axes: ["x", "y"].map((name) => ({ name, label: "l", prefix: "p", suffix: "s", domain: [1, 9.5] })), colors: [{ hex: "#123456" }] },
  ...{ ...LEGEND, ...NOTE, timeFormat: "HH" },
};
const { yCol: _y, generateYAxisTicks: _g, yTotalTicks: _t, yTickStart: _s, yTickStep: _p, ...X_TICKS } = TICKS;
const LINE = { ...AXES, ...COLORS, ...NOTE, ...TICKS, ...LEGEND, timeFormat: "HH", hoverDimension: "xy", staticLegend: {} };
/** Of times, which lines with a single number lose. */
const { timeFormat: _f, ...LINE_WITHOUT_FORMAT } = LINE;

const CHARTS: readonly (readonly [string, object])[] = [
  ["Band", { ...LINE, geom: "step", upperColumn: "u", mainColumn: "m", lowerColumn: "l" }],
  ["Gauge", { ...RANGE, ...NOTE, prefix: "p", suffix: "s", tickPrefix: "t", tickSuffix: "u", decimalPlaces: 0 }],
  [
    "Geo",
    {
      ...{ ...NOTE, lat: 1.5, lon: -2, zoom: 3, mapStyle: "s", allowPanAndZoom: true, detectCoordinateFields: true },
      geoLayers: [
        {
          ...{ layerType: "pointMap", radiusField: "r", colorField: "f", intensityField: "i", viewColors: [{ hex: "#123456", value: 2 }] },
          ...{ radius: 5, blur: 7, interpolateColors: true, trackWidth: 3, speed: 9, randomColors: true, isClustered: true },
          radiusDimension: { name: "radius", label: "l", prefix: "p", suffix: "s", base: "10", scale: "linear" },
          ...{ colorDimension: { name: "color", label: "m" }, intensityDimension: { name: "intensity" } },
        },
      ],
    },
  ],
  ["Heatmap", { ...FLAT, ...TICKS, binSize: 20 }],
  [
    "Histogram",
    {
      ...{ ...COLORS, ...LEGEND, ...NOTE, axes: [{ name: "x", label: "l", domain: [0, 1] }], xCol: "x", position: "stacked" },
      ...{ binCount: 3, fillColumns: ["a", "b"] },
    },
  ],
  ["Single_Stat_Plus_Line", { ...LINE_WITHOUT_FORMAT, position: "overlaid", shade: true, prefix: "p", suffix: "s", decimalPlaces: 2 }],
  ["Mosaic", { ...FLAT, ...X_TICKS, hoverDimension: "x", ySeriesColumns: ["a"], yLabelColumns: ["b"], yLabelColumnSeparator: "," }],
  ["Scatter", { ...FLAT, ...TICKS }],
  ["Single_Stat", { ...COLORS, ...NOTE, prefix: "p", suffix: "s", tickPrefix: "t", tickSuffix: "u", decimalPlaces: 1 }],
  [
    "Table",
    {
      ...{ ...COLORS, ...NOTE, timeFormat: "HH", decimalPlaces: 3 },
      tableOptions: { verticalTimeAxis: true, sortBy: "_time", wrapping: "wrap", fixFirstColumn: true },
      fieldOptions: [{ fieldName: "_time", displayName: "t", visible: true }, { fieldName: "_value" }],
    },
  ],
  ["Xy", { ...LINE, geom: "step", position: "stacked", shade: true, colorMapping: { a: "#123456" } }],
];

function read(chart: object) {
  const issues: Issue[] = [];
  const reading = { kind: "Dashboard", metaName: "d", index: 0, env: new Map(), issues, references: [], secretKeys: [], secretEnvKeys: [] };
  return { charts: readChart(new SpecReader(reading, chart as Record<string, unknown>), "charts[0]"), issues };
}

test.each(CHARTS)("every member of a %s comes back", (kind, members) => {
  const chart = { kind, ...HEAD, ...members };
  const { charts, issues } = read(chart);
  expect(issues).toEqual([]);
  expect(chartsOf(charts)).toEqual([{ staticLegend: {}, ...chart }]);
});

test("what a chart has not is null or absent, as clients of a 2.8 server see it", () => {
  const bare = (kind: string, members: object = {}) => read({ kind, width: 3, height: 4, ...members });
  const axes = [{ name: "x" }, { name: "y", domain: [1, 2] }, { name: "Y2", label: "l" }];
  const record = { bounds: [], label: "", prefix: "", suffix: "", base: "", scale: "" };
  for (const kind of ["Single_Stat", "Table", "Band", "Mosaic", "Geo"]) expect(bare(kind).issues).toEqual([]);
  expect(bare("Single_Stat", { name: " n " }).charts).toMatchObject([{ name: "n", properties: { colors: null, queries: null } }]);
  expect(bare("Band").charts).toMatchObject([{ properties: { axes: {}, geom: "", colors: null } }]);
  expect(bare("Xy", { axes, geom: "line" }).charts).toMatchObject([
    { properties: { axes: { x: record, y: record, y2: { ...record, label: "l" } } } },
  ]);
  const [heatmap] = bare("Heatmap", { axes }).charts;
  expect(heatmap!.properties).toMatchObject({ yDomain: [1, 2], colors: [] });
  expect(heatmap!.properties).not.toHaveProperty("xDomain");
  const color = { id: "", type: "text", hex: "#123456", name: "", value: 0 };
  expect(bare("Geo", { colors: [{ type: "text", hex: "#123456" }] }).charts).toMatchObject([{ properties: { colors: [color] } }]);
});

// recorded on the vendor's server: a view has every member of a layer, and no names of dimensions
test("a layer of a map", () => {
  const { charts } = read({
    ...{ kind: "Geo", ...HEAD, s2Column: "c", useS2CellID: true, latLonColumns: { lat: { key: "tag", column: "a" } } },
    geoLayers: [{ layerType: "pointMap", blur: 2.5, colorDimension: { name: "zz", label: "l", domain: [1, 2] }, viewColors: [{}] }],
  });
  const dimension = { bounds: null, label: "", prefix: "", suffix: "", base: "", scale: "" };
  const layer = {
    ...{ type: "pointMap", radiusField: "", colorField: "", intensityField: "", radius: 0, blur: 2 },
    ...{ colors: [{ id: "", type: "", hex: "", name: "", value: 0 }], radiusDimension: dimension, intensityDimension: dimension },
    ...{ colorDimension: { ...dimension, label: "l" }, interpolateColors: false, trackWidth: 0, speed: 0 },
    ...{ randomColors: false, isClustered: false },
  };
  expect(charts).toMatchObject([{ properties: { layers: [layer] } }]);
  for (const dropped of ["s2Column", "useS2CellID", "latLonColumns"]) expect(charts[0]!.properties).not.toHaveProperty(dropped);
  expect(read({ kind: "Geo", ...HEAD, geoLayers: [] }).charts).toMatchObject([{ properties: { layers: null } }]);
});

test("a text", () => {
  const chart = { kind: "Markdown", name: "n", xPos: 1, yPos: 2, width: 3, height: 4, note: "# text" };
  expect(chartsOf(read(chart).charts)).toEqual([{ ...chart, staticLegend: {} }]);
});

test("a legend stands twice, as recorded", () => {
  const legend = { show: true, opacity: 0.5, widthRatio: 1, heightRatio: 0.2, valueAxis: "y", colorizeRows: true, orientationThreshold: 9 };
  const { charts } = read({ kind: "xy", ...HEAD, ...LINE, geom: "line", staticLegend: legend });
  expect(chartsOf(charts)).toMatchObject([{ ...legend, staticLegend: legend }]);
});

test("views that have no form in templates are left out", () => {
  const cell = { name: "n", x: 0, y: 0, w: 1, h: 1 };
  const others = [null, {}, { type: "check" }, { type: "__proto__" }, { type: 5 }, { shape: "empty" }];
  expect(chartsOf(others.map((properties) => ({ ...cell, properties })))).toEqual([]);
  // members of any type, as clients may store them
  const odd = { type: "xy", queries: "x", axes: [1], colors: { a: 1 }, staticLegend: 5, decimalPlaces: "x", tableOptions: null };
  expect(chartsOf([{ ...cell, properties: odd }])).toHaveLength(1);
});

describe("what is wrong is named", () => {
  const good = { kind: "Xy", ...HEAD, ...LINE, geom: "line" };
  test.each([
    ["kind", { kind: "pie" }],
    ["width", { width: 0 }],
    ["height", { height: -1 }],
    ["colors[0].hex", { colors: [{ name: "a" }] }],
    ["colors", { kind: "Gauge", colors: [{ type: "min", hex: "#123456" }] }],
    ["axes", { axes: [{ name: "x" }] }],
    ["geom", { geom: "round" }],
    ["position", { position: "beside" }],
  ])("%s in %j", (field, change) => {
    const { issues } = read({ ...good, ...change });
    const paths = issues.map(({ fields, idxs }) => fields.map((name, i) => (idxs[i] === null ? name : `${name}[${idxs[i]}]`)).join("."));
    expect(paths).toContain(`root[0].spec.${field}`);
  });

  test.each([
    [{ width: 1.5 }, { w: 1 }],
    [{ queries: [{ query: " " }] }, { properties: { queries: null } }],
    [{ xTotalTicks: "many" }, { properties: { xTotalTicks: 0 } }],
    [{ staticLegend: [1] }, { properties: { staticLegend: {} } }],
    [{ kind: "Geo", geoLayers: "x" }, { properties: { layers: null } }],
    [{ kind: "Geo", geoLayers: [{ radius: "wide" }] }, { properties: { layers: [{ radius: 0 }] } }],
    [{ kind: "Scatter", axes: [{ name: "x", domain: [1, "a"] }, { name: "y" }] }, { properties: { xDomain: [1] } }],
  ])("as on release 2.8.0, %j is not", (change, shown) => {
    const { issues, charts } = read({ ...good, ...change });
    expect([issues, charts[0]]).toMatchObject([[], shown]);
  });
});
