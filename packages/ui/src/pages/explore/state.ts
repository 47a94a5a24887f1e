// The state of the page, kept in its address, so that a link restores it.
import { computed } from '@preact/signals';

import { route, setParams } from '../../app/router.ts';
import type { TimeRange } from '../../time/range.ts';

export const PARTS = ['chart', 'table', 'raw'] as const;
export type Part = (typeof PARTS)[number];

const param = (name: string, missing = '') =>
  computed(() => route.value.params.get(name) ?? missing);

export const shownDatabase = param('db');
export const linkedText = param('q');
export const refresh = param('refresh');

/** The parts of an answer to show, side by side. */
export const shownParts = computed<readonly Part[]>(() => {
  const named = (route.value.params.get('view') ?? '').split(',');
  const parts = PARTS.filter((part) => named.includes(part));
  return parts.length === 0 ? ['chart', 'table'] : parts;
});

/** Shows or hides a part; at least one stays. */
export function togglePart(part: Part): void {
  const shown = shownParts.value;
  const next = PARTS.filter((each) => (each === part) !== shown.includes(each));
  if (next.length > 0) setParams({ view: next.join(',') });
}

export const range = computed<TimeRange>(() => ({
  from: route.value.params.get('from') ?? 'now-1h',
  to: route.value.params.get('to') ?? 'now',
}));

export function setRange({ from, to }: TimeRange): void {
  setParams({ from, to });
}
