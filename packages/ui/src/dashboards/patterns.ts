// Regular expressions in dashboards, over names of series and values of variables. Dashboards come
// from strangers, so matching takes linear time (RE2).
import type { RE2JS } from 're2js';

import type { Options } from '../cells/option.ts';
import { OVERRIDES } from '../cells/options/overrides.ts';
import { TRANSFORMATIONS } from '../cells/options/transformations.ts';
import { MAPPINGS } from '../cells/options/values.ts';

let library: typeof RE2JS | undefined;

/** Loaded on first use. */
async function loaded(): Promise<typeof RE2JS> {
  library ??= (await import('re2js')).RE2JS;
  return library;
}

/** Resolves when `matches` and `replacedBy` work for the patterns in a cell's options. */
export async function loadPatterns(options: Options): Promise<void> {
  const overrides = OVERRIDES.read(options[OVERRIDES.name]);
  const isNeeded =
    overrides.some(
      ({ by, look }) => by === 'pattern' || look.mappings?.some(({ kind }) => kind === 'pattern'),
    ) ||
    TRANSFORMATIONS.read(options[TRANSFORMATIONS.name]).some((each) => 'pattern' in each) ||
    MAPPINGS.read(options[MAPPINGS.name]).some(({ kind }) => kind === 'pattern');
  if (isNeeded) await loaded();
}

const compiled = new Map<string, RE2JS | undefined>();
const COMPILED_MAX = 500;

/** Compiled once; `undefined` for an invalid pattern, or while the library is loading. */
function regexOf(written: string): RE2JS | undefined {
  if (library === undefined) return undefined;
  if (!compiled.has(written)) {
    if (compiled.size >= COMPILED_MAX) compiled.clear();
    compiled.set(written, attempted(library, written));
  }
  return compiled.get(written);
}

function attempted(library_: typeof RE2JS, written: string): RE2JS | undefined {
  try {
    return compile(library_, written);
  } catch {
    // A foreign pattern that RE2 does not support matches nothing; the import reports it.
    return undefined;
  }
}

function compile(library_: typeof RE2JS, written: string): RE2JS {
  const [, pattern = written, flags = ''] = /^\/(.*)\/(\w*)$/s.exec(written) ?? [];
  return library_.compile(pattern, flags.includes('i') ? library_.CASE_INSENSITIVE : 0);
}

/** Whether `/pattern/flags`, or a pattern without slashes, is found in a text. */
export function matches(written: string, text: string): boolean {
  return regexOf(written)?.matcher(text).find() === true;
}

/** The text with matches replaced; `$1` is the first group. */
export function replacedBy(written: string, text: string, to: string): string {
  const regex = regexOf(written);
  return regex === undefined ? text : regex.matcher(text).replaceAll(to);
}

/**
 * Values that match `/pattern/flags`, reduced to its group `value`, else its first group. Rejects
 * with the error of an invalid pattern.
 */
export async function matching(
  values: readonly string[],
  written: string,
): Promise<readonly string[]> {
  const regex = compile(await loaded(), written);
  const group = regex.namedGroups()['value'] ?? Math.min(1, regex.groupCount());
  return values.flatMap((value) => {
    const matcher = regex.matcher(value);
    return matcher.find() ? [matcher.group(group) ?? ''] : [];
  });
}
