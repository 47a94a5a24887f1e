// Regular expressions of dashboards, over names of series and values of variables. Dashboards come
// from strangers, so matching takes linear time (RE2).
import type { RE2JS } from 're2js';

import type { Options } from '../cells/option.ts';
import { OVERRIDES } from '../cells/options/overrides.ts';
import { TRANSFORMATIONS } from '../cells/options/transformations.ts';
import { MAPPINGS } from '../cells/options/values.ts';

let library: typeof RE2JS | undefined;

/** Loaded when something needs it. */
async function loaded(): Promise<typeof RE2JS> {
  library ??= (await import('re2js')).RE2JS;
  return library;
}

/** Resolves when `matches` and `replacedBy` work for what options of a cell hold. */
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

/** Compiled once; `undefined` for one that is wrong, or while the library is on its way. */
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
    // A pattern of another system that RE2 does not know matches nothing; the import says so.
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

/** The text with what matches replaced; `$1` is the first group. */
export function replacedBy(written: string, text: string, to: string): string {
  const regex = regexOf(written);
  return regex === undefined ? text : regex.matcher(text).replaceAll(to);
}

/**
 * Values that match `/pattern/flags`, or what its group `value`, else its first group, matches of
 * them. Rejects with what is wrong with the pattern.
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
