// Shell globs on ids: `*`, `?`, `[a-z]`, `[^x]`, `\x`; `*` and `?` do not match `/`.

/**
 * A compiled glob, or `undefined` when the pattern is malformed (an unclosed class, a trailing
 * backslash).
 */
export type Glob = (text: string) => boolean;

/**
 * Compiles a glob. The result runs in time proportional to pattern × text, whatever the pattern is.
 */
export function compileGlob(pattern: string): Glob | undefined {
  const parts = parseGlob(pattern);
  if (parts === undefined) return undefined;
  if (parts.length === 1 && parts[0] === 'star') return (text) => !text.includes('/');
  return (text) => matches(parts, [...text]);
}

type GlobClass = {
  readonly isNegated: boolean;
  readonly ranges: readonly (readonly [string, string])[];
};
type GlobPart = 'star' | 'any' | { readonly literal: string } | GlobClass;

function parseGlob(pattern: string): readonly GlobPart[] | undefined {
  const chars = [...pattern];
  const parts: GlobPart[] = [];
  let i = 0;
  while (i < chars.length) {
    const char = chars[i] ?? '';
    i++;
    if (char === '*') {
      if (parts.at(-1) !== 'star') parts.push('star');
    } else if (char === '?') {
      parts.push('any');
    } else if (char === '[') {
      const parsed = parseClass(chars, i);
      if (parsed === undefined) return undefined;
      parts.push(parsed.part);
      i = parsed.next;
    } else if (char === '\\') {
      const escaped = chars[i];
      if (escaped === undefined) return undefined;
      parts.push({ literal: escaped });
      i++;
    } else {
      parts.push({ literal: char });
    }
  }
  return parts;
}

function parseClass(
  chars: readonly string[],
  start: number,
): { readonly part: GlobClass; readonly next: number } | undefined {
  let i = start;
  const isNegated = chars[i] === '^' || chars[i] === '!';
  if (isNegated) i++;
  const ranges: [string, string][] = [];
  for (;;) {
    if (chars[i] === ']' && ranges.length > 0) return { part: { isNegated, ranges }, next: i + 1 };
    const low = readClassChar(chars, i);
    if (low === undefined) return undefined;
    i = low.next;
    if (chars[i] !== '-' || chars[i + 1] === ']') {
      ranges.push([low.char, low.char]);
      continue;
    }
    const high = readClassChar(chars, i + 1);
    if (high === undefined) return undefined;
    ranges.push([low.char, high.char]);
    i = high.next;
  }
}

function readClassChar(
  chars: readonly string[],
  at: number,
): { readonly char: string; readonly next: number } | undefined {
  const isEscaped = chars[at] === '\\';
  const char = chars[isEscaped ? at + 1 : at];
  if (char === undefined || (!isEscaped && char === '-')) return undefined;
  return { char, next: at + (isEscaped ? 2 : 1) };
}

// Backtracks to the last star only, which suffices for globs: an earlier star never has to give
// characters back.
function matches(parts: readonly GlobPart[], text: readonly string[]): boolean {
  let p = 0;
  let t = 0;
  let starPart = -1;
  let starText = 0;
  while (t < text.length) {
    const part = parts[p];
    if (part === 'star') {
      starPart = p++;
      starText = t;
    } else if (part !== undefined && matchesOne(part, text[t] ?? '')) {
      p++;
      t++;
    } else if (starPart >= 0 && text[starText] !== '/') {
      p = starPart + 1;
      t = ++starText;
    } else {
      return false;
    }
  }
  while (parts[p] === 'star') p++;
  return p === parts.length;
}

function matchesOne(part: GlobPart, char: string): boolean {
  if (part === 'star') return false;
  if (part === 'any') return char !== '/';
  if ('literal' in part) return part.literal === char;
  const isIn = part.ranges.some(([low, high]) => low <= char && char <= high);
  return char !== '/' && isIn !== part.isNegated;
}
