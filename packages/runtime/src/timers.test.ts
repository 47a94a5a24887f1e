import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clockTimers, VirtualTimers } from './timers.ts';

test('virtual timers fire in order of time, then of their making', () => {
  const timers = new VirtualTimers(0n);
  const fired: string[] = [];
  timers.at(20n, () => fired.push('b'));
  timers.at(10n, () => {
    fired.push(`a at ${timers.now()}`);
    timers.at(15n, () => fired.push('nested'));
  });
  const cancel = timers.at(12n, () => fired.push('cancelled'));
  timers.at(20n, () => fired.push('c'));
  cancel();

  timers.advanceTo(30n);

  expect(fired).toEqual(['a at 10', 'nested', 'b', 'c']);
  expect(timers.now()).toBe(30n);
});

test('any sequence of timers and cancellations fires as a sorted list would', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('at' as const), time: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ kind: fc.constant('cancel' as const), index: fc.nat(200) }),
    fc.record({
      kind: fc.constant('advance' as const),
      by: fc.integer({ min: 0, max: 5 }),
      countMax: fc.integer({ min: 1, max: 20 }),
    }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const timers = new VirtualTimers(0n);
      const fired: number[] = [];
      const cancels: (() => void)[] = [];
      const model: { time: number; id: number }[] = [];
      const expected: number[] = [];
      let now = 0;
      for (const each of steps) {
        if (each.kind === 'at') {
          const id = cancels.length;
          cancels.push(timers.at(BigInt(each.time), () => fired.push(id)));
          model.push({ time: each.time, id });
        } else if (each.kind === 'cancel') {
          const id = each.index % Math.max(cancels.length, 1);
          cancels[id]?.();
          const at = model.findIndex((timer) => timer.id === id);
          if (at >= 0) model.splice(at, 1);
        } else {
          const until = now + each.by;
          const due = model.filter((timer) => timer.time <= until);
          due.sort((a, b) => a.time - b.time || a.id - b.id);
          const fires = due.slice(0, each.countMax);
          for (const { id } of fires) expected.push(id);
          for (const timer of fires) model.splice(model.indexOf(timer), 1);
          const isDone = timers.advanceSome(BigInt(until), each.countMax);
          expect(isDone).toBe(due.length <= each.countMax);
          now = Number(timers.now());
          if (isDone) expect(now).toBe(until);
        }
        const next = model.reduce<number | undefined>(
          (min, { time }) => (min === undefined || time < min ? time : min),
          undefined,
        );
        expect(timers.nextAt()).toBe(next === undefined ? undefined : BigInt(next));
      }
      expect(fired).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});

test('delays longer than the platform can wait are waited in parts', async () => {
  const slept: number[] = [];
  const clock = {
    now: () => 0n,
    monotonicMs: () => 0,
    sleep: (ms: number) => {
      slept.push(ms);
      return Promise.resolve();
    },
  };
  const sixtyDays = 60n * 86_400n * 1_000_000_000n;

  await new Promise<void>((resolve) => {
    clockTimers(clock).at(sixtyDays, resolve);
  });

  expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(60 * 86_400_000);
  expect(Math.max(...slept)).toBeLessThan(2 ** 31);
});
