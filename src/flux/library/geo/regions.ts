// What is within what, and how far apart, on the sphere. Angles are in radians.
import { r1, s1, s2 } from "s2js";
import { FluxError } from "../../values/flux-error.ts";
import type { Geometry } from "./geometry.ts";

export type Region = s2.Rect | s2.Cap | s2.Loop;

/** @throws FluxError: a point or a line has no inside */
export function regionOf(geometry: Geometry): Region {
  switch (geometry.kind) {
    case "box":
      return rectOf(geometry);
    case "circle":
      return s2.Cap.fromCenterAngle(pointOf(geometry.center), geometry.radius);
    case "polygon":
      return loopOf(geometry.corners);
    default:
      throw new FluxError(`unsupported region type: geo.${geometry.kind}`);
  }
}

type Box = Extract<Geometry, { readonly kind: "box" }>;

function rectOf({ low, high }: Box): s2.Rect {
  return new s2.Rect(new r1.Interval(low.lat, high.lat), new s1.Interval(low.lng, high.lng));
}

const pointOf = (at: s2.LatLng): s2.Point => s2.Point.fromLatLng(at);

/** Corners in either order: the smaller part of the sphere is the inside. */
function loopOf(corners: readonly s2.LatLng[]): s2.Loop {
  const loop = new s2.Loop(corners.map(pointOf));
  if (loop.area() >= 2 * Math.PI) loop.invert();
  return loop;
}

/** True if the outer geometry contains the inner one. @throws FluxError for geometries that are not supported */
export function contains(outer: Geometry, inner: Geometry): boolean {
  const region = regionOf(outer);
  if (inner.kind === "point") return region.containsPoint(pointOf(inner.at));
  if (inner.kind === "polyline") return inner.path.every((at) => region.containsPoint(pointOf(at)));
  throw new FluxError(`unsupported geometry type: geo.${inner.kind}`);
}

/** The shortest distance from a region to a point or a line, 0 for what lies within. */
export function distance(from: Geometry, to: Geometry): number {
  if (to.kind === "point") return distanceToPoint(from, to.at);
  if (to.kind !== "polyline") throw new FluxError(`unsupported geometry type: geo.${to.kind}`);
  const line = indexOf(s2.Polyline.fromLatLngs([...to.path]));
  switch (from.kind) {
    case "point":
      return closest(line, new s2.EdgeQueryPointTarget(pointOf(from.at)));
    case "circle":
      return Math.max(0, closest(line, new s2.EdgeQueryPointTarget(pointOf(from.center))) - from.radius);
    case "box": {
      const { low, high } = from;
      const corners = [low, new s2.LatLng(low.lat, high.lng), high, new s2.LatLng(high.lat, low.lng)];
      return closest(indexOf(loopOf(corners)), new s2.EdgeQueryShapeIndexTarget(line));
    }
    case "polygon":
      return closest(indexOf(loopOf(from.corners)), new s2.EdgeQueryShapeIndexTarget(line));
    default:
      return 0;
  }
}

function distanceToPoint(from: Geometry, at: s2.LatLng): number {
  const to = pointOf(at);
  switch (from.kind) {
    case "point":
      return pointOf(from.at).distance(to);
    case "circle":
      return Math.max(0, pointOf(from.center).distance(to) - from.radius);
    case "box":
      return distanceToBox(rectOf(from), s2.LatLng.fromPoint(to));
    case "polygon":
      return closest(indexOf(loopOf(from.corners)), new s2.EdgeQueryPointTarget(to));
    default:
      return 0;
  }
}

/** Sides of a box along a parallel are no great circles, so they are compared by latitude. */
function distanceToBox(box: s2.Rect, to: s2.LatLng): number {
  if (box.lng.contains(to.lng)) return Math.max(0, to.lat - box.lat.hi, box.lat.lo - to.lat);
  const target = new s2.EdgeQueryPointTarget(pointOf(to));
  const sides = [box.lng.lo, box.lng.hi].map((lng) => {
    return closest(indexOf(s2.Polyline.fromLatLngs([new s2.LatLng(box.lat.lo, lng), new s2.LatLng(box.lat.hi, lng)])), target);
  });
  return Math.min(...sides);
}

function indexOf(shape: s2.Loop | s2.Polyline): s2.ShapeIndex {
  const index = new s2.ShapeIndex();
  index.add(shape);
  return index;
}

function closest(index: s2.ShapeIndex, target: s2.ClosestEdgeQueryTarget): number {
  const found = new s2.ClosestEdgeQuery(index).findClosestEdge(target);
  return s1.chordangle.angle(found.distance);
}

/** The length of a line in radians; 0 for a point. @throws FluxError for other geometries */
export function lengthOf(geometry: Geometry): number {
  if (geometry.kind === "point") return 0;
  if (geometry.kind !== "polyline") throw new FluxError(`unsupported geometry type: geo.${geometry.kind}`);
  let length = 0;
  for (let i = 1; i < geometry.path.length; i++) length += geometry.path[i - 1]!.distance(geometry.path[i]!);
  return length;
}
