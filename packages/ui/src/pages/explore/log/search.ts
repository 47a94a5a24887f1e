// What is typed into the search of a log: words that the text has to contain, `"phrases"` exactly
// as written, `/patterns/`, and a `-` before what it must not contain.
import { RE2JS } from 're2js';

export type SearchTerm = {
  /** A regular expression of the database (RE2). */
  readonly pattern: string;
  /** The text must not contain it. */
  readonly isNot: boolean;
};

/** The terms of a search, or why one of them is no pattern. */
export type Search =
  | { readonly terms: readonly SearchTerm[]; readonly problem?: undefined }
  | { readonly terms?: undefined; readonly problem: string };

/** `-` and a phrase, a pattern or a word. An open quote goes on to the end. */
const TERM = /(-?)(?:"((?:[^"\\]|\\.)*)"?|\/((?:[^/\\]|\\.)+)\/(?=\s|$)|(\S+))/gsu;

/** Reads a search. A word without capitals is found in any case of letters. */
export function parseSearch(typed: string): Search {
  const terms: SearchTerm[] = [];
  for (const [, minus = '', phrase, pattern, word] of typed.matchAll(TERM)) {
    const source =
      pattern?.replaceAll('\\/', '/') ??
      (phrase === undefined
        ? wordPattern(word ?? '')
        : escaped(phrase.replaceAll(/\\(.)/gsu, '$1')));
    if (source === '') continue;
    try {
      RE2JS.compile(source);
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
    terms.push({ pattern: source, isNot: minus !== '' });
  }
  return { terms };
}

const wordPattern = (word: string): string =>
  /\p{Lu}/u.test(word) || !/\p{L}/u.test(word) ? escaped(word) : `(?i)${escaped(word)}`;

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** Part of a text: `[start, end)` in UTF-16 units. */
export type TextRange = readonly [start: number, end: number];

/** Nobody sees more of them in one text. */
const RANGES_MAX = 500;

/** Finds what a search found: ascending, disjoint parts of a text. */
export class Finder {
  readonly #patterns: readonly RE2JS[];

  constructor(terms: readonly SearchTerm[]) {
    this.#patterns = terms
      .filter(({ isNot }) => !isNot)
      .map(({ pattern }) => RE2JS.compile(pattern));
  }

  find(text: string): readonly TextRange[] {
    const found: [number, number][] = [];
    for (const pattern of this.#patterns) {
      const matcher = pattern.matcher(text);
      while (found.length < RANGES_MAX && matcher.find()) {
        if (matcher.end() > matcher.start()) found.push([matcher.start(), matcher.end()]);
      }
    }
    const merged: [number, number][] = [];
    for (const [start, end] of found.toSorted((a, b) => a[0] - b[0])) {
      const last = merged.at(-1);
      if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
      else merged.push([start, end]);
    }
    return merged;
  }
}
