// Error, gamma and Bessel functions to about 1e-13 relative (absolute near zeros). Not hot: clarity
// over speed.

const SQRT_PI = Math.sqrt(Math.PI);
const EULER_GAMMA = 0.5772156649015329;

/**
 * From here on the continued fraction of the complement keeps all digits; a difference from 1 loses
 * some.
 */
const FRACTION_FROM = 1.5;

/** Error function: power series near zero, complement elsewhere. */
export function erf(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (Math.abs(x) > FRACTION_FROM) return x > 0 ? 1 - erfc(x) : erfc(-x) - 1;
  let term = x;
  let sum = x;
  for (let n = 1; n < 100; n++) {
    term *= (-x * x) / n;
    const part = term / (2 * n + 1);
    sum += part;
    if (Math.abs(part) < 1e-17 * Math.abs(sum)) break;
  }
  return (2 / SQRT_PI) * sum;
}

/** Complementary error function: continued fraction for large arguments, evaluated from its end. */
export function erfc(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (x < 0) return 2 - erfc(-x);
  if (x <= FRACTION_FROM) return 1 - erf(x);
  if (x > 27) return 0;
  let fraction = 0;
  for (let k = 120; k >= 1; k--) fraction = k / 2 / (x + fraction);
  return Math.exp(-x * x) / (SQRT_PI * (x + fraction));
}

/** Gamma function: Stirling's series after shifting the argument up; reflection below zero. */
export function gamma(x: number): number {
  if (Number.isNaN(x) || x === -Infinity) return NaN;
  if (x === Infinity) return Infinity;
  if (x === 0) return Object.is(x, -0) ? -Infinity : Infinity;
  if (Number.isInteger(x)) {
    if (x < 0) return NaN;
    if (x > 171) return Infinity;
    let product = 1;
    for (let i = 2; i < x; i++) product *= i;
    return product;
  }
  if (x < 0) return Math.PI / (Math.sin(Math.PI * x) * gamma(1 - x));
  let shift = 1;
  let z = x;
  while (z < 16) {
    shift *= z;
    z++;
  }
  if (z > 171.7) return Infinity;
  const w = 1 / (z * z);
  const series =
    (1 / 12 -
      w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - (w * 691) / 360360))))) /
    z;
  // z^(z-1/2) in two halves, since it overflows before the result does.
  const half = z ** ((z - 0.5) / 2);
  return (Math.sqrt(2 * Math.PI) * half * Math.exp(-z + series) * half) / shift;
}

/** Arguments from which the asymptotic expansion of Hankel is exact to double precision. */
const ASYMPTOTIC_FROM = 30;
/** Arguments below which the power series needs a few terms only. */
const SERIES_BELOW = 1;
/** Each order takes a step; higher ones are NaN. */
const ORDER_MAX = 1_000_000;

/** Bessel function of the first kind of integer order. */
export function besselJ(order: number, x: number): number {
  if (Number.isNaN(x) || Math.abs(order) > ORDER_MAX) return NaN;
  if (!Number.isFinite(x)) return 0;
  if (order < 0) return (order % 2 === 0 ? 1 : -1) * besselJ(-order, x);
  if (x < 0) return (order % 2 === 0 ? 1 : -1) * besselJ(order, -x);
  if (x === 0) return order === 0 ? 1 : 0;
  if (x < SERIES_BELOW) return powerSeries(order, x);
  if (x <= ASYMPTOTIC_FROM || order > x) return firstKind(x, order)[order] ?? 0;
  const [zero, one] = hankel(x);
  // The upward recurrence is stable up to the argument.
  return upwards(order, x, [zero.j, one.j]);
}

/** Bessel function of the second kind of integer order. */
export function besselY(order: number, x: number): number {
  if (Number.isNaN(x) || x < 0 || Math.abs(order) > ORDER_MAX) return NaN;
  if (x === Infinity) return 0;
  if (order < 0) return (order % 2 === 0 ? 1 : -1) * besselY(-order, x);
  if (x === 0) return -Infinity;
  // The upward recurrence is stable for the second kind.
  return upwards(order, x, secondKind(x));
}

/** The function of an order from those of orders 0 and 1. */
function upwards(order: number, x: number, [zero, one]: readonly [number, number]): number {
  if (order === 0) return zero;
  let [previous, current] = [zero, one];
  for (let n = 1; n < order && Number.isFinite(current); n++) {
    [previous, current] = [current, ((2 * n) / x) * current - previous];
  }
  return current;
}

function powerSeries(order: number, x: number): number {
  const half = x / 2;
  let factor = 1;
  for (let n = 1; n <= order && factor > 0; n++) factor *= half / n;
  let term = 1;
  let sum = 1;
  for (let k = 1; Math.abs(term) > 1e-18; k++) {
    term *= (-half * half) / (k * (order + k));
    sum += term;
  }
  return factor * sum;
}

/**
 * J_0 … J_orderMax (and beyond) by downward recurrence, normalised by J_0 + 2 J_2 + 2 J_4 + … = 1.
 */
function firstKind(x: number, orderMax: number): number[] {
  const reach = Math.max(orderMax, Math.ceil(x));
  const start = 2 * Math.ceil((reach + 20 + Math.sqrt(60 * (reach + 1))) / 2);
  const values: number[] = Array.from({ length: start + 2 }, () => 0);
  values[start] = 1e-300;
  let sum = 0;
  let largest = start;
  for (let n = start; n > 0; n--) {
    const value = ((2 * n) / x) * (values[n] ?? 0) - (values[n + 1] ?? 0);
    values[n - 1] = value;
    if (Math.abs(value) > 1e200) {
      // Values that have become zero stay zero: each is scaled only a few times.
      for (let i = n - 1; i <= largest; i++) values[i] = (values[i] ?? 0) * 1e-250;
      while (largest > n && values[largest] === 0) largest--;
      sum *= 1e-250;
    }
    if ((n - 1) % 2 === 0) sum += (n === 1 ? 1 : 2) * (values[n - 1] ?? 0);
  }
  return values.map((value) => value / sum);
}

/** Y_0 and Y_1 by Neumann's series over J. */
function secondKind(x: number): [number, number] {
  if (x > ASYMPTOTIC_FROM) {
    const [zero, one] = hankel(x);
    return [zero.y, one.y];
  }
  const j =
    x < SERIES_BELOW
      ? Array.from({ length: 24 }, (_, order) => powerSeries(order, x))
      : firstKind(x, 2);
  const log = Math.log(x / 2) + EULER_GAMMA;
  const at = (n: number): number => j[n] ?? 0;
  let y0 = log * at(0);
  // Y_1 is minus the derivative of Y_0, term by term.
  let y1 = log * at(1) - at(0) / x;
  for (let k = 1; 2 * k + 1 < j.length; k++) {
    const sign = k % 2 === 0 ? -1 : 1;
    y0 += (2 * sign * at(2 * k)) / k;
    y1 -= (sign * (at(2 * k - 1) - at(2 * k + 1))) / k;
  }
  return [(2 / Math.PI) * y0, (2 / Math.PI) * y1];
}

type Pair = { readonly j: number; readonly y: number };

/** Orders 0 and 1 of a large argument. */
function hankel(x: number): readonly [Pair, Pair] {
  // Sine and cosine of x less an eighth of a turn, from those of x itself: x loses no digits,
  // however large it is.
  const [sine, cosine] = [Math.sin(x), Math.cos(x)];
  let sum = sine + cosine;
  let difference = sine - cosine;
  const product = -Math.cos(2 * x);
  if (Number.isFinite(2 * x)) {
    // The one of the two that cancels is computed from the other: their product is known.
    if (sine * cosine < 0) sum = product / difference;
    else difference = product / sum;
  }
  const scale = Math.sqrt(1 / (Math.PI * x));
  const zero = expansion(0, x);
  const one = expansion(1, x);
  return [
    {
      j: scale * (zero.p * sum - zero.q * difference),
      y: scale * (zero.p * difference + zero.q * sum),
    },
    {
      j: scale * (one.p * difference + one.q * sum),
      y: scale * (one.q * difference - one.p * sum),
    },
  ];
}

function expansion(order: number, x: number): { readonly p: number; readonly q: number } {
  const mu = 4 * order * order;
  let p = 1;
  let q = 0;
  let term = 1;
  for (let k = 1; k < 60; k++) {
    const next = (term * (mu - (2 * k - 1) ** 2)) / (k * 8 * x);
    if (Math.abs(next) > Math.abs(term) || Math.abs(next) < 1e-18) break;
    term = next;
    const sign = Math.floor(k / 2) % 2 === 0 ? 1 : -1;
    if (k % 2 === 0) p += sign * term;
    else q += sign * term;
  }
  return { p, q };
}
