// Values pulled through the driver.
import { expect, test } from 'vitest';

import { Driver } from './driver.ts';
import { SLICE_MS } from './limits.ts';
import type { Operator } from './operator.ts';

function driver(): Driver {
  return new Driver({ supervision: () => undefined, monotonicMs: () => 0 });
}

test('ready batches are pulled at once', async () => {
  const pulled = driver().pull(
    (function* batches(): Operator<number> {
      yield;
      yield 1;
      yield Promise.resolve();
      yield 2;
    })(),
  );

  expect(pulled.next()).toEqual({ done: false, value: 1 });
  const waits = pulled.next();
  expect(waits).toBeInstanceOf(Promise);
  expect(await waits).toEqual({ done: false, value: 2 });
  expect(pulled.next()).toMatchObject({ done: true });
});

test('the waits of an operator pile nothing up behind its batch', async () => {
  let isHandedOn = false;
  let isThere = false;
  const operator = (function* waiting(): Operator<string> {
    for (let i = 0; i < 1000; i++) yield Promise.resolve();
    isHandedOn = true;
    yield 'end';
  })();

  const next = Promise.resolve(driver().pull(operator).next()).then((step) => {
    isThere = true;
    return step;
  });
  let turns = 0;
  while (!isThere) {
    await Promise.resolve();
    if (isHandedOn) turns++;
  }

  expect(await next).toEqual({ done: false, value: 'end' });
  // A promise that waits for the promise of each wait is settled a thousand times.
  expect(turns).toBeLessThan(20);
});

test('batches that are taken at once give others a turn when the slice is over', async () => {
  let nowMs = 0;
  const subject = new Driver({ supervision: () => undefined, monotonicMs: () => nowMs });
  const pulled = subject.pull(
    (function* batches(): Operator<number> {
      for (let i = 0; ; i++) {
        nowMs += SLICE_MS / 2;
        yield i;
      }
    })(),
  );
  let turns = 0;
  let others: NodeJS.Immediate;
  const count = (): void => {
    turns++;
    others = setImmediate(count);
  };
  others = setImmediate(count);

  for (let i = 0; i < 100; i++) await pulled.next();
  clearImmediate(others);

  expect(turns).toBeGreaterThan(40);
});

test('batches that an operator emits after it was told to end are not discarded', async () => {
  const abort = new AbortController();
  let nowMs = 0;
  // A slice is over whenever somebody looks, as on a machine that has much to do.
  const busy = new Driver({
    supervision: () => ({ signal: abort.signal }),
    monotonicMs: () => (nowMs += 1000),
  });
  const pulled = busy.pull(
    (function* written(): Operator<string> {
      try {
        yield 'rows';
        yield 'more rows';
      } catch (error) {
        yield String((error as Error).message);
      }
      yield 'end';
    })(),
  );
  const taken: unknown[] = [(await pulled.next()).value];

  abort.abort(new Error('interrupted'));
  for (let next = await pulled.next(); next.done !== true; next = await pulled.next()) {
    taken.push(next.value);
  }

  expect(taken).toEqual(['rows', 'interrupted', 'end']);
});
