import type { Series } from '@tidemark/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { EventList, eventTime, textOf } from './events.ts';
import type { LogRequest } from './events.ts';

type Stored = { readonly nanos: bigint; readonly text: string };

const timeText = (nanos: bigint): string => {
  const fraction = String(nanos % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  const seconds = new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}${fraction === '' ? '' : `.${fraction}`}Z`;
};

const nanosOf = (literal: string): bigint => {
  const [, seconds, fraction = ''] = /^'(.*?)(?:\.(\d+))?Z'$/.exec(literal) ?? [];
  return seconds === undefined
    ? BigInt(literal.replace('ms', '')) * 1_000_000n
    : BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
};

/** A database with the semantics of the statements of a log, which also counts them. */
class Database {
  readonly stored: Stored[] = [];
  readonly texts: string[] = [];
  /** Called before each answer. */
  before: (text: string, signal: AbortSignal) => Promise<void> = () => Promise.resolve();

  add(nanos: bigint, text: string): void {
    this.stored.push({ nanos, text });
  }

  readonly read = async (text: string, signal: AbortSignal): Promise<readonly Series[]> => {
    this.texts.push(text);
    await this.before(text, signal);
    const match = /time >= (\S+) AND time (<=?) (\S+) ORDER BY time DESC LIMIT (\d+)$/.exec(text);
    const [, from = '', operator, to = '', limit] = match ?? [];
    const isBelow = (nanos: bigint): boolean =>
      operator === '<' ? nanos < nanosOf(to) : nanos <= nanosOf(to);
    const found = this.stored
      .filter(({ nanos }) => nanos >= nanosOf(from) && isBelow(nanos))
      .toSorted((a, b) => (a.nanos < b.nanos ? 1 : a.nanos > b.nanos ? -1 : 0))
      .slice(0, Number(limit));
    if (found.length === 0) return [];
    const values = found.map((one) => [timeText(one.nanos), one.text]);
    return [{ name: 'events', columns: ['time', 'message'], values }];
  };
}

const REQUEST: LogRequest = {
  query: {
    source: {
      policy: '',
      measurement: 'events',
      text: 'message',
      level: undefined,
      fieldTypes: new Map([['message', 'string']]),
      tags: [],
    },
    filters: [],
    terms: [],
  },
  fromMs: 0,
  toMs: 100_000,
};

const shown = (list: EventList): readonly string[] =>
  list.events.value.map((event) => textOf(event, 'message'));

/** Reads pages until there are no more; fails if that does not end. */
async function readAll(list: EventList): Promise<void> {
  await list.start(REQUEST);
  for (let i = 0; !list.isComplete.value; i++) {
    expect(i).toBeLessThan(200);
    await list.older();
  }
}

test('pages follow each other without a gap and without doubles, however many share a time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ at: fc.nat(60), count: fc.integer({ min: 1, max: 400 }) }), {
        maxLength: 12,
      }),
      async (groups) => {
        const database = new Database();
        for (const { at, count } of groups) {
          for (let i = 0; i < count; i++) {
            database.add(BigInt(at) * 1_000_000_000n + 1n, `${database.stored.length}`);
          }
        }
        const list = new EventList(database.read);
        await readAll(list);
        expect(shown(list).toSorted()).toEqual(database.stored.map(({ text }) => text).toSorted());
        const times = list.events.value.map(({ time }) => nanosOf(`'${time}'`));
        expect(times.every((time, i) => i === 0 || time <= (times[i - 1] ?? 0n))).toBe(true);
        expect(list.isCut.value).toBe(false);
      },
    ),
    { numRuns: 30 },
  );
});

test('of too many events at one time the rest is left out, and it is said', async () => {
  const database = new Database();
  for (let i = 0; i < 14_000; i++) database.add(5_000_000_000n, `${i}`);
  database.add(1_000_000_000n, 'older');
  const list = new EventList(database.read);

  await readAll(list);

  expect(shown(list)).toHaveLength(12_801);
  expect(shown(list).at(-1)).toBe('older');
  expect(list.isCut.value).toBe(true);
});

test('following adds what is new and what came late, and keeps what is shown', async () => {
  const database = new Database();
  for (let i = 0; i < 300; i++) database.add(BigInt(i) * 100_000_000n, `${i}`);
  const list = new EventList(database.read);
  await list.start(REQUEST);
  const before = list.events.value;

  database.add(29_850_000_000n, 'late');
  database.add(60_000_000_000n, 'new');
  await list.newer(100_000);

  expect(shown(list).slice(0, 4)).toEqual(['new', '299', 'late', '298']);
  expect(list.events.value[1]).toBe(before[0]);
  expect(list.events.value).toHaveLength(before.length + 2);
  // Only what the list covers is read again.
  expect(database.texts.at(-1)).toContain(`time >= '${before.at(-1)?.time}'`);
  while (!list.isComplete.value) await list.older();
  expect(new Set(shown(list)).size).toBe(302);
  expect(shown(list)).toHaveLength(302);
});

test('following a list longer than what is followed leaves out its end, which can be read again', async () => {
  const database = new Database();
  for (let i = 0; i < 1500; i++) database.add(BigInt(i) * 10_000_000n, `${i}`);
  const list = new EventList(database.read);
  await list.start(REQUEST);
  for (let i = 0; i < 4; i++) await list.older();
  expect(list.events.value.length).toBeGreaterThan(900);

  await list.newer(100_000);

  expect(list.events.value.length).toBeLessThanOrEqual(500);
  while (!list.isComplete.value) await list.older();
  expect(shown(list)).toEqual(Array.from({ length: 1500 }, (_, i) => `${1499 - i}`));
});

test('more new events than are followed replace the list', async () => {
  const database = new Database();
  database.add(1n, 'first');
  const list = new EventList(database.read);
  await list.start(REQUEST);

  for (let i = 0; i < 700; i++) database.add(BigInt(i + 1) * 1_000_000_000n, `${i}`);
  await list.newer(1_000_000);

  expect(shown(list)[0]).toBe('699');
  while (!list.isComplete.value) await list.older();
  expect(shown(list)).toHaveLength(701);
});

test('an empty list is followed from the beginning of its span', async () => {
  const database = new Database();
  const list = new EventList(database.read);
  await list.start(REQUEST);
  expect(list.isComplete.value).toBe(true);

  database.add(1_000_000_000n, 'first');
  await list.newer(100_000);

  expect(shown(list)).toEqual(['first']);
});

test('another request replaces the one that is running, whose answer is not shown', async () => {
  const database = new Database();
  database.add(1n, 'event');
  const list = new EventList(database.read);
  const signals: AbortSignal[] = [];
  let answerFirst = (): void => undefined;
  database.before = (_text, signal) => {
    signals.push(signal);
    if (signals.length > 1) return Promise.resolve();
    return new Promise((resolve) => {
      answerFirst = resolve;
    });
  };

  const first = list.start({ ...REQUEST, fromMs: 50_000 });
  await list.start(REQUEST);
  answerFirst();
  await first;

  expect(signals[0]?.aborted).toBe(true);
  expect(shown(list)).toEqual(['event']);
  expect(list.isReading.value).toBe(false);
});

test('a page is read once while it is wanted again and again', async () => {
  const database = new Database();
  for (let i = 0; i < 1000; i++) database.add(BigInt(i) * 1_000_000n, `${i}`);
  const list = new EventList(database.read);
  await list.start(REQUEST);

  await Promise.all([list.older(), list.older(), list.older(), list.newer(100_000)]);

  expect(database.texts).toHaveLength(2);
  expect(new Set(shown(list)).size).toBe(list.events.value.length);
});

test('a page that failed is shown as such, and can be tried again', async () => {
  const database = new Database();
  for (let i = 0; i < 300; i++) database.add(BigInt(i) * 1_000_000n, `${i}`);
  const list = new EventList(database.read);
  await list.start(REQUEST);
  database.before = () => Promise.reject(new Error('not now'));

  await list.older();

  expect(list.failure.value?.message).toBe('not now');
  expect(list.events.value.length).toBeLessThan(300);
  database.before = () => Promise.resolve();
  await list.retry();
  expect(list.failure.value).toBeUndefined();
  expect(list.events.value).toHaveLength(300);
});

test('events of the request before are shown until the next ones are there, or cannot be read', async () => {
  const database = new Database();
  database.add(1n, 'event');
  const list = new EventList(database.read);
  await list.start(REQUEST);
  database.before = () => Promise.reject(new Error('not now'));

  const starting = list.start(REQUEST);
  expect(list.isStarting.value).toBe(true);
  expect(shown(list)).toEqual(['event']);
  await starting;

  expect(list.isStarting.value).toBe(false);
  expect(shown(list)).toEqual([]);
  expect(list.failure.value?.message).toBe('not now');
});

test('leaving cancels what is read', async () => {
  const database = new Database();
  let signal: AbortSignal | undefined;
  database.before = (_text, given) => {
    signal = given;
    return new Promise(() => undefined);
  };
  const list = new EventList(database.read);
  void list.start(REQUEST);

  list.cancel();

  expect(signal?.aborted).toBe(true);
  expect(list.isReading.value).toBe(false);
});

test('digits below the second come by threes', () => {
  const event = (time: string) => ({ time, columns: [], cells: [] });

  expect(eventTime(event('2024-01-01T00:00:00.12Z'), 'UTC')).toBe('2024-01-01 00:00:00.120');
  expect(eventTime(event('2024-01-01T00:00:00.1234Z'), 'UTC')).toBe('2024-01-01 00:00:00.123400');
  expect(eventTime(event('2024-01-01T00:00:00Z'), 'UTC')).toBe('2024-01-01 00:00:00');
});
