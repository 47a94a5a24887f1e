// where: keeps the points for which an expression is true.
import type { LambdaSpec } from '../pipeline.ts';

export type WhereOptions = { readonly expression: LambdaSpec | undefined };
