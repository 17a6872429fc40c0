// Package `experimental/geo`: rows with S2 cells and coordinates.
import { FluxError } from "../../values/flux-error.ts";
import { FluxArray, FluxRecord } from "../../values/value.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { corner, earthRadius, type Geometry, geometryOf } from "./geometry.ts";
import { centerOf, gridOf, levelOf, parentToken } from "./grid.ts";
import { contains, distance, lengthOf, regionOf } from "./regions.ts";

/** Errors of the geometry library are answers to bad input. */
function spherical(body: NativeBody): NativeBody {
  return (call) => {
    try {
      return body(call);
    } catch (error) {
      if (error instanceof FluxError) throw error;
      throw new FluxError(`invalid geometry: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
}

/** The arguments with the radius of the earth in the caller's unit. */
function geometries(call: NativeCall, ...names: readonly string[]): [radius: number, ...found: Geometry[]] {
  const radius = earthRadius(call.record("units"));
  return [radius, ...names.map((name) => geometryOf(name, call.record(name), radius))];
}

const getGrid: NativeBody = (call) => {
  const [, region] = geometries(call, "region");
  const [level, maxLevel] = [call.int("level", -1), call.int("maxLevel", -1)];
  const [minSize, maxSize] = [call.int("minSize", -1), call.int("maxSize", -1)];
  if (maxLevel > 30) throw new FluxError(`invalid maxLevel (${maxLevel}, must be < 30)`);
  if (minSize > 0 && maxSize > 0 && minSize > maxSize) throw new FluxError(`minSize > maxSize (${minSize} > ${maxSize})`);
  const grid = gridOf(regionOf(region!), { level, maxLevel, minSize, maxSize });
  return FluxRecord.of({ level: BigInt(grid.level), set: new FluxArray(grid.tokens) });
};

const s2CellIDToken: NativeBody = (call) => {
  const token = call.has("token") ? call.string("token") : null;
  const point = call.has("point") ? call.record("point") : null;
  if (token === null && point === null) throw new FluxError("either token or point parameter must be specified");
  if (token !== null && point !== null && (token !== "") === [...point.labels()].length > 0) {
    throw new FluxError("either token or point parameter must be specified and must not be empty");
  }
  return parentToken(token === null || token === "" ? corner(point!, "point") : token, call.int("level"));
};

const s2CellLatLon: NativeBody = (call) => {
  const { lat, lng } = centerOf(call.string("token"));
  return FluxRecord.of({ lat: (lat * 180) / Math.PI, lon: (lng * 180) / Math.PI });
};

/** How rows are laid out: `lat` and `lon` as columns, the cell as the tag `s2_cell_id`. */
const SOURCE = `
import "experimental"
import "influxdata/influxdb/schema"
option units = {distance: "km"}
builtin stContains : (region: A, geometry: B, units: {distance: string}) => bool where A: Record, B: Record
builtin stDistance : (region: A, geometry: B, units: {distance: string}) => float where A: Record, B: Record
builtin stLength : (geometry: A, units: {distance: string}) => float where A: Record
builtin getGrid : (region: T, ?minSize: int, ?maxSize: int, ?level: int, ?maxLevel: int, units: {distance: string}) => {level: int, set: [string]} where T: Record
builtin getLevel : (token: string) => int
builtin s2CellIDToken : (?token: string, ?point: {lat: float, lon: float}, level: int) => string
builtin s2CellLatLon : (token: string) => {lat: float, lon: float}
ST_Contains = (region, geometry, units=units) => stContains(region: region, geometry: geometry, units: units)
ST_Distance = (region, geometry, units=units) => stDistance(region: region, geometry: geometry, units: units)
ST_DWithin = (region, geometry, distance, units=units) => ST_Distance(region: region, geometry: geometry, units: units) <= distance
ST_Intersects = (region, geometry, units=units) => ST_DWithin(region: region, geometry: geometry, distance: 0.0, units: units)
ST_Length = (geometry, units=units) => stLength(geometry: geometry, units: units)
ST_LineString = (tables=<-) =>
    tables
        |> reduce(
            identity: {st_linestring: ""},
            fn: (r, accumulator) => {
                before = if accumulator.st_linestring == "" then "" else accumulator.st_linestring + ", "
                return {st_linestring: before + string(v: r.lon) + " " + string(v: r.lat)}
            },
        )
_cellLevel = (tables=<-) => {
    row = tables |> tableFind(fn: (key) => exists key.s2_cell_id) |> getRecord(idx: 0)
    return if exists row then getLevel(token: row.s2_cell_id) else 666
}
toRows = (tables=<-) => tables |> schema.fieldsAsCols()
shapeData = (tables=<-, latField, lonField, level) =>
    tables
        |> map(fn: (r) => ({r with _field: if r._field == latField then "lat" else if r._field == lonField then "lon" else r._field}))
        |> toRows()
        |> map(fn: (r) => ({r with s2_cell_id: s2CellIDToken(point: {lat: r.lat, lon: r.lon}, level: level)}))
        |> experimental.group(mode: "extend", columns: ["s2_cell_id"])
gridFilter = (tables=<-, region, minSize=24, maxSize=-1, level=-1, s2cellIDLevel=-1, units=units) => {
    stored = if s2cellIDLevel == -1 then tables |> _cellLevel() else s2cellIDLevel
    grid = getGrid(region: region, minSize: minSize, maxSize: maxSize, level: level, maxLevel: stored, units: units)
    near =
        if grid.level == stored then
            (r) => contains(set: grid.set, value: r.s2_cell_id)
        else
            (r) => contains(set: grid.set, value: s2CellIDToken(token: r.s2_cell_id, level: grid.level))
    return tables |> filter(fn: near)
}
strictFilter = (tables=<-, region) =>
    tables |> filter(fn: (r) => ST_Contains(region: region, geometry: {lat: r.lat, lon: r.lon}))
filterRows = (tables=<-, region, minSize=24, maxSize=-1, level=-1, s2cellIDLevel=-1, strict=true) => {
    labels = tables |> columns(column: "label") |> findColumn(fn: (key) => true, column: "label")
    near =
        tables
            |> gridFilter(region: region, minSize: minSize, maxSize: maxSize, level: level, s2cellIDLevel: s2cellIDLevel)
    rows = if contains(set: labels, value: "lat") then near else near |> toRows()
    return if strict then rows |> strictFilter(region: region) else rows
}
groupByArea = (tables=<-, newColumn, level, s2cellIDLevel=-1) => {
    stored = if s2cellIDLevel == -1 then tables |> _cellLevel() else s2cellIDLevel
    withArea =
        if level == stored then
            tables |> duplicate(column: "s2_cell_id", as: newColumn)
        else
            tables
                |> map(fn: (r) => ({r with __area: s2CellIDToken(point: {lat: r.lat, lon: r.lon}, level: level)}))
                |> rename(columns: {__area: newColumn})
    return withArea |> group(columns: [newColumn])
}
asTracks = (tables=<-, groupBy=["id", "tid"], orderBy=["_time"]) => tables |> group(columns: groupBy) |> sort(columns: orderBy)
totalDistance = (tables=<-, outputColumn="_value") =>
    tables
        |> reduce(
            identity: {__first: true, __lat: 0.0, __lon: 0.0, __sum: 0.0},
            fn: (r, accumulator) => {
                here = {lat: r.lat, lon: r.lon}
                step =
                    if accumulator.__first then
                        0.0
                    else
                        ST_Distance(region: {lat: accumulator.__lat, lon: accumulator.__lon}, geometry: here)
                return {__first: false, __lat: r.lat, __lon: r.lon, __sum: accumulator.__sum + step}
            },
        )
        |> drop(columns: ["__first", "__lat", "__lon"])
        |> rename(columns: {__sum: outputColumn})
`;

export const GEO: LibraryPackage = {
  path: "experimental/geo",
  name: "geo",
  source: SOURCE,
  natives: {
    stContains: spherical((call) => {
      const [, region, geometry] = geometries(call, "region", "geometry");
      return contains(region!, geometry!);
    }),
    stDistance: spherical((call) => {
      const [radius, region, geometry] = geometries(call, "region", "geometry");
      return distance(region!, geometry!) * radius;
    }),
    stLength: spherical((call) => {
      const [radius, geometry] = geometries(call, "geometry");
      return lengthOf(geometry!) * radius;
    }),
    getGrid: spherical(getGrid),
    getLevel: spherical((call) => BigInt(levelOf(call.string("token")))),
    s2CellIDToken: spherical(s2CellIDToken),
    s2CellLatLon: spherical(s2CellLatLon),
  },
};
