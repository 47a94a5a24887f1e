// exp, logarithms and powers with the digits that clients of InfluxDB expect; JavaScript leaves the
// last digits of these functions to the engine. Methods: N. Shibata (exp), FreeBSD's msun (log),
// repeated squaring (pow).

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
/** Coefficients of the series of log((1 + s) / (1 - s)). */
const L1 = 0.6666666666666735;
const L2 = 0.3999999999940942;
const L3 = 0.2857142874366239;
const L4 = 0.22222198432149784;
const L5 = 0.1818357216161805;
const L6 = 0.15313837699209373;
const L7 = 0.14798198605116586;

/** ln 2 in two parts; the product of the first with a small factor is exact. */
const EXP_LN2_HIGH = 0.693147180559663;
const EXP_LN2_LOW = 2.8235290563031577e-13;
/** 1/8!, 1/7! … 1/2!, 1. */
const EXP_SERIES = [
  2.48015873015873e-5, 0.0001984126984126984, 0.001388888888888889, 0.008333333333333333,
  0.041666666666666664, 0.16666666666666666, 0.5, 1,
];
/** 1 / ln 10, rounded once. */
const LOG10_OF_E = 0.4342944819032518;
const MAX_EXPONENT = 709.782712893384;
const MIN_EXPONENT = -745.1332191019412;

export function exp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > MAX_EXPONENT) return Infinity;
  if (x < MIN_EXPONENT) return 0;
  const power = roundHalfEven(x * Math.LOG2E);
  let rest = multiplyAdd(-power, EXP_LN2_HIGH, x);
  rest = multiplyAdd(-power, EXP_LN2_LOW, rest) * 0.0625;
  let sum = 0;
  for (const coefficient of EXP_SERIES) sum = multiplyAdd(sum, rest, coefficient);
  // e^r - 1 of a sixteenth of the rest; squared four times by (1 + y)^2 - 1 = y(y + 2), the last
  // time with the 1.
  let value = rest * sum;
  for (let i = 0; i < 3; i++) value *= value + 2;
  return scaled(multiplyAdd(value, value + 2, 1), power);
}

/** Natural logarithm. */
export function ln(x: number): number {
  if (!(x > 0) || x === Infinity) return Math.log(x);
  let { fraction, exponent } = split(x);
  if (fraction < Math.SQRT2 / 2) {
    fraction *= 2;
    exponent--;
  }
  const f = fraction - 1;
  const s = f / (2 + f);
  const s2 = s * s;
  const s4 = s2 * s2;
  const odd = s2 * (L1 + s4 * (L3 + s4 * (L5 + s4 * L7)));
  const even = s4 * (L2 + s4 * (L4 + s4 * L6));
  const half = 0.5 * f * f;
  return exponent * LN2_HIGH - (half - (s * (half + (odd + even)) + exponent * LN2_LOW) - f);
}

export function log2(x: number): number {
  if (!(x > 0) || x === Infinity) return Math.log2(x);
  const { fraction, exponent } = split(x);
  // Powers of two are exact.
  return fraction === 0.5 ? exponent - 1 : ln(fraction) * (1 / Math.LN2) + exponent;
}

export function log10(x: number): number {
  return ln(x) * LOG10_OF_E;
}

/** Logarithm to any base. */
export function log(x: number, base: number): number {
  return ln(x) / ln(base);
}

export function pow(base: number, exponent: number): number {
  // 1 to any power, and -1 to an infinite one, is 1; JavaScript says NaN.
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  if (base === 0 || exponent === 0 || exponent === 1) return base ** exponent;
  if (!Number.isFinite(base) || !Number.isFinite(exponent)) return base ** exponent;
  if (exponent === 0.5) return Math.sqrt(base);
  if (exponent === -0.5) return 1 / Math.sqrt(base);
  const size = Math.abs(exponent);
  let whole = Math.trunc(size);
  let part = size - whole;
  if (part !== 0 && base < 0) return NaN;
  if (whole >= 2 ** 63) return base ** exponent;
  let mantissa = 1;
  if (part !== 0) {
    if (part > 0.5) {
      part--;
      whole++;
    }
    mantissa = exp(part * ln(base));
  }
  return raised({ base, whole, mantissa, isInverse: exponent < 0 });
}

/**
 * mantissa · base^whole by repeated squaring of the fraction, exponents apart; the inverse of it
 * when asked.
 */
function raised(power: {
  readonly base: number;
  readonly whole: number;
  readonly mantissa: number;
  readonly isInverse: boolean;
}): number {
  let { mantissa } = power;
  let exponent = 0;
  let { fraction, exponent: step } = split(power.base);
  for (let rest = power.whole; rest !== 0; rest = Math.floor(rest / 2)) {
    if (step < -4096 || step > 4096) {
      // The result is beyond all floats whatever the other bits are.
      exponent += step;
      break;
    }
    if (rest % 2 === 1) {
      mantissa *= fraction;
      exponent += step;
    }
    fraction *= fraction;
    step *= 2;
    if (fraction < 0.5) {
      fraction += fraction;
      step--;
    }
  }
  return power.isInverse ? scaled(1 / mantissa, -exponent) : scaled(mantissa, exponent);
}

const view = new DataView(new ArrayBuffer(8));

/** x = fraction · 2^exponent with 0.5 ≤ |fraction| < 1. Not for 0, infinity and NaN. */
function split(x: number): { fraction: number; exponent: number } {
  let shift = 0;
  let value = x;
  if (Math.abs(value) < 2 ** -1022) {
    value *= 2 ** 52;
    shift = -52;
  }
  view.setFloat64(0, value);
  const high = view.getUint32(0);
  const exponent = ((high >>> 20) & 0x7ff) - 1022;
  view.setUint32(0, (high & 0x800fffff) | (1022 << 20));
  return { fraction: view.getFloat64(0), exponent: exponent + shift };
}

/** x · 2^exponent, rounded once. */
function scaled(x: number, exponent: number): number {
  if (exponent > 1023) return x * 2 ** 1023 * 2 ** (exponent - 1023);
  if (exponent >= -1021) return x * 2 ** exponent;
  return x * 2 ** Math.max(-1100, exponent + 1021) * 2 ** -1021;
}

function roundHalfEven(x: number): number {
  const rounded = Math.round(x);
  return Math.abs(x - Math.trunc(x)) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/**
 * a · b + c, rounded once but for the rarest cases: the product and the sum are formed with their
 * errors.
 */
function multiplyAdd(a: number, b: number, c: number): number {
  const product = a * b;
  const [aHigh, aLow] = halves(a);
  const [bHigh, bLow] = halves(b);
  const productError = aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow;
  const sum = product + c;
  const part = sum - product;
  const sumError = product - (sum - part) + (c - part);
  return sum + (sumError + productError);
}

/** A float as the exact sum of two with half as many digits. */
function halves(x: number): readonly [number, number] {
  const spread = x * 134217729;
  const high = spread - (spread - x);
  return [high, x - high];
}
