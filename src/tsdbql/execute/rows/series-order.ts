// Orders rows of equal time from different series: by their tags, compared one after another in a given order, absent first. Storage
// returns such rows in write or file order, so without this an answer would depend on where its rows are stored.
import { compareTexts } from "../../../model/rows/text-order.ts";
import { inSteps, type Steps, sortInSteps } from "../../../model/steps.ts";
import type { RowSeries } from "./row-series.ts";

/** The position of each row's series among all, by their tags in the order of the columns; null: there is only one. */
export function* placesOfSeries(series: RowSeries, rows: Uint32Array | null): Steps<Uint32Array | null> {
  if (series.count <= 1) return null;
  const placeOf = yield* seriesPlaces(series);
  const numbers = series.view();
  const places = new Uint32Array(rows?.length ?? numbers.length);
  yield* inSteps(places.length, (from, to) => {
    for (let i = from; i < to; i++) places[i] = placeOf[numbers[rows === null ? i : rows[i]!]!]!;
  });
  return places;
}

/** The place of every series. */
function* seriesPlaces(series: RowSeries): Steps<Uint32Array> {
  const keys: { readonly codes: Uint32Array; readonly ranks: Uint32Array }[] = [];
  for (const tag of yield* series.tagsOfSeries()) {
    if (tag === null) continue;
    const { texts, codes } = tag;
    // code 0 stands for absent, which comes first
    const order = Uint32Array.from(texts.keys());
    yield* sortInSteps(order, (a, b) => compareTexts(texts[a]!, texts[b]!));
    keys.push({ codes, ranks: yield* placesOf(order) });
  }
  const order = Uint32Array.from({ length: series.count }, (_, number) => number);
  yield* sortInSteps(order, (a, b) => {
    for (const { codes, ranks } of keys) {
      if (codes[a] !== codes[b]) return ranks[codes[a]!]! - ranks[codes[b]!]!;
    }
    return 0;
  });
  return yield* placesOf(order);
}

/** The position of each number in an ordered list. */
function* placesOf(order: Uint32Array): Steps<Uint32Array> {
  const places = new Uint32Array(order.length);
  yield* inSteps(order.length, (from, to) => {
    for (let place = from; place < to; place++) places[order[place]!] = place;
  });
  return places;
}
