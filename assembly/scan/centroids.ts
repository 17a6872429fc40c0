// Centroids of a t-digest: means of neighbouring values, few at the ends and many in between, so that quantiles near the ends are the most
// exact. Source: Dunning, Ertl, "Computing extremely accurate quantiles using t-digests" (2019), with the scale function of Folly's
// TDigest.
//   centroid: | mean f64 | weight f64 |

export const CENTROID_LOG2: u32 = 4;

// The merge at hand. Each instance of this module runs on one thread.
let target: u32 = 0;
let written: u32 = 0;
let total: f64 = 0;
let size: f64 = 0;
/** Number of the current centroid, from 1. */
let number: f64 = 0;
/** Weight up to which values belong to it. */
let limit: f64 = 0;
let soFar: f64 = 0;
let sum: f64 = 0;
let weight: f64 = 0;
/** The first and the last value that were added to it. */
let first: f64 = 0;
let last: f64 = 0;

/** Begins to write at most `size_` + 1 centroids, whose weights sum up to `total_`. Values follow in ascending order. */
export function beginCentroids(target_: u32, total_: f64, size_: u32): void {
  target = target_;
  written = 0;
  total = total_;
  size = <f64>size_;
  number = 0;
  soFar = 0;
  sum = 0;
  weight = 0;
  nextLimit();
}

/** The share of the weight below the end of centroid `number`. */
function nextLimit(): void {
  number += 1;
  const place = number / size;
  const rest = 1 - place;
  // rounded weights may sum up to more than their total
  if (rest <= 0) limit = Infinity;
  else limit = total * (place >= 0.5 ? 1 - 2 * rest * rest : 2 * place * place);
}

function endCentroid(): void {
  const at = target + (written << CENTROID_LOG2);
  let mean = sum / weight;
  // sums are rounded, and that of the greatest floats is none
  if (!(mean >= first)) mean = first;
  if (!(mean <= last)) mean = last;
  store<f64>(at, mean);
  store<f64>(at, weight, 8);
  written++;
  nextLimit();
}

/** Adds a value, or a centroid, as a whole. */
// @ts-ignore: decorator
@inline
export function addCentroid(mean: f64, added: f64): void {
  soFar += added;
  if (weight != 0 && soFar > limit) {
    endCentroid();
    sum = 0;
    weight = 0;
  }
  if (weight == 0) first = mean;
  sum += mean * added;
  weight += added;
  last = mean;
}

/** Adds equal values, `count` times of weight `unit`. They are divided among centroids, between which a quantile is the value itself. */
export function addValues(value: f64, unit: f64, count: f64): void {
  while (count > 0) {
    const room = Math.floor((limit - soFar) / unit);
    const fits = weight == 0 ? Math.max(room, 1) : room;
    if (fits >= 1) {
      const taken = Math.min(count, fits);
      const added = taken * unit;
      if (weight == 0) first = value;
      soFar += added;
      sum += value * added;
      weight += added;
      last = value;
      count -= taken;
    } else {
      endCentroid();
      sum = 0;
      weight = 0;
    }
  }
}

/** Returns how many centroids there are. */
export function endCentroids(): u32 {
  if (weight != 0) endCentroid();
  return written;
}

/** The value below which a share of the weight lies. */
export function quantileOf(centroids: u32, count: u32, weight: f64, least: f64, most: f64, share: f64): f64 {
  if (share <= 0) return least;
  if (share >= 1) return most;
  const rank = share * weight;
  let place: u32 = 0;
  let below: f64 = 0;
  if (share > 0.5) {
    below = weight;
    for (place = count; place > 0; ) {
      place--;
      below -= load<f64>(centroids + (place << CENTROID_LOG2), 8);
      if (rank >= below) break;
    }
  } else {
    for (; place < count - 1; place++) {
      const own = load<f64>(centroids + (place << CENTROID_LOG2), 8);
      if (rank < below + own) break;
      below += own;
    }
  }
  const at = centroids + (place << CENTROID_LOG2);
  const mean = load<f64>(at);
  const low = place > 0 ? load<f64>(at - (1 << CENTROID_LOG2)) : least;
  const high = place < count - 1 ? load<f64>(at, 1 << CENTROID_LOG2) : most;
  let offset = (rank - below) / load<f64>(at, 8) - 0.5;
  let from = low;
  let to = high;
  if (count == 1) offset = 0;
  else if (place == 0) from = mean;
  else if (place == count - 1) to = mean;
  else offset /= 2;
  const width = to - from;
  // the difference of two floats may be none
  const value = mean + (isFinite(width) ? offset * width : offset * to - offset * from);
  return Math.min(Math.max(value, low), high);
}
