// Lambdas that a node requires. Templates may have a null lambda; a started task may not.
import type { LambdaSpec } from '@tidemark/pipeline';
import { StartError } from '../node.ts';

export function requiredLambda(spec: LambdaSpec | undefined): LambdaSpec {
  if (spec === undefined) throw new StartError('nil expression');
  return spec;
}
