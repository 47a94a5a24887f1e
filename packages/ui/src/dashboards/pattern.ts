// Patterns of topics, as the task engine has them.
import { compileGlob } from '@tidemark/settings';

/** Whether a topic matches; a pattern that the engine refuses matches none. */
export function matchesPattern(topic: string, pattern: string): boolean {
  return pattern === '' || compileGlob(pattern)?.(topic) === true;
}
