// Minimization by the simplex search of Nelder and Mead with parameters that depend on the dimension. Sources: Lagarias and others,
// "Convergence properties of the Nelder-Mead simplex method", 1998; Gao and Han, "Implementing the Nelder-Mead simplex algorithm with
// adaptive parameters", 2012. The order of the vertices and the end of the search decide which of several close minima is found, so they
// are those of the reference.

/** Distance of the first vertices from the start. */
const SIZE = 0.05;

export interface SearchEnd {
  /** A gain of less is none. */
  readonly gain: number;
  /** Iterations without a gain that end the search. */
  readonly iterations: number;
}

export interface Minimum {
  readonly value: number;
  readonly at: Float64Array;
}

interface Vertex {
  readonly at: Float64Array;
  readonly value: number;
}

/** A null is a pause between two evaluations. */
export function* minimum(objective: (at: Float64Array) => number, start: Float64Array, end: SearchEnd): Generator<null, Minimum, void> {
  const search = new SimplexSearch(objective, start);
  let best = Number.POSITIVE_INFINITY;
  for (let idle = 0; idle < end.iterations; ) {
    const { value } = search.best;
    if (value < best && best - value > end.gain) {
      best = value;
      idle = 0;
    } else idle++;
    search.iterate();
    yield null;
  }
  return search.best;
}

class SimplexSearch {
  /** The best first. */
  private vertices: Vertex[];
  /** Of all but the worst. */
  private center: Float64Array;
  private readonly expansion: number;
  private readonly contraction: number;
  private readonly shrinkage: number;

  constructor(
    private readonly objective: (at: Float64Array) => number,
    start: Float64Array,
  ) {
    const dimension = start.length;
    this.expansion = 1 + 2 / dimension;
    this.contraction = 0.75 - 1 / (2 * dimension);
    this.shrinkage = 1 - 1 / dimension;
    const others = Array.from(start, (value, i) => this.vertex(start.with(i, value + SIZE)));
    this.vertices = ordered([...others, this.vertex(start)]);
    this.center = centerOf(this.vertices);
  }

  get best(): Minimum {
    return this.vertices[0]!;
  }

  iterate(): void {
    const { vertices } = this;
    const [worst, second] = [vertices.at(-1)!, vertices.at(-2)!];
    const reflected = this.beyond(1);
    if (reflected.value < vertices[0]!.value) {
      const expanded = this.beyond(this.expansion);
      this.replaceWorst(expanded.value < reflected.value ? expanded : reflected);
    } else if (reflected.value < second.value) this.replaceWorst(reflected);
    else if (reflected.value < worst.value) {
      const outside = this.beyond(this.contraction);
      if (outside.value <= reflected.value) this.replaceWorst(outside);
      else this.shrink();
    } else {
      const inside = this.beyond(-this.contraction);
      if (inside.value < worst.value) this.replaceWorst(inside);
      else this.shrink();
    }
  }

  private vertex(at: Float64Array): Vertex {
    return { at, value: this.objective(at) };
  }

  /** On the line from the worst vertex through the center. */
  private beyond(scale: number): Vertex {
    const worst = this.vertices.at(-1)!.at;
    return this.vertex(moved(this.center, worst, scale, this.center));
  }

  private replaceWorst(made: Vertex): void {
    const { vertices } = this;
    let at = vertices.length - 1;
    while (at > 0 && vertices[at - 1]!.value >= made.value) at--;
    vertices.pop();
    vertices.splice(at, 0, made);
    // the worst has left the center's vertices, and the new one has come
    const dimension = this.center.length;
    const worst = vertices.at(-1)!.at;
    const { center } = this;
    for (let i = 0; i < dimension; i++) center[i] = center[i]! + (-1 / dimension) * worst[i]! + (1 / dimension) * made.at[i]!;
  }

  private shrink(): void {
    const [best, ...others] = this.vertices as [Vertex, ...Vertex[]];
    const shrunk = others.map(({ at }) => this.vertex(moved(at, best.at, this.shrinkage, best.at)));
    this.vertices = ordered([best, ...shrunk]);
    this.center = centerOf(this.vertices);
  }
}

/** (from - to) × scale + base */
function moved(from: Float64Array, to: Float64Array, scale: number, base: Float64Array): Float64Array {
  const made = new Float64Array(from.length);
  for (let i = 0; i < made.length; i++) made[i] = (from[i]! - to[i]!) * scale + base[i]!;
  return made;
}

function ordered(vertices: Vertex[]): Vertex[] {
  return vertices.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
}

function centerOf(vertices: readonly Vertex[]): Float64Array {
  const kept = vertices.slice(0, -1);
  return kept[0]!.at.map((_, i) => kept.reduce((sum, { at }) => sum + at[i]!, 0) / kept.length);
}
