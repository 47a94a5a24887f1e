// Math functions of one and two numbers.

export type UnaryFunction = {
  readonly apply: (value: number) => number;
  /** Integers stay integers: rounding does nothing to them, `abs` drops their sign. */
  readonly keepsType: boolean;
};

const keeping = (apply: (value: number) => number): UnaryFunction => ({ apply, keepsType: true });
const giving = (apply: (value: number) => number): UnaryFunction => ({ apply, keepsType: false });

export const UNARY_FUNCTIONS: ReadonlyMap<string, UnaryFunction> = new Map([
  ['abs', keeping(Math.abs)],
  ['ceil', keeping(Math.ceil)],
  ['floor', keeping(Math.floor)],
  ['round', keeping(roundHalfAway)],
  ['sin', giving(Math.sin)],
  ['cos', giving(Math.cos)],
  ['tan', giving(Math.tan)],
  ['asin', giving(Math.asin)],
  ['acos', giving(Math.acos)],
  ['atan', giving(Math.atan)],
  ['exp', giving(Math.exp)],
  ['ln', giving(Math.log)],
  ['log2', giving(Math.log2)],
  ['log10', giving(Math.log10)],
  ['sqrt', giving(Math.sqrt)],
]);

export const BINARY_FUNCTIONS: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ['atan2', Math.atan2],
  ['pow', power],
  ['log', (value: number, base: number) => Math.log(value) / Math.log(base)],
]);

/** `Math.round` rounds -1.5 up to -1; here halves go away from zero. */
function roundHalfAway(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

/** 1 to any power, and -1 to an infinite one, is 1; JavaScript says NaN. */
function power(base: number, exponent: number): number {
  if (base === 1) return 1;
  if (base === -1 && Math.abs(exponent) === Infinity) return 1;
  return base ** exponent;
}
