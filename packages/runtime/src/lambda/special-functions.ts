// Error, gamma and Bessel functions to about 1e-13 relative (absolute near zeros). Not hot: clarity over speed.

const SQRT_PI = Math.sqrt(Math.PI);
const EULER_GAMMA = 0.5772156649015329;

/** Error function: power series near zero, complement elsewhere. */
export function erf(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (Math.abs(x) > 2.5) return x > 0 ? 1 - erfc(x) : erfc(-x) - 1;
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
  if (x <= 2.5) return 1 - erf(x);
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

/** Bessel function of the first kind of integer order. */
export function besselJ(order: number, x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (!Number.isFinite(x)) return 0;
  if (order < 0) return (order % 2 === 0 ? 1 : -1) * besselJ(-order, x);
  if (x < 0) return (order % 2 === 0 ? 1 : -1) * besselJ(order, -x);
  if (x === 0) return order === 0 ? 1 : 0;
  if (x > ASYMPTOTIC_FROM && x > order * order) return hankel(order, x).j;
  return firstKind(x, order)[order] ?? 0;
}

/** Bessel function of the second kind of integer order. */
export function besselY(order: number, x: number): number {
  if (Number.isNaN(x) || x < 0) return NaN;
  if (x === Infinity) return 0;
  if (order < 0) return (order % 2 === 0 ? 1 : -1) * besselY(-order, x);
  if (x === 0) return -Infinity;
  let [previous, current] = secondKind(x);
  if (order === 0) return previous;
  // The upward recurrence is stable for the second kind.
  for (let n = 1; n < order; n++) [previous, current] = [current, (2 * n * current) / x - previous];
  return current;
}

/** J_0 … J_orderMax (and beyond) by downward recurrence, normalised by J_0 + 2 J_2 + 2 J_4 + … = 1. */
function firstKind(x: number, orderMax: number): number[] {
  const reach = Math.max(orderMax, Math.ceil(x));
  const start = 2 * Math.ceil((reach + 20 + Math.sqrt(60 * (reach + 1))) / 2);
  const values: number[] = Array.from({ length: start + 2 }, () => 0);
  values[start] = 1e-300;
  let sum = 0;
  for (let n = start; n > 0; n--) {
    const value = ((2 * n) / x) * (values[n] ?? 0) - (values[n + 1] ?? 0);
    values[n - 1] = value;
    if (Math.abs(value) > 1e200) {
      for (let i = n - 1; i <= start; i++) values[i] = (values[i] ?? 0) * 1e-250;
      sum *= 1e-250;
    }
    if ((n - 1) % 2 === 0) sum += (n === 1 ? 1 : 2) * (values[n - 1] ?? 0);
  }
  return values.map((value) => value / sum);
}

/** Y_0 and Y_1 by Neumann's series over J. */
function secondKind(x: number): [number, number] {
  if (x > ASYMPTOTIC_FROM) return [hankel(0, x).y, hankel(1, x).y];
  const j = firstKind(x, 2);
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

function hankel(order: number, x: number): { j: number; y: number } {
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
  const angle = x - (order / 2 + 0.25) * Math.PI;
  const scale = Math.sqrt(2 / (Math.PI * x));
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  return { j: scale * (p * cos - q * sin), y: scale * (p * sin + q * cos) };
}
