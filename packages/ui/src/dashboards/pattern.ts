// Topic patterns, as in the task engine.
import { compileGlob } from '@tidemark/settings';

/** Whether a topic matches; patterns that the engine refuses match none. */
export function matchesPattern(topic: string, pattern: string): boolean {
  return pattern === '' || compileGlob(pattern)?.(topic) === true;
}
