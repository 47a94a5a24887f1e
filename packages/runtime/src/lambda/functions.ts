// Registry of the built-in functions of lambdas.
import type { FunctionRow } from './function.ts';
import { MATH_FUNCTIONS } from './functions-math.ts';
import { MISCELLANEOUS_FUNCTIONS } from './functions-misc.ts';
import { STRING_FUNCTIONS } from './functions-string.ts';

export const FUNCTIONS: ReadonlyMap<string, FunctionRow> = new Map(
  [...MATH_FUNCTIONS, ...STRING_FUNCTIONS, ...MISCELLANEOUS_FUNCTIONS].map((row) => [
    row.name,
    row,
  ]),
);
