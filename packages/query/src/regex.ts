// Regular expressions of queries: RE2 rules in linear time, with short cuts for plain literals.
import { RE2JS } from 're2js';

/** Tests whether a text contains a match. */
export type TextMatcher = (text: string) => boolean;

const SPECIAL = /[\\^$.|?*+()[\]{}]/;
const CACHE_ENTRIES = 256;
const cache = new Map<string, TextMatcher>();

/** A matcher for a pattern that is known to compile. Patterns are cached: queries repeat themselves. */
export function textMatcher(pattern: string): TextMatcher {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const matcher = compileMatcher(pattern);
  if (cache.size >= CACHE_ENTRIES) cache.clear();
  cache.set(pattern, matcher);
  return matcher;
}

function compileMatcher(pattern: string): TextMatcher {
  const isStart = pattern.startsWith('^');
  const isEnd = pattern.endsWith('$') && !pattern.endsWith('\\$');
  const body = pattern.slice(isStart ? 1 : 0, isEnd ? -1 : undefined);
  if (body === '.*' || pattern === '') return () => true;
  const alternatives = plainAlternatives(body, isStart && isEnd);
  if (alternatives !== undefined) {
    const words = new Set(alternatives);
    return (text) => words.has(text);
  }
  if (!SPECIAL.test(body)) {
    if (isStart && isEnd) return (text) => text === body;
    if (isStart) return (text) => text.startsWith(body);
    if (isEnd) return (text) => text.endsWith(body);
    return (text) => text.includes(body);
  }
  const compiled = RE2JS.compile(pattern);
  return (text) => compiled.matcher(text).find();
}

/** `^(a|b|c)$` as a list of words. */
function plainAlternatives(body: string, isAnchored: boolean): readonly string[] | undefined {
  if (!isAnchored || !body.startsWith('(') || !body.endsWith(')')) return undefined;
  const inner = body.slice(body.startsWith('(?:') ? 3 : 1, -1);
  const words = inner.split('|');
  return words.every((word) => !SPECIAL.test(word)) ? words : undefined;
}
