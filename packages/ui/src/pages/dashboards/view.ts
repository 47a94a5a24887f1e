// The view of a dashboard, kept in the address: span, refresh, and selected variables.
import { computed } from '@preact/signals';

import { route, setParams } from '../../app/router.ts';
import type { Dashboard } from '../../dashboards/model.ts';
import type { TimeRange } from '../../time/range.ts';

export const isEditing = computed(() => route.value.params.get('edit') === '1');
export const isKiosk = computed(() => route.value.params.get('kiosk') === '1');

/** The span in the address, else the dashboard's. */
export function rangeOf({ from, to }: Pick<Dashboard, 'from' | 'to'>): TimeRange {
  const { params } = route.value;
  return { from: params.get('from') ?? from, to: params.get('to') ?? to };
}

const NEVER = 'never';

/** The refresh interval; empty for never. */
export function refreshOf({ refresh }: Pick<Dashboard, 'refresh'>): string {
  const given = route.value.params.get('refresh');
  return given === NEVER ? '' : (given ?? refresh);
}

export function setRefresh(refresh: string): void {
  setParams({ refresh: refresh === '' ? NEVER : refresh });
}

const key = (name: string): string => `v.${name}`;
const NOTHING = '*';

/** The values of a variable in the address; `undefined` without any. */
export function givenOf(name: string): readonly string[] | undefined {
  const text = route.value.params.get(key(name));
  if (text === null) return undefined;
  return text === NOTHING ? [] : text.split(',').map(decoded);
}

export function choose(name: string, values: readonly string[]): void {
  const text = values.map((value) => encodeURIComponent(value).replaceAll('*', '%2A')).join(',');
  setParams({ [key(name)]: values.length === 0 ? NOTHING : text });
}

/** An invalid escape is kept as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
