// Links of series and of values: addresses with parts of what they belong to.
import { BASE_PATH } from '../api/paths.ts';
import type { CellView } from './kind.ts';

/** What `$name` stands for; `undefined` for unknown names. */
type Named = (name: string) => string | undefined;

const NAME = /\$\{(\w+)\}|\$(\w+)/g;

/**
 * The address of a link: `https://…`, or a page such as `explore?db=$db`. Names stand for encoded
 * values; unknown ones stay. `undefined` for anything else, such as a script.
 */
export function linkOf(template: string, named: Named): string | undefined {
  const filled = template.trim().replaceAll(NAME, (all, braced?: string, bare?: string) => {
    const value = named(braced ?? bare ?? '');
    return value === undefined ? all : encodeURIComponent(value);
  });
  if (/^https?:\/\//i.test(filled)) return filled;
  return /^[a-z]+(?:\?|$)/.test(filled) ? BASE_PATH + filled : undefined;
}

/** Values of the dashboard: database, time range, the first selected value of each variable. */
export function namedByView({ context: { database, from, to, chosen } }: CellView): Named {
  const own: Readonly<Record<string, string>> = { db: database, from, to };
  return (name) => chosen.get(name)?.[0] ?? own[name];
}
