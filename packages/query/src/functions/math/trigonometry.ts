// sin, cos, tan and their inverses with the digits that clients of InfluxDB expect. JavaScript
// leaves the last digits of these functions to the engine; here they are the same everywhere.
// Methods and coefficients are those of the Cephes library (S. L. Moshier): reduction to an octant
// with a three-part pi/4, then a polynomial or a quotient of two.

/** pi/4 in three parts; their products with a small factor are exact. */
const PI4_HIGH = 0.7853981256484985;
const PI4_MIDDLE = 3.774894707930798e-8;
const PI4_LOW = 2.6951514290790595e-15;

/**
 * Beyond this the reduction above loses digits; such angles carry no meaning and are left to the
 * engine.
 */
const MAX_REDUCED = 2 ** 29;

const SIN = [
  1.5896230157654656e-10, -2.5050747762857807e-8, 2.7557313621385722e-6, -0.0001984126982958954,
  0.008333333333322118, -0.1666666666666663,
];
const COS = [
  -1.1358536521387682e-11, 2.087570084197473e-9, -2.755731417929674e-7, 2.4801587288851704e-5,
  -0.0013888888888873056, 0.041666666666666595,
];
const TAN_ABOVE = [-13093.693918138373, 1153516.6483858742, -17956525.197648488];
const TAN_BELOW = [
  1, 13681.296347069296, -1320892.3444021097, 25008380.18233579, -53869575.592945464,
];
const ATAN_ABOVE = [
  -0.8750608600031904, -16.157537187333652, -75.00855792314705, -122.88666844901361,
  -64.85021904942025,
];
const ATAN_BELOW = [
  1, 24.858464901423062, 165.02700983169885, 432.88106049129027, 485.3903996359137,
  194.5506571482614,
];
const TAN_3_PI_8 = 2.414213562373095;
/** The difference between pi/2 and its float. */
const PI2_REST = 6.123233995736766e-17;

export function sin(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return Math.sin(x);
  const size = Math.abs(x);
  if (size >= MAX_REDUCED) return Math.sin(x);
  const { octant, rest } = reduced(size);
  const isNegative = x < 0 !== octant > 3;
  const within = octant & 3;
  const value = within === 1 || within === 2 ? cosOf(rest) : sinOf(rest);
  return isNegative ? -value : value;
}

export function cos(x: number): number {
  const size = Math.abs(x);
  if (!Number.isFinite(x) || size >= MAX_REDUCED) return Math.cos(x);
  const { octant, rest } = reduced(size);
  const within = octant & 3;
  const isNegative = octant > 3 !== within > 1;
  const value = within === 1 || within === 2 ? sinOf(rest) : cosOf(rest);
  return isNegative ? -value : value;
}

export function tan(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return Math.tan(x);
  const size = Math.abs(x);
  if (size >= MAX_REDUCED) return Math.tan(x);
  const { octant, rest } = reduced(size);
  const square = rest * rest;
  const quotient = (square * polynomial(TAN_ABOVE, square)) / polynomial(TAN_BELOW, square);
  let value = square > 1e-14 ? rest + rest * quotient : rest;
  if ((octant & 2) === 2) value = -1 / value;
  return x < 0 ? -value : value;
}

export function atan(x: number): number {
  if (x === 0) return x;
  return x > 0 ? positiveAtan(x) : -positiveAtan(-x);
}

export function asin(x: number): number {
  if (x === 0) return x;
  const size = Math.abs(x);
  if (!(size <= 1)) return NaN;
  const root = Math.sqrt(1 - size * size);
  const value = size > 0.7 ? Math.PI / 2 - positiveAtan(root / size) : positiveAtan(size / root);
  return x < 0 ? -value : value;
}

export function acos(x: number): number {
  return Math.PI / 2 - asin(x);
}

export function atan2(y: number, x: number): number {
  // Zeros, infinities and NaN have the same values in all engines.
  if (x === 0 || y === 0 || !Number.isFinite(x) || !Number.isFinite(y)) return Math.atan2(y, x);
  const quotient = y / x;
  // Too small for a float: only the signs of both determine the quadrant.
  if (quotient === 0) return Math.atan2(y, x);
  const angle = atan(quotient);
  if (x > 0) return angle;
  return angle <= 0 ? angle + Math.PI : angle - Math.PI;
}

/**
 * The octant of an angle, from 0 to 7 and rounded up to an even one, and the angle relative to it.
 */
function reduced(size: number): { readonly octant: number; readonly rest: number } {
  let count = Math.floor(size * (4 / Math.PI));
  if (count % 2 === 1) count++;
  const rest = size - count * PI4_HIGH - count * PI4_MIDDLE - count * PI4_LOW;
  return { octant: count % 8, rest };
}

function sinOf(rest: number): number {
  const square = rest * rest;
  return rest + rest * square * polynomial(SIN, square);
}

function cosOf(rest: number): number {
  const square = rest * rest;
  return 1 - 0.5 * square + square * square * polynomial(COS, square);
}

function positiveAtan(x: number): number {
  if (x <= 0.66) return smallAtan(x);
  if (x > TAN_3_PI_8) return Math.PI / 2 - smallAtan(1 / x) + PI2_REST;
  return Math.PI / 4 + smallAtan((x - 1) / (x + 1)) + 0.5 * PI2_REST;
}

function smallAtan(x: number): number {
  const square = x * x;
  const quotient = (square * polynomial(ATAN_ABOVE, square)) / polynomial(ATAN_BELOW, square);
  return x * quotient + x;
}

/** Coefficients from the highest power down. */
function polynomial(coefficients: readonly number[], x: number): number {
  let value = 0;
  for (const coefficient of coefficients) value = value * x + coefficient;
  return value;
}
