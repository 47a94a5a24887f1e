// Patterns of topics, as in the task engine.
import { compileGlob } from '@tidemark/settings';

/** Whether a topic matches; a pattern that the engine refuses matches none. */
export function matchesPattern(topic: string, pattern: string): boolean {
  return pattern === '' || compileGlob(pattern)?.(topic) === true;
}
