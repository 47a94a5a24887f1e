// Writes wait for tasks that are behind, and for those of their own database only.
import type { LogRecord, MessageLog } from '@tidemark/cluster';
import { systemClock } from '@tidemark/core';
import { PointBatchBuilder } from '@tidemark/runtime';
import type { PointBatch } from '@tidemark/runtime';
import { expect, test } from 'vitest';

import { PointRouter } from '../ingest/point-router.ts';
import { opening } from '../opening.ts';
import { THIS_BUILD } from './build.ts';
import { PointLog } from './point-log.ts';

test('a slow task holds back writes of its own database, not those of others', async () => {
  const ended = new AbortController();
  const router = new PointRouter(0);
  const gate = opening();
  const given: string[] = [];
  const isReady = { slow: false, fast: true };
  for (const db of ['slow', 'fast'] as const)
    router.add([{ db, rp: 'r' }], {
      error: undefined,
      ready: () => (isReady[db] ? undefined : gate.promise),
      processed: () => undefined,
      push: () => void given.push(db),
    });
  const points = new PointLog({
    log: logInMemory(),
    clock: systemClock(),
    logger: () => undefined,
    build: THIS_BUILD,
    signal: ended.signal,
  });
  await points.open(0, (batch) => router.dispatch(batch));
  const write = (database: string): Promise<void> =>
    points.append(
      {
        body: Buffer.from('m v=1 1'),
        database,
        retentionPolicy: 'r',
        precision: 'ns',
        now: 0n,
      },
      batchFor(database),
    );

  let isSlowAnswered = false;
  const slow = write('slow').then(() => (isSlowAnswered = true));
  await write('fast');

  expect({ isSlowAnswered, given }).toEqual({ isSlowAnswered: false, given: ['fast'] });

  isReady.slow = true;
  gate.resolve();
  await slow;

  expect(given).toEqual(['fast', 'slow']);
  await points.close();
});

function batchFor(database: string): PointBatch {
  const builder = new PointBatchBuilder(database, 'r');
  builder.add({ name: 'm', tags: [], fields: [['v', 1]], time: 1n });
  return builder.build();
}

/** Records in the order of their appends, each told when it is there. */
function logInMemory(): MessageLog {
  const records: LogRecord[] = [];
  let changed = opening();
  const log = {
    ends: () => Promise.resolve({ first: 1, last: records.length, bytes: 0 }),
    append: (bytes: Uint8Array, { label = '' }: { readonly label?: string }) => {
      records.push({ sequence: records.length + 1, bytes, label, level: 1 });
      changed.resolve();
      changed = opening();
      return Promise.resolve(records.length);
    },
    async *read({ first, signal }: { readonly first: number; readonly signal: AbortSignal }) {
      const stopped = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      for (let next = first; !signal.aborted;) {
        const record = records[next - 1];
        if (record === undefined) await Promise.race([changed.promise, stopped]);
        else {
          next++;
          yield record;
        }
      }
    },
  };
  return log as unknown as MessageLog;
}
