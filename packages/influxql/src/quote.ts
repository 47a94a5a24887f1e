// Names, strings and regular expressions as text.
import { isBareIdentifier } from './token.ts';

/** A name, in double quotes only if it needs them. */
export function formatIdentifier(name: string): string {
  return isBareIdentifier(name) ? name : quoteIdentifier(name);
}

/** A name in double quotes. */
export function quoteIdentifier(name: string): string {
  return `"${escapeQuoted(name, '"')}"`;
}

/** A string in single quotes. */
export function quoteString(value: string): string {
  return `'${escapeQuoted(value, "'")}'`;
}

/**
 * A regular expression between slashes. A backslash before the closing slash would escape it, so it
 * is written as a code.
 */
export function quoteRegex(pattern: string): string {
  const body = pattern.replaceAll('/', '\\/').replace(/\\\\$/, '\\x5c');
  return `/${body}/`;
}

/**
 * `db.rp.name`: segments joined by dots, leading empty ones left out, inner ones kept (`db..name`).
 */
export function formatPath(segments: readonly (string | undefined)[]): string {
  let path = '';
  for (const segment of segments) {
    if (path !== '') path += '.';
    if (segment !== undefined) path += formatIdentifier(segment);
  }
  return path;
}

function escapeQuoted(text: string, quote: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll(quote, `\\${quote}`);
}
