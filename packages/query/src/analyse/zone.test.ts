import { NANOS_PER_SECOND } from '@tidemark/core';
import { expect, test, vi } from 'vitest';

import { openZone } from './zone.ts';

const HOUR = 3600n * NANOS_PER_SECOND;

/** Hours east of UTC at a time of UTC. */
function hoursAt(name: string, time: string): number {
  const nanos = BigInt(Date.parse(time)) * 1_000_000n;
  return Number(openZone(name)?.offsetNanos(nanos) ?? 0n) / Number(HOUR);
}

test.each([
  ['Europe/Berlin', '2022-03-27T00:59:59Z', 1],
  ['Europe/Berlin', '2022-03-27T01:00:00Z', 2],
  ['Europe/Berlin', '2022-10-30T00:59:59Z', 2],
  ['Europe/Berlin', '2022-10-30T01:00:00Z', 1],
  ['Australia/Lord_Howe', '2022-04-02T15:00:00Z', 10.5],
  ['America/New_York', '1883-11-18T16:00:00Z', -(4 + 56 / 60 + 2 / 3600)],
  ['Pacific/Apia', '2011-12-30T09:59:59Z', -10],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', 14],
  ['Europe/London', '2022-01-01T00:00:00Z', 0],
  ['UTC', '2022-01-01T00:00:00Z', 0],
])('%s at %s is %d hours east', (name, time, hours) => {
  expect(hoursAt(name, time)).toBeCloseTo(hours, 9);
});

test('the order in which times come does not change their offsets', () => {
  const zone = openZone('America/Sao_Paulo')!;
  const times = Array.from(
    { length: 24 * 365 },
    (_, i) => 1_514_764_800n * NANOS_PER_SECOND + BigInt(i) * HOUR,
  );
  const ascending = times.map((time) => zone.offsetNanos(time));
  const descending = times.toReversed().map((time) => zone.offsetNanos(time));

  expect(descending.toReversed()).toEqual(ascending);
  expect(new Set(ascending)).toEqual(new Set([-3n * HOUR, -2n * HOUR]));
});

test('the runtime is asked about a day twice, and not about each time', () => {
  const getter = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format')!;
  const asked = vi.fn(getter.get);
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', { ...getter, get: asked });
  const zone = openZone('Asia/Kathmandu')!;
  for (let i = 0n; i < 24n * 60n * 60n; i++) zone.offsetNanos(i * NANOS_PER_SECOND);
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', getter);

  expect(asked).toHaveBeenCalledTimes(2);
});

test('a name is opened once', () => {
  expect(openZone('Europe/Paris')).toBe(openZone('Europe/Paris'));
});
