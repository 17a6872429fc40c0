// Functions that the runtime lacks: error functions, gamma, Bessel functions.

const HALF_LOG_2PI = 0.9189385332046727;
/** Source: Lanczos, SIAM J. Numer. Anal. B 1 (1964), with g = 607/128. */
const LANCZOS = [
  0.9999999999999971, 57.15623566586292, -59.59796035547549, 14.136097974741746, -0.4919138160976202, 3.399464998481189e-5,
  4.652362892704858e-5, -9.837447530487956e-5, 0.0001580887032249125, -0.00021026444172410488, 0.00021743961811521265,
  -0.0001643181065367639, 8.441822398385275e-5, -2.6190838401581408e-5, 3.6899182659531625e-6,
];

function logGammaPositive(x: number): number {
  const shifted = x + 607 / 128 - 0.5;
  let sum = LANCZOS[0]!;
  for (let i = 1; i < LANCZOS.length; i++) sum += LANCZOS[i]! / (x + i - 1);
  return (x - 0.5) * Math.log(shifted) - shifted + HALF_LOG_2PI + Math.log(sum);
}

/** The logarithm of |Γ(x)|, and the sign of Γ(x). */
export function logGamma(x: number): { readonly value: number; readonly sign: number } {
  if (Number.isNaN(x)) return { value: x, sign: 1 };
  if (!Number.isFinite(x)) return { value: x, sign: 1 };
  if (x <= 0 && Number.isInteger(x)) return { value: Number.POSITIVE_INFINITY, sign: 1 };
  if (x === 1 || x === 2) return { value: 0, sign: 1 };
  if (x > 0) return { value: logGammaPositive(x), sign: 1 };
  const sine = Math.sin(Math.PI * x);
  return { value: Math.log(Math.PI / Math.abs(sine)) - logGammaPositive(1 - x), sign: sine < 0 ? -1 : 1 };
}

/** Γ(x). */
export function gamma(x: number): number {
  if (x === Number.POSITIVE_INFINITY || Number.isNaN(x)) return x;
  if (x === 0) return Object.is(x, -0) ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (x < 0 && (Number.isInteger(x) || !Number.isFinite(x))) return Number.NaN;
  if (Number.isInteger(x) && x < 25) {
    let product = 1;
    for (let i = 2; i < x; i++) product *= i;
    return product;
  }
  const { value, sign } = logGamma(x);
  return sign * Math.exp(value);
}

/** The error function. */
export function erf(x: number): number {
  if (Number.isNaN(x)) return x;
  if (Math.abs(x) > 3) return Math.sign(x) * (1 - erfc(Math.abs(x)));
  // Maclaurin series: terms fall fast below 3
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** The complementary error function, 1 - erf(x). */
export function erfc(x: number): number {
  if (x < 3) return 1 - erf(x);
  if (x > 27) return 0;
  // continued fraction, from the far end
  let fraction = 0;
  for (let k = 120; k > 0; k--) fraction = k / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}

/** The inverse of the error function. */
export function erfInverse(y: number): number {
  if (Number.isNaN(y) || Math.abs(y) > 1) return Number.NaN;
  if (Math.abs(y) === 1) return y * Number.POSITIVE_INFINITY;
  // Winitzki's estimate, then Halley's steps
  const log = Math.log(1 - y * y);
  const part = 2 / (Math.PI * 0.147) + log / 2;
  let x = Math.sign(y) * Math.sqrt(Math.sqrt(part * part - log / 0.147) - part);
  for (let i = 0; i < 4 && y !== 0; i++) {
    const error = y > 0 ? 1 - y - erfc(x) : -(1 + y - erfc(-x));
    const slope = (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x);
    const step = error / slope;
    x -= step / (1 + x * step);
  }
  return x;
}

const STEPS = 2000;

/** Bessel's integral by Simpson's rule: the integrand is smooth and periodic, so it converges at once. */
export function besselJ(n: number, x: number): number {
  if (Number.isNaN(x)) return x;
  if (!Number.isFinite(x)) return 0;
  const order = Math.abs(n);
  // the recurrence keeps its digits up to the order x
  if (Math.abs(x) >= FAR && order < Math.abs(x) && order <= ORDER_MAX) {
    const isNegative = order % 2 !== 0 && n < 0 !== x < 0;
    return (isNegative ? -1 : 1) * recurred(order, Math.abs(x), ({ j }) => j);
  }
  let sum = 0;
  for (let i = 0; i < STEPS; i++) {
    const angle = (Math.PI * (i + 0.5)) / STEPS;
    sum += Math.cos(n * angle - x * Math.sin(angle));
  }
  return sum / STEPS;
}

/** The Bessel function of the second kind of order n. */
export function besselY(n: number, x: number): number {
  if (x < 0 || Number.isNaN(x)) return Number.NaN;
  if (x === 0) return Number.NEGATIVE_INFINITY;
  if (!Number.isFinite(x)) return 0;
  const order = Math.abs(n);
  if (x >= FAR && order <= ORDER_MAX) return (n < 0 && order % 2 !== 0 ? -1 : 1) * recurred(order, x, ({ y }) => y);
  const first = simpson((angle) => Math.sin(x * Math.sin(angle) - n * angle), 0, Math.PI, 2 * STEPS);
  // the second integral falls like exp(-x sinh t)
  const end = Math.asinh((700 + Math.abs(n) * 20) / x);
  const second = simpson(
    (t) => (Math.exp(n * t) + (n % 2 === 0 ? 1 : -1) * Math.exp(-n * t)) * Math.exp(-x * Math.sinh(t)),
    0,
    end,
    20 * STEPS,
  );
  return (first - second) / Math.PI;
}

/** From here on the asymptotic series has all digits: its smallest term is about exp(-2x). */
const FAR = 20;
const ORDER_MAX = 1000;

interface Pair {
  readonly j: number;
  readonly y: number;
}

/** Of order n from those of order 0 and 1. */
function recurred(n: number, x: number, of: (pair: Pair) => number): number {
  let [before, value] = [of(hankel(0, x)), of(hankel(1, x))];
  if (n === 0) return before;
  for (let k = 1; k < n; k++) [before, value] = [value, ((2 * k) / x) * value - before];
  return value;
}

/** Both functions of order 0 or 1. Source: Hankel's expansions, NIST DLMF 10.17.3 and 10.17.4. */
function hankel(order: 0 | 1, x: number): Pair {
  const square = 4 * order * order;
  let [p, q, term] = [1, 0, 1];
  for (let k = 1; Math.abs(term) > 1e-18 && k < 4 * FAR; k++) {
    term *= (square - (2 * k - 1) ** 2) / (8 * k * x);
    const signed = k % 4 === 0 || k % 4 === 1 ? term : -term;
    if (k % 2 === 0) p += signed;
    else q += signed;
  }
  // cosine and sine of x - (order / 2 + 1 / 4) π, without the loss of that difference; their √2 joins the factor
  const [sum, difference] = [Math.sin(x) + Math.cos(x), Math.sin(x) - Math.cos(x)];
  const [cosine, sine] = order === 0 ? [sum, difference] : [difference, -sum];
  const factor = 1 / Math.sqrt(Math.PI * x);
  return { j: factor * (p * cosine - q * sine), y: factor * (p * sine + q * cosine) };
}

function simpson(f: (x: number) => number, from: number, to: number, steps: number): number {
  const width = (to - from) / steps;
  let sum = f(from) + f(to);
  for (let i = 1; i < steps; i++) sum += f(from + i * width) * (i % 2 === 0 ? 2 : 4);
  return (sum * width) / 3;
}
