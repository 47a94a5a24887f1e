// The lists that the model predicts: pattern, page and fields.
import { FAILURE } from './call.ts';
import type { Call, Expected } from './call.ts';
import type { Step } from './steps.ts';

type ListStep = Extract<Step, { kind: 'list' }>;

const FIELDS: Readonly<Record<ListStep['what'], readonly string[]>> = {
  tasks: ['template-id', 'type', 'status', 'script', 'error', 'created'],
  templates: ['type', 'script', 'error', 'created'],
  recordings: ['type', 'status', 'error', 'progress'],
  replays: ['status', 'error', 'progress', 'task'],
};

/** The patterns that steps use, as predicates; `[` is none and refused. */
const PATTERNS: Readonly<Record<string, (id: string) => boolean>> = {
  '': () => true,
  '*': () => true,
  a: (id) => id === 'a',
  '[a-c]*': (id) => /^[a-c]/.test(id),
  '?0': (id) => /^.0$/u.test(id),
  '*1': (id) => id.endsWith('1'),
  'none*': () => false,
};

/** `ids` are all there are, in the order of the list where it is known. */
export function listCall(step: ListStep, ids: readonly string[]): Call {
  const { what, pattern, offset, limit, fields } = step;
  const found = ids.filter((id) => PATTERNS[pattern]?.(id) === true);
  const page = found.slice(offset, limit === undefined ? undefined : offset + limit);
  const search = new URLSearchParams({ pattern, offset: String(offset) });
  if (limit !== undefined) search.set('limit', String(limit));
  for (const field of fields) search.append('fields', field);
  const call = { method: 'GET', path: `${what}?${search}`, isSettling: true } as const;
  if (PATTERNS[pattern] === undefined) return { ...call, status: 400, json: FAILURE };
  const isUnknown = fields.some((field) => !FIELDS[what].includes(field));
  // For recordings and replays, fields only matter if there is something to show.
  const isLookedAt = what === 'tasks' || what === 'templates' || page.length > 0;
  if (isUnknown && isLookedAt) return { ...call, status: 400, json: FAILURE };
  return { ...call, status: 200, json: { [what]: pageOf(step, { page, found }) } };
}

function pageOf(
  { what, fields }: ListStep,
  { page, found }: { readonly page: readonly string[]; readonly found: readonly string[] },
): Expected {
  const isOrdered = what === 'tasks' || what === 'templates';
  const names = ['id', 'link', ...fields].filter((name, i, all) => all.indexOf(name) === i).sort();
  return (actual) => {
    if (!Array.isArray(actual) || actual.length !== page.length) return false;
    const items = actual as readonly Readonly<Record<string, unknown>>[];
    const ids = items.map(({ id }) => String(id));
    const isPage = isOrdered
      ? ids.join() === page.join()
      : ids.every((id) => found.includes(id)) && new Set(ids).size === ids.length;
    // Without a choice all fields are shown.
    const hasFields = items.every((item) => {
      const shown = Object.keys(item).sort();
      return fields.length === 0 ? shown.length > 5 : shown.join() === names.join();
    });
    return isPage && hasFields && (isOrdered || isNewestFirst(items));
  };
}

/**
 * Whether dates fall, as far as they are shown. All have the same form, with or without a fraction
 * of a second.
 */
function isNewestFirst(items: readonly Readonly<Record<string, unknown>>[]): boolean {
  const dates = items.flatMap(({ date }) => (date === undefined ? [] : [nanosOf(String(date))]));
  return dates.every((date, i) => i === 0 || (dates[i - 1] ?? 0n) >= date);
}

function nanosOf(date: string): bigint {
  const [seconds = '', fraction = ''] = date.replace('Z', '').split('.');
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}
