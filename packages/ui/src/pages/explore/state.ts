// What the page shows, kept in its address, so that a link restores it.
import { computed } from '@preact/signals';

import { route, setParams } from '../../app/router.ts';
import type { TimeRange } from '../../time/range.ts';

export const VIEWS = ['chart', 'table', 'both', 'raw'] as const;
export type View = (typeof VIEWS)[number];

const param = (name: string, missing = '') =>
  computed(() => route.value.params.get(name) ?? missing);

export const shownDatabase = param('db');
export const linkedText = param('q');
export const refresh = param('refresh');

export const view = computed<View>(() => {
  const named = route.value.params.get('view');
  return VIEWS.find((each) => each === named) ?? 'both';
});

export const range = computed<TimeRange>(() => ({
  from: route.value.params.get('from') ?? 'now-1h',
  to: route.value.params.get('to') ?? 'now',
}));

export function setRange({ from, to }: TimeRange): void {
  setParams({ from, to });
}
