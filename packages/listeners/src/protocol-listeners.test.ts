import { Budget } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { PointSources } from './point-sources.ts';
import { openProtocolListeners } from './protocol-listeners.ts';
import type { ListenerConfig } from './sections.ts';

const clock = new TestClock();
const log = { info: () => undefined, warn: () => undefined };
const bodies = new Budget({ what: 'bodies', setting: 's', limitBytes: 1, waitMs: 1, clock });

const UDP: ListenerConfig['udp'][number] = {
  enabled: true,
  bindAddress: '127.0.0.1:0',
  database: 'd',
  retentionPolicy: '',
  precision: '',
  readBuffer: 0,
  batchSize: 1,
  batchPending: 1,
  batchTimeoutMs: 1,
};

test('a database that cannot be created is not blamed on the address of the listener', async () => {
  const full = new Error('no space left on device');
  const sources = new PointSources({
    writer: { writePoints: (_, { length }) => Promise.resolve({ pointsWritten: length }) },
    clock,
    log,
    prepare: () => Promise.reject(full),
    onRejected: () => undefined,
  });
  const config = { udp: [UDP], graphite: [], collectd: [], opentsdb: [] };

  await expect(openProtocolListeners(sources, { config, clock, log, bodies })).rejects.toBe(full);

  expect(sources.statistics()).toEqual([]);
});
