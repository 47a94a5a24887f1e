// Regular expressions of queries: RE2 rules in linear time, with short cuts for plain literals.
// Storage and query threads share this file (`@tidemark/query/regex`), so that both agree on what a
// pattern matches.
import { ByteLru, InvalidRequest, messageOf } from '@tidemark/core';
import { RE2JS } from 're2js';

import { requiredText } from './required-text.ts';
import type { TagKeyMatch } from './series-source.ts';

/** Tests whether a text contains a match. */
export type TextMatcher = (text: string) => boolean;

/**
 * The size of a compiled pattern is mostly the states of its automaton, at most 8 MiB, which limits
 * the number of cached ones.
 */
const CACHE_ENTRIES = 16;
const cache = new ByteLru<string, CompiledPattern>(CACHE_ENTRIES);

export type CompiledPattern = {
  readonly matches: TextMatcher;
  /** A text that every match contains; empty if none is known. */
  readonly required: string;
};

/**
 * A pattern, unanchored. Patterns are cached, because queries repeat them. Throws `InvalidRequest`
 * for an invalid one.
 */
export function compilePattern(pattern: string): CompiledPattern {
  const cached = cache.get(pattern);
  if (cached !== undefined) return cached;
  const compiled = { matches: compileMatcher(pattern), required: requiredText(pattern) };
  cache.set(pattern, compiled, 1);
  return compiled;
}

/** As `compilePattern`, for callers that only test texts. */
export function textMatcher(pattern: string): TextMatcher {
  return compilePattern(pattern).matches;
}

/**
 * The error of a pattern, in the words of RE2 (`error parsing regexp: …`); `undefined` if there is
 * none.
 */
export function checkRegex(pattern: string): string | undefined {
  try {
    textMatcher(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidRequest) return error.message;
    throw error;
  }
}

function compileMatcher(pattern: string): TextMatcher {
  return everything(pattern) ?? literal(pattern) ?? words(pattern) ?? automaton(pattern);
}

/** `.*` at one end matches the empty text, unless both ends are anchored: it stops at line ends. */
function everything(pattern: string): TextMatcher | undefined {
  return ['', '.*', '^.*', '.*$', '^', '$'].includes(pattern) ? () => true : undefined;
}

// Literal characters, and escaped ones.
const LITERAL = /^(\^?)((?:[\w\- :,/@%&=~;<>"'!#]|\\[-.+*?|()[\]{}^$\\/])*)(\$?)$/;

/** Patterns without operators. */
function literal(pattern: string): TextMatcher | undefined {
  const parts = LITERAL.exec(pattern);
  if (parts === null) return undefined;
  const [, start, body = '', end] = parts;
  const text = unescaped(body);
  if (start !== '' && end !== '') return (value) => value === text;
  if (start !== '') return (value) => value.startsWith(text);
  if (end !== '') return (value) => value.endsWith(text);
  return (value) => value.includes(text);
}

/** `^(a|b|c)$`, which dashboards generate for a selection of values. */
function words(pattern: string): TextMatcher | undefined {
  const list = /^\^\((?:\?:)?(.*)\)\$$/s.exec(pattern)?.[1]?.split('|');
  // A bar in an escape splits it in two, so the parts are no literals.
  if (list === undefined || !list.every((word) => isPlain(word))) return undefined;
  const set = new Set(list.map(unescaped));
  return (text) => set.has(text);
}

function isPlain(word: string): boolean {
  const parts = LITERAL.exec(word);
  return parts !== null && parts[1] === '' && parts[3] === '';
}

function unescaped(body: string): string {
  return body.replace(/\\(.)/g, '$1');
}

function automaton(pattern: string): TextMatcher {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (cause) {
    throw new InvalidRequest(messageOf(cause), { cause });
  }
  // A deterministic automaton tells whether there is a match; finding where takes three to eight
  // times as long.
  return (text) => compiled.test(text);
}

/** Whether a tag key is selected by a look-up. */
export function tagKeyTest(match: TagKeyMatch): (key: string) => boolean {
  switch (match.kind) {
    case 'in': {
      const keys = new Set(match.keys);
      return (key) => keys.has(key);
    }
    case 'not':
      return (key) => key !== match.key;
    case 'regex': {
      const test = textMatcher(match.pattern);
      return (key) => test(key) === (match.operator === '=~');
    }
  }
}
