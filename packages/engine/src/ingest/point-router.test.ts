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

test('a consumer that is given up gets nothing more, and nobody waits for it', async () => {
  const router = new PointRouter(2);
  let isOpen = false;
  const pushed: number[] = [];
  const route = router.add([{ db: 'd', rp: 'r' }], {
    error: undefined,
    ready: () => (isOpen ? undefined : new Promise(() => undefined)),
    processed: () => undefined,
    push: (batch) => void pushed.push(batch.rowCount),
  });
  await router.dispatch(pointsOf(2));
  const waiting = router.dispatch(pointsOf(1));
  const drained = router.drained();

  expect(route.giveUp()).toBe(3);

  await expect(waiting).rejects.toThrow('the engine stops');
  await drained;
  await route.drained();
  // A point that was dropped would be older than what the state of the task contains.
  isOpen = true;
  await expect(router.dispatch(pointsOf(1))).rejects.toThrow('the engine stops');
  expect(pushed).toEqual([]);
});

test('a consumer gets writes that have one of its measurements, and all records of a log', async () => {
  const router = new PointRouter();
  const pushed: string[] = [];
  const consumer = (name: string, measurements: readonly string[]): void => {
    router.add([{ db: 'd', rp: 'r' }], {
      error: undefined,
      measurements: new Set(measurements),
      ready: () => undefined,
      processed: () => undefined,
      push: ({ rowCount }) => void pushed.push(`${name} ${rowCount}`),
    });
  };
  consumer('any', []);
  consumer('m', ['m']);
  consumer('n or o', ['n', 'o']);

  await router.dispatch(pointsOf(1));
  const builder = new PointBatchBuilder('d', 'r');
  for (const name of ['l', 'o']) builder.add({ name, tags: [], fields: [['v', 1]], time: 0n });
  await router.dispatch(builder.build());
  await router.dispatch({ ...pointsOf(3), record: 7 });

  expect(pushed).toEqual(['any 1', 'm 1', 'any 2', 'n or o 2', 'any 3', 'm 3', 'n or o 3']);
});

function pointsOf(count: number): ReturnType<PointBatchBuilder['build']> {
  const builder = new PointBatchBuilder('d', 'r');
  for (let i = 0; i < count; i++) {
    builder.add({ name: 'm', tags: [], fields: [['v', i]], time: BigInt(i) });
  }
  return builder.build();
}
