// The text that a regular expression cannot match without, so that texts without it need not be
// tried. Knows sequences of characters, classes and groups; of anything else it says that it knows
// no such text, which is always right.
import { isExactInUtf8 } from '@tidemark/core';

/** What stands for itself behind a backslash. */
const PUNCTUATION = /[!-/:-@[-`{-~]/;
/** What does not stand for itself. */
const SPECIAL = '\\^$.|?*+()[]{}';
/** A count of repetitions; other braces stand for themselves. */
const COUNT = /^\{\d+(?:,\d*)?\}/;

/**
 * The longest text of which it is known that every match of a pattern (RE2's syntax) contains it;
 * empty if there is none. No text but it has the same bytes in UTF-8.
 */
export function requiredText(pattern: string): string {
  // Choices, flags (`(?i)` makes letters match others) and names of groups; literal text.
  if (pattern.includes('(?') || pattern.includes('\\Q')) return '';
  let longest = '';
  let run = '';
  const end = (): void => {
    if (run.length > longest.length) longest = run;
    run = '';
  };
  for (let at = 0; at < pattern.length;) {
    const item = itemAt(pattern, at);
    if (item === undefined) return '';
    at = item.end;
    const repetition = repetitionAt(pattern, at);
    at = repetition.end;
    if (item.text === undefined) {
      end();
    } else if (repetition.kind === 'once') {
      run += item.text;
    } else {
      if (repetition.kind === 'some') run += item.text;
      end();
    }
  }
  end();
  return isExactInUtf8(longest) ? longest : '';
}

type Item = {
  readonly end: number;
  /** The character that it stands for; `undefined` where it may be another one, or none. */
  readonly text: string | undefined;
};

/** The item at a place; `undefined` for a choice and for what is not known. */
function itemAt(pattern: string, at: number): Item | undefined {
  const first = String.fromCodePoint(pattern.codePointAt(at)!);
  switch (first) {
    case '\\': {
      const escaped = pattern[at + 1] ?? '';
      if (PUNCTUATION.test(escaped)) return { end: at + 2, text: escaped };
      // `\x41`, `\pL` and `\123` are longer.
      return /[dDsSwWbBAz]/.test(escaped) ? { end: at + 2, text: undefined } : undefined;
    }
    case '[':
      return ended(classEnd(pattern, at));
    case '(':
      return ended(groupEnd(pattern, at));
    case '.':
    case '^':
    case '$':
      return { end: at + 1, text: undefined };
    case '{':
      return COUNT.test(pattern.slice(at)) ? undefined : { end: at + 1, text: first };
    default:
      if (SPECIAL.includes(first) && first !== ']' && first !== '}') return undefined;
      return { end: at + first.length, text: first };
  }
}

function ended(end: number | undefined): Item | undefined {
  return end === undefined ? undefined : { end, text: undefined };
}

/** Behind a class of characters, which may begin with a bracket that does not end it. */
function classEnd(pattern: string, start: number): number | undefined {
  let at = start + 1;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  for (; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern.startsWith('[:', at)) {
      const end = pattern.indexOf(':]', at + 2);
      if (end >= 0) at = end + 1;
    } else if (pattern[at] === ']') return at + 1;
  }
  return undefined;
}

/** Behind a group, whatever is in it. */
function groupEnd(pattern: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '\\') at++;
    else if (char === '[') {
      const end = classEnd(pattern, at);
      if (end === undefined) return undefined;
      at = end - 1;
    } else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return at + 1;
  }
  return undefined;
}

type Repetition = { readonly end: number; readonly kind: 'once' | 'some' | 'any' };

/** How often the item before a place must occur: once, once or more, or perhaps not at all. */
function repetitionAt(pattern: string, at: number): Repetition {
  const count = COUNT.exec(pattern.slice(at))?.[0];
  const sign = count ?? pattern[at] ?? '';
  if (count === undefined && !'*+?'.includes(sign || ' ')) return { end: at, kind: 'once' };
  const isSome = sign === '+' || (count !== undefined && !/^\{0+[,}]/.test(count));
  let end = at + sign.length;
  // Lazy; and what is repeated again, as `a+*`, may be absent.
  if (pattern[end] === '?') end++;
  const isAgain = '*+?{'.includes(pattern[end] || ' ');
  return { end, kind: isSome && !isAgain ? 'some' : 'any' };
}
