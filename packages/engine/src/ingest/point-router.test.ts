import { PointBatchBuilder } from '@tidemark/runtime';
import { expect, test } from 'vitest';

import { PointRouter } from './point-router.ts';

test('a write is not held back by a slow task until more points wait than are allowed', async () => {
  const router = new PointRouter(2);
  let goOn = (): void => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const pushed: number[] = [];
  let isOpen = false;
  const route = router.add([{ db: 'd', rp: 'r' }], {
    error: undefined,
    ready: () => (isOpen ? undefined : gate),
    processed: () => undefined,
    push: (batch) => void pushed.push(batch.rowCount),
  });

  await router.dispatch(pointsOf(2));
  let isAccepted = false;
  const third = router.dispatch(pointsOf(1)).then(() => (isAccepted = true));
  await new Promise((resolve) => setImmediate(resolve));

  expect({ isAccepted, pushed }).toEqual({ isAccepted: false, pushed: [] });

  isOpen = true;
  goOn();
  await third;
  await route.drained();

  expect({ isAccepted, pushed }).toEqual({ isAccepted: true, pushed: [2, 1] });
});

function pointsOf(count: number): ReturnType<PointBatchBuilder['build']> {
  const builder = new PointBatchBuilder('d', 'r');
  for (let i = 0; i < count; i++) {
    builder.add({ name: 'm', tags: [], fields: [['v', i]], time: BigInt(i) });
  }
  return builder.build();
}
