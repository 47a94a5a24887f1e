// Rereading a log that is being shortened.
import { systemClock } from '@tidemark/core';
import type { LogRecord } from '@tidemark/cluster';
import type { PointBatch } from '@tidemark/runtime';
import { expect, test } from 'vitest';

import { PointRereader } from './point-rereader.ts';

test('ends for all when what they want is forgotten, as all states contain it', async () => {
  const ended = new AbortController();
  const record = { sequence: 4, bytes: new Uint8Array(0), label: '', level: 1 };
  const rereader = new PointRereader({
    log: {
      // The messages 5 to 7 are gone.
      async *read() {
        yield await Promise.resolve<LogRecord>(record);
      },
    },
    batchOf: ({ sequence }) => ({ record: sequence }) as unknown as PointBatch,
    clock: systemClock(),
    logger: () => undefined,
    signal: ended.signal,
  });
  const given: (number | undefined)[] = [];
  const read = (first: number, through: number): Promise<boolean> =>
    rereader.read({
      first,
      through,
      signal: new AbortController().signal,
      ready: () => undefined,
      give: ({ record: number }) => void given.push(number),
    });

  await Promise.all([read(4, 7), read(5, 6), read(3, 4)]);

  expect(given).toEqual([4, 4]);
});
