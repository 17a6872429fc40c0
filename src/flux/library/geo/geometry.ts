// Geometries as records of scripts: points, boxes, circles, polygons and lines, with the unit of distances.
import { s2 } from "s2js";
import { FluxError } from "../../values/flux-error.ts";
import { FluxArray, FluxRecord, isNull, type Value } from "../../values/value.ts";

const EARTH_RADIUS_KM = 6371.01;
const RADII: Readonly<Record<string, number>> = { m: EARTH_RADIUS_KM * 1000, km: EARTH_RADIUS_KM, mile: EARTH_RADIUS_KM / 1.609344 };

/** Degrees; the radius is an angle in radians. */
export type Geometry =
  | { readonly kind: "point"; readonly at: s2.LatLng }
  | { readonly kind: "box"; readonly low: s2.LatLng; readonly high: s2.LatLng }
  | { readonly kind: "circle"; readonly center: s2.LatLng; readonly radius: number }
  | { readonly kind: "polygon"; readonly corners: readonly s2.LatLng[] }
  | { readonly kind: "polyline"; readonly path: readonly s2.LatLng[] };

/** Radius of the earth in the unit `units.distance`. @throws FluxError */
export function earthRadius(units: FluxRecord): number {
  const unit = units.get("distance");
  if (unit === undefined) throw new FluxError("invalid units parameter: missing field: distance");
  if (isNull(unit)) throw new FluxError("invalid units parameter: distance field is null");
  const radius = typeof unit === "string" && Object.hasOwn(RADII, unit) ? RADII[unit] : undefined;
  if (radius === undefined) throw new FluxError(`invalid units parameter: unsupported distance unit '${String(unit)}'`);
  return radius;
}

/** @param name of the parameter, for errors @throws FluxError */
export function geometryOf(name: string, record: FluxRecord, radius: number): Geometry {
  const labels = [...record.labels()].sort().join();
  switch (labels) {
    case "lat,lon":
      return { kind: "point", at: corner(record, "point") };
    case "maxLat,maxLon,minLat,minLon":
      return boxOf(record);
    case "lat,lon,radius": {
      const [center, length] = [corner(record, "circle"), record.get("radius")];
      if (typeof length !== "number") throw new FluxError("invalid circle specification - lat, lon, radius must not be null");
      return { kind: "circle", center, radius: length / radius };
    }
    case "points":
      return { kind: "polygon", corners: cornersOf(record.get("points")!) };
    case "linestring":
      return { kind: "polyline", path: pathOf(record.get("linestring")!) };
    default:
      throw new FluxError(`unsupported geometry specified for '${name}'`);
  }
}

/** A place from the members `lat` and `lon`. */
export function corner(record: FluxRecord, what: string): s2.LatLng {
  const [lat, lon] = [record.get("lat"), record.get("lon")];
  if (lat === undefined || lon === undefined) throw new FluxError(`invalid ${what} specification - must have lat, lon fields`);
  if (isNull(lat) || isNull(lon)) throw new FluxError(`invalid ${what} specification - lat, lon must not be null`);
  return degrees(lat, lon);
}

function degrees(lat: Value, lon: Value): s2.LatLng {
  if (typeof lat !== "number" || typeof lon !== "number") throw new FluxError("coordinates must be of type float");
  if (!Number.isFinite(lat) || !Number.isFinite(lon)) throw new FluxError("invalid coordinates");
  return s2.LatLng.fromDegrees(lat, lon);
}

function boxOf(record: FluxRecord): Geometry {
  const [minLat, maxLat, minLon, maxLon] = ["minLat", "maxLat", "minLon", "maxLon"].map((label) => record.get(label)!);
  const sides = [minLat!, maxLat!, minLon!, maxLon!];
  if (sides.some(isNull)) throw new FluxError("invalid box specification - minLat, minLon, maxLat, maxLon must not be null");
  const [a, b] = [degrees(minLat!, minLon!), degrees(maxLat!, maxLon!)];
  const low = new s2.LatLng(Math.min(a.lat, b.lat), Math.min(a.lng, b.lng));
  return { kind: "box", low, high: new s2.LatLng(Math.max(a.lat, b.lat), Math.max(a.lng, b.lng)) };
}

const CORNERS_MAX = 10_000;

function cornersOf(points: Value): s2.LatLng[] {
  const items = points instanceof FluxArray ? points.items : [];
  if (items.length < 3) throw new FluxError("polygon must have at least 3 points");
  if (items.length > CORNERS_MAX) throw new FluxError(`polygon must have at most ${CORNERS_MAX} points`);
  return items.map((item) => {
    if (item instanceof FluxRecord) return corner(item, "polygon point");
    throw new FluxError("invalid polygon point specification - must have lat, lon fields");
  });
}

/** `lon lat` pairs with commas between. */
function pathOf(text: Value): s2.LatLng[] {
  if (typeof text !== "string") throw new FluxError("empty linestring");
  const pairs = text.split(",");
  if (pairs.length > CORNERS_MAX) throw new FluxError(`linestring must have at most ${CORNERS_MAX} points`);
  return pairs.map((pair) => {
    const numbers = pair.trim().split(/\s+/);
    if (numbers[0] === "") throw new FluxError("invalid linestring - empty part");
    const [lon, lat] = [Number(numbers[0]), Number(numbers[1])];
    if (Number.isNaN(lon) || Number.isNaN(lat)) throw new FluxError(`invalid linestring - cannot read "${pair.trim().slice(0, 40)}"`);
    return degrees(lat, lon);
  });
}
