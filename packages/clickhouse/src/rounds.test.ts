// What is told of work that is done again and again.
import { Internal, Unavailable } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { Rounds } from './rounds.ts';

test('tells each outage once with its end, and a defect as one', async () => {
  const told: string[] = [];
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
  const rounds = new Rounds({
    clock,
    log: (level, message, details) => {
      const error = details?.['error'];
      told.push(`${round} ${level} ${message}${error === undefined ? '' : ` (${String(error)})`}`);
    },
    what: 'look',
    everyMs: 1000,
    work: () => {
      const outcome = outcomes[round++];
      return outcome === undefined ? Promise.resolve() : Promise.reject(outcome);
    },
  });

  await clock.passTo(BigInt(outcomes.length - 1) * 1_000_000_000n);
  await rounds.close();

  expect(round).toBe(outcomes.length);
  expect(told).toEqual([
    '2 warn failed to look: the cluster is away; tried again (Unavailable: no answer)',
    '4 info the next attempt to look has succeeded',
    '5 warn failed to look: the cluster is away; tried again (Unavailable: no answer)',
    '6 error failed to look; tried again (Internal: x)',
    '8 error failed to look; tried again (TypeError: y)',
    '9 info the next attempt to look has succeeded',
  ]);
});

test('ends with the work that runs, and tells nothing more', async () => {
  let isOver = false;
  let end = (): void => undefined;
  const rounds = new Rounds({
    clock: new TestClock(),
    log: () => expect.unreachable('nothing has failed'),
    what: 'look',
    everyMs: 1000,
    work: async () => {
      await new Promise<void>((resolve) => (end = resolve));
      isOver = true;
    },
  });

  const closing = rounds.close();
  end();
  await closing;

  expect(isOver).toBe(true);
});
