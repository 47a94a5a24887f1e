// Compiles a node's lambdas when the task starts.
import type { LambdaSpec } from '@tidemark/pipeline';
import { CompileError } from '../lambda/errors.ts';
import { Lambda } from '../lambda/lambda.ts';
import { StartError } from '../node.ts';

/** Compiles; a mistake becomes the recorded start error `<prefix>: <reason>`. */
export function compileFor(spec: LambdaSpec, prefix: string): Lambda {
  try {
    return new Lambda(spec);
  } catch (cause) {
    if (cause instanceof CompileError)
      throw new StartError(`${prefix}: ${cause.message}`, { cause });
    throw cause;
  }
}
