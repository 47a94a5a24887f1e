// When V8 optimises a function: behind so much bytecode that it has run, three times and more often
// for long functions. What runs once per request gets there after hundreds to thousands of requests,
// and as slowly again after each optimised function that V8 has to throw away.
import { setFlagsFromString } from 'node:v8';

/** The versions of V8 that this was measured with. Of others nothing is changed. */
const KNOWN_VERSIONS = ['11.3'];

/**
 * A seventh of what V8 sets by itself. Less makes it optimise before it has seen enough, so that it
 * throws more away; docs/benchmarks/2026-11-23-first-requests.md has the figures. In a process that
 * does not rehearse it would be a loss: the first requests would wait for the compiler.
 */
const BUDGET_BYTES = 10_000;

/** For all threads of the process from now on. Does not touch kept code: all of it is loaded. */
export function optimiseEarly(v8Version = process.versions.v8): boolean {
  const isKnown = KNOWN_VERSIONS.includes(v8Version.split('.', 2).join('.'));
  if (isKnown) setFlagsFromString(`--interrupt-budget=${BUDGET_BYTES}`);
  return isKnown;
}
