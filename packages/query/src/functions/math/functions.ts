// Math functions of one and two numbers.
import { exp, ln, log, log10, log2, pow } from './exponential.ts';
import { acos, asin, atan, atan2, cos, sin, tan } from './trigonometry.ts';

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
  ['sin', giving(sin)],
  ['cos', giving(cos)],
  ['tan', giving(tan)],
  ['asin', giving(asin)],
  ['acos', giving(acos)],
  ['atan', giving(atan)],
  ['exp', giving(exp)],
  ['ln', giving(ln)],
  ['log2', giving(log2)],
  ['log10', giving(log10)],
  ['sqrt', giving(Math.sqrt)],
]);

export const BINARY_FUNCTIONS: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ['atan2', atan2],
  ['pow', pow],
  ['log', log],
]);

/** `Math.round` rounds -1.5 up to -1; here halves go away from zero. */
function roundHalfAway(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}
