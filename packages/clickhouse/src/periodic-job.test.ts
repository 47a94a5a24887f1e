// Log lines about periodic work.
import { Internal, Unavailable } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { PeriodicJob } from './periodic-job.ts';

test('logs each outage once with its end, and a defect as an error', async () => {
  const logged: string[] = [];
  const away = new Unavailable('no answer');
  const outcomes: readonly (Error | undefined)[] = [
    undefined,
    away,
    new Unavailable('reset'),
    undefined,
    away,
    new Internal('x'),
    new Internal('x'),
    new TypeError('y'),
    undefined,
    undefined,
  ];
  let round = 0;
  const clock = new TestClock();
  const job = new PeriodicJob({
    clock,
    log: (level, message, details) => {
      const error = details?.['error'];
      logged.push(
        `${round} ${level} ${message}${error === undefined ? '' : ` (${String(error)})`}`,
      );
    },
    what: 'look',
    everyMs: 1000,
    work: () => {
      const outcome = outcomes[round++];
      return outcome === undefined ? Promise.resolve() : Promise.reject(outcome);
    },
  });

  await clock.passTo(BigInt(outcomes.length - 1) * 1_000_000_000n);
  await job.close();

  expect(round).toBe(outcomes.length);
  expect(logged).toEqual([
    '2 warn failed to look: the cluster is unreachable; will be retried (Unavailable: no answer)',
    '4 info the next attempt to look has succeeded',
    '5 warn failed to look: the cluster is unreachable; will be retried (Unavailable: no answer)',
    '6 error failed to look; will be retried (Internal: x)',
    '8 error failed to look; will be retried (TypeError: y)',
    '9 info the next attempt to look has succeeded',
  ]);
});

test('ends with the run that is under way, and logs nothing more', async () => {
  let isOver = false;
  let end = (): void => undefined;
  const job = new PeriodicJob({
    clock: new TestClock(),
    log: () => expect.unreachable('nothing has failed'),
    what: 'look',
    everyMs: 1000,
    work: async () => {
      await new Promise<void>((resolve) => (end = resolve));
      isOver = true;
    },
  });

  const closing = job.close();
  end();
  await closing;

  expect(isOver).toBe(true);
});

test('runs at once when there is work', async () => {
  let runs = 0;
  const job = new PeriodicJob({
    clock: new TestClock(),
    log: () => undefined,
    what: 'look',
    everyMs: 1000,
    work: () => {
      runs++;
      return Promise.resolve();
    },
  });
  await new Promise(setImmediate);
  expect(runs).toBe(1);

  job.runNow();
  await new Promise(setImmediate);
  expect(runs).toBe(2);

  await job.close();
});
