// The counters of listeners as metrics. Their modules have the names of their sections.
import type { MetricRow } from '@tidemark/core';

import type { ListenerCounters } from './batcher.ts';
import { LISTENER_KINDS } from './listener-kinds.ts';

type Text = readonly [name: string, help: string, labels?: Readonly<Record<string, string>>];

const POINTS: Text = ['listener_points_total', 'Points received by a listener, by outcome.'];
const BATCHES: Text = [
  'listener_batches_total',
  'Batches of a listener, by how their write ended.',
];

const COUNTERS: Readonly<Record<keyof ListenerCounters, Text>> = {
  bytesRx: ['listener_bytes_total', 'Bytes that came to a listener.'],
  pointsRx: [...pair(POINTS), { outcome: 'read' }],
  pointsParseFail: [...pair(POINTS), { outcome: 'unreadable' }],
  pointsTx: [...pair(POINTS), { outcome: 'written' }],
  pointsDropped: [...pair(POINTS), { outcome: 'dropped' }],
  batchesTx: [...pair(BATCHES), { outcome: 'ok' }],
  batchesTxFail: [...pair(BATCHES), { outcome: 'error' }],
};

function pair([name, help]: Text): readonly [string, string] {
  return [name, help];
}

/** Rows for the table of a service that has listeners. */
export const LISTENER_METRICS: readonly MetricRow[] = LISTENER_KINDS.flatMap(({ section }) =>
  Object.entries(COUNTERS).map(([value, [name, help, labels]]) => ({
    module: section,
    value,
    name,
    help,
    type: 'counter',
    labels: { listener: section, ...labels },
  })),
);
