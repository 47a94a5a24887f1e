// Regular expressions with RE2 rules and linear time. Literals and anchored literals skip the automaton.
import { InvalidRequest } from '@tidemark/core';
import { RE2JS } from 're2js';

/** A test for texts. Patterns are unanchored. Throws `InvalidRequest` for a pattern that is none. */
export function compilePattern(pattern: string): (text: string) => boolean {
  const literal = /^(\^?)([\w\s/:@#%&=<>,;"'!~-]*)(\$?)$/.exec(pattern);
  if (literal !== null) {
    const [, start, text = '', end] = literal;
    if (start === '^' && end === '$') return (value) => value === text;
    if (start === '^') return (value) => value.startsWith(text);
    if (end === '$') return (value) => value.endsWith(text);
    return (value) => value.includes(text);
  }
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (cause) {
    throw new InvalidRequest(`invalid regular expression: ${String(cause)}`, { cause });
  }
  return (value) => compiled.matcher(value).find();
}

const PATTERN_CACHE_ENTRIES = 256;
const patterns = new Map<string, (text: string) => boolean>();

/** As `compilePattern`, for patterns that are asked for again and again. */
export function cachedPattern(pattern: string): (text: string) => boolean {
  let test = patterns.get(pattern);
  if (test === undefined) {
    test = compilePattern(pattern);
    if (patterns.size >= PATTERN_CACHE_ENTRIES) patterns.clear();
    patterns.set(pattern, test);
  }
  return test;
}
