// Mathematical functions of lambdas. All take floats; integers are converted with float() by the
// script.
import type { FunctionRow } from './function.ts';
import { floatFunction, single } from './function.ts';
import { besselJ, besselY, erf, erfc, gamma } from './special-functions.ts';

/** Maximum with NaN winning and +0 above -0, which is what Math.max does. */
const max = (a: number, b: number): number => Math.max(a, b);
const min = (a: number, b: number): number => Math.min(a, b);

/** Binary exponent of x. */
function logb(x: number): number {
  if (x === 0) return -Infinity;
  if (!Number.isFinite(x)) return Number.isNaN(x) ? NaN : Infinity;
  const magnitude = Math.abs(x);
  let exponent = Math.floor(Math.log2(magnitude));
  // log2 rounds near powers of two.
  if (2 ** exponent > magnitude) exponent--;
  else if (2 ** (exponent + 1) <= magnitude) exponent++;
  return exponent;
}

export const MATH_FUNCTIONS: readonly FunctionRow[] = [
  floatFunction('abs', (x) => Math.abs(x)),
  floatFunction('acos', (x) => Math.acos(x)),
  floatFunction('acosh', (x) => Math.acosh(x)),
  floatFunction('asin', (x) => Math.asin(x)),
  floatFunction('asinh', (x) => Math.asinh(x)),
  floatFunction('atan', (x) => Math.atan(x)),
  floatFunction('atanh', (x) => Math.atanh(x)),
  floatFunction('cbrt', (x) => Math.cbrt(x)),
  floatFunction('ceil', (x) => Math.ceil(x)),
  floatFunction('cos', (x) => Math.cos(x)),
  floatFunction('cosh', (x) => Math.cosh(x)),
  floatFunction('erf', (x) => erf(x)),
  floatFunction('erfc', (x) => erfc(x)),
  floatFunction('exp', (x) => Math.exp(x)),
  floatFunction('exp2', (x) => 2 ** x),
  floatFunction('expm1', (x) => Math.expm1(x)),
  floatFunction('floor', (x) => Math.floor(x)),
  floatFunction('gamma', (x) => gamma(x)),
  floatFunction('j0', (x) => besselJ(0, x)),
  floatFunction('j1', (x) => besselJ(1, x)),
  floatFunction('log', (x) => Math.log(x)),
  floatFunction('log10', (x) => Math.log10(x)),
  floatFunction('log1p', (x) => Math.log1p(x)),
  floatFunction('log2', (x) => Math.log2(x)),
  floatFunction('logb', logb),
  floatFunction('sin', (x) => Math.sin(x)),
  floatFunction('sinh', (x) => Math.sinh(x)),
  floatFunction('sqrt', (x) => Math.sqrt(x)),
  floatFunction('tan', (x) => Math.tan(x)),
  floatFunction('tanh', (x) => Math.tanh(x)),
  floatFunction('trunc', (x) => Math.trunc(x)),
  floatFunction('y0', (x) => besselY(0, x)),
  floatFunction('y1', (x) => besselY(1, x)),
  floatFunction('atan2', (y, x) => Math.atan2(y, x)),
  floatFunction('hypot', (x, y) => Math.hypot(x, y)),
  floatFunction('max', max),
  floatFunction('min', min),
  floatFunction('mod', (x, y) => x % y),
  floatFunction('pow', (x, y) => pow(x, y)),
  single('pow10', ['int'], 'float', (n: bigint) => 10 ** Number(n)),
  single('jn', ['int', 'float'], 'float', (n: bigint, x: number) => besselJ(Number(n), x)),
  single('yn', ['int', 'float'], 'float', (n: bigint, x: number) => besselY(Number(n), x)),
];

/** As C's pow: 1 to any power, and -1 to an infinite one, are 1. */
function pow(x: number, y: number): number {
  if (x === 1) return 1;
  if (x === -1 && (y === Infinity || y === -Infinity)) return 1;
  return x ** y;
}
