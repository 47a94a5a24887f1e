// Prints floats as decimals like Go: the exact binary value, rounded half to even.

/** Digits after the point that an exact double can have; further ones are zeros. */
const DECIMALS_MAX = 1074;

/** `value`, which is finite, with this many digits after the point. */
export function fixedText(value: number, decimals: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const magnitude = Math.abs(value);
  const text = isRoundedAlike(magnitude, decimals)
    ? magnitude.toFixed(decimals)
    : exactText(magnitude, Math.min(decimals, DECIMALS_MAX));
  const point = text.indexOf('.');
  const missing = decimals - (point < 0 ? 0 : text.length - point - 1);
  return sign + (missing === 0 ? text : `${text}${point < 0 ? '.' : ''}${'0'.repeat(missing)}`);
}

/**
 * `value` with one digit before the point, this many after it, and an exponent of at least two
 * digits.
 */
export function exponentText(value: number, decimals: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const { digits, exponent } = significant(Math.abs(value), Math.min(decimals, DECIMALS_MAX) + 1);
  const fraction = digits.slice(1).padEnd(decimals, '0');
  const power = String(Math.abs(exponent)).padStart(2, '0');
  const mantissa = decimals === 0 ? digits : `${digits[0]}.${fraction}`;
  return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${power}`;
}

/** The first significant digits of a magnitude and the power of ten of the first one. */
export function significant(
  magnitude: number,
  count: number,
): { readonly digits: string; readonly exponent: number } {
  if (magnitude === 0) return { digits: '0'.repeat(count), exponent: 0 };
  let exponent = Math.floor(Math.log10(magnitude));
  for (;;) {
    const digits = String(scaled(magnitude, count - 1 - exponent));
    if (digits.length === count) return { digits, exponent };
    exponent += digits.length - count;
  }
}

/**
 * Whether `toFixed` rounds in the same way: it is exact, too, but rounds halves up, and gives up at
 * 1e21. A half needs a value that this many more binary places represent exactly.
 */
function isRoundedAlike(magnitude: number, decimals: number): boolean {
  if (magnitude >= 1e21 || decimals > 100) return false;
  return magnitude % 1 === 0 || (magnitude * 2 ** (decimals + 1)) % 1 !== 0;
}

function exactText(magnitude: number, decimals: number): string {
  const digits = String(scaled(magnitude, decimals)).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
}

const view = new DataView(new ArrayBuffer(8));
const MANTISSA_BITS = 52n;

/** The magnitude times a power of ten, rounded to an integer, halves to the even one. */
function scaled(magnitude: number, power: number): bigint {
  view.setFloat64(0, magnitude);
  const bits = view.getBigUint64(0);
  const biased = bits >> MANTISSA_BITS;
  const fraction = bits & ((1n << MANTISSA_BITS) - 1n);
  const mantissa = biased === 0n ? fraction : fraction | (1n << MANTISSA_BITS);
  const shift = (biased === 0n ? 1n : biased) - 1075n;
  const [up, down] = power >= 0 ? [10n ** BigInt(power), 1n] : [1n, 10n ** BigInt(-power)];
  const above = mantissa * up * (shift > 0n ? 1n << shift : 1n);
  const below = down * (shift < 0n ? 1n << -shift : 1n);
  const whole = above / below;
  const twice = 2n * (above % below);
  const isUp = twice > below || (twice === below && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}
