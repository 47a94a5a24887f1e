// The view of a log, stored in the address of the page, so that a link restores it.
import { computed } from '@preact/signals';

import { route, setParams } from '../../../app/router.ts';
import type { BuiltQuery } from '../../../query/builder.ts';
import type { LogFilter } from './statements.ts';

export type LogView = {
  /** Empty for the default one. */
  readonly policy: string;
  readonly measurement: string;
  /** Columns of the text and of the level, where they were chosen. */
  readonly text: string | undefined;
  readonly level: string | undefined;
  /** Other columns, where they were chosen. */
  readonly columns: readonly string[] | undefined;
  readonly filters: readonly LogFilter[];
  readonly search: string;
  readonly isWrapped: boolean;
  readonly isFollowing: boolean;
};

/** More make no address. */
const FILTERS_MAX = 50;

/** Reads the parameters of an address. Parts that are damaged count as missing. */
export function viewOf(params: URLSearchParams): LogView {
  const get = (name: string): string | undefined => params.get(name) ?? undefined;
  const columns = listOf(get('columns'));
  return {
    policy: get('rp') ?? '',
    measurement: get('m') ?? '',
    text: get('text'),
    level: get('level'),
    columns: columns?.filter((name) => typeof name === 'string'),
    filters: (listOf(get('filter')) ?? []).flatMap(filterOf).slice(0, FILTERS_MAX),
    search: get('search') ?? '',
    isWrapped: get('wrap') === '1',
    isFollowing: get('follow') === '1',
  };
}

function listOf(text: string | undefined): readonly unknown[] | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    // A damaged link.
    return undefined;
  }
}

function filterOf(value: unknown): readonly LogFilter[] {
  if (!Array.isArray(value)) return [];
  const [name, operator, wanted]: readonly unknown[] = value;
  if (typeof name !== 'string' || typeof wanted !== 'string' || name === '') return [];
  if (operator !== '=' && operator !== '!=') return [];
  return [{ name, isNot: operator === '!=', value: wanted }];
}

/** Parameters of an address; those of a default are left out of it. */
export function paramsOf(view: Partial<LogView>): Readonly<Record<string, string | undefined>> {
  const { columns, filters } = view;
  const flag = (isOn: boolean): string => (isOn ? '1' : '');
  return {
    ...('policy' in view ? { rp: view.policy } : {}),
    ...('measurement' in view ? { m: view.measurement } : {}),
    ...('text' in view ? { text: view.text } : {}),
    ...('level' in view ? { level: view.level } : {}),
    ...('columns' in view ? { columns: columns && JSON.stringify(columns) } : {}),
    ...(filters === undefined ? {} : { filter: filters.length === 0 ? '' : filterText(filters) }),
    ...('search' in view ? { search: view.search } : {}),
    ...(view.isWrapped === undefined ? {} : { wrap: flag(view.isWrapped) }),
    ...(view.isFollowing === undefined ? {} : { follow: flag(view.isFollowing) }),
  };
}

const filterText = (filters: readonly LogFilter[]): string =>
  JSON.stringify(filters.map(({ name, isNot, value }) => [name, isNot ? '!=' : '=', value]));

export const logView = computed<LogView>(() => viewOf(route.value.params));

export function changeView(view: Partial<LogView>): void {
  setParams(paramsOf(view));
}

/** Another measurement: what was chosen for the one before does not apply to it. */
export function showMeasurement(policy: string, measurement: string): void {
  const { isWrapped, isFollowing } = logView.peek();
  changeView({ ...viewOf(new URLSearchParams()), policy, measurement, isWrapped, isFollowing });
}

/** Filters with a value added; without it, if that is there already. The opposite is replaced. */
export function toggledFilter(
  filters: readonly LogFilter[],
  { name, isNot, value }: LogFilter,
): readonly LogFilter[] {
  const isSame = (one: LogFilter): boolean => one.name === name && one.value === value;
  const others = filters.filter((one) => !isSame(one));
  const isThere = filters.some((one) => isSame(one) && one.isNot === isNot);
  return isThere ? others : [...others, { name, isNot, value }];
}

/** The filters of a statement that is built, for the log of its measurement. */
export const filtersOfBuilt = ({ filters }: BuiltQuery): readonly LogFilter[] =>
  filters.flatMap(({ tag, isNot, values }) => values.map((value) => ({ name: tag, isNot, value })));

/** Values of a column that filters want. */
export const chosenValues = (filters: readonly LogFilter[], of: string): readonly string[] =>
  filters.flatMap(({ name, isNot, value }) => (name === of && !isNot ? [value] : []));
