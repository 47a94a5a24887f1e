// Points that loopback nodes write enter the log once, even if their tasks replay input.
import { Superseded } from '@tidemark/cluster';
import { deferred, systemClock } from '@tidemark/core';
import { eventually } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { LoopedPoints } from './looped-points.ts';
import type { Looped, LoopedTo } from './looped-points.ts';

const TARGET = { database: 'd', retentionPolicy: 'r' };

type OpenedLog = {
  /** Number of the last looped record. */
  last: number;
  /** The records that another instance has appended. */
  readonly unknown: LoopedTo[];
};

function open(): {
  readonly points: LoopedPoints;
  /** Names of the points of each record, and its cause. */
  readonly records: string[];
  readonly known: () => void;
  readonly end: AbortController;
  readonly lease: { isHeld: boolean; looks: number };
  readonly log: OpenedLog;
} {
  const records: string[] = [];
  const known = deferred();
  const end = new AbortController();
  const lease = { isHeld: true, looks: 0 };
  const log: OpenedLog = { last: 0, unknown: [] };
  const points: LoopedPoints = new LoopedPoints({
    append: async ({ points: some, database }, after) => {
      if (end.signal.aborted) throw new Error('the term has ended');
      if (after !== log.last) throw new Superseded('another instance has taken over');
      const names = some.map(({ point }) => point.name).join(' ');
      const { cause } = some.at(-1) ?? {};
      records.push(`${database}: ${names} by ${cause?.record}.${cause?.row}`);
      return ++log.last;
    },
    learn: async () => {
      await known.promise;
      for (const each of log.unknown.splice(0)) points.learn(each, TARGET);
      return ++log.last;
    },
    isLeading: () => {
      lease.looks++;
      return lease.isHeld;
    },
    clock: systemClock(),
    logger: () => undefined,
    signal: end.signal,
  });
  return { points, records, known: known.resolve, end, lease, log };
}

function looped(name: string, at?: readonly [number, number], database = 'd'): Looped {
  return {
    database,
    retentionPolicy: 'r',
    points: [{ name, tags: [], fields: [['v', 1]], time: 1n }],
    cause: at === undefined ? undefined : { unit: 'u', record: at[0], row: at[1] },
  };
}

/** Each row in a turn of its own. */
async function rows(points: LoopedPoints, ...all: readonly (readonly Looped[])[]): Promise<void> {
  for (const row of all) {
    for (const each of row) points.add(each);
    await Promise.resolve();
    await Promise.resolve();
  }
  await points.kept();
}

test('all that a row causes is kept, and only once when the row is given again', async () => {
  const { points, records, known } = open();
  known();
  const first = [looped('a', [5, 0]), looped('b', [5, 0])];
  const second = [looped('c', [5, 1])];
  const other = [looped('e', [5, 1], 'other')];

  await rows(points, first);
  await rows(points, second);
  await rows(points, first, second);
  await rows(points, other, [looped('d', [6, 0])]);

  expect(records).toEqual(['d: a b by 5.0', 'd: c by 5.1', 'other: e by 5.1', 'd: d by 6.0']);
});

test('a row that is given again before its points are kept counts once', async () => {
  const { points, records, known } = open();
  points.add(looped('a', [5, 0]));
  await Promise.resolve();
  await Promise.resolve();
  points.add(looped('a', [5, 0]));
  known();
  await points.kept();

  expect(records).toEqual(['d: a by 5.0']);
});

test('points that the log has from an earlier leader are not looped again', async () => {
  const { points, records, known } = open();
  points.learn({ cause: { unit: 'u', record: 5, row: 3 }, count: Infinity }, TARGET);
  known();

  await rows(points, [looped('a', [5, 3])], [looped('b', [5, 4])], [looped('c', [5, 2], 'other')]);

  expect(records).toEqual(['d: b by 5.4', 'other: c by 5.2']);
});

test('only points of a row that the log lacks are looped', async () => {
  const { points, records, known } = open();
  points.learn({ cause: { unit: 'u', record: 5, row: 3 }, count: 2 }, TARGET);
  known();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => looped(name, [5, 3]));

  await rows(points, [a!, { ...b!, points: [...b!.points, ...c!.points] }, d!]);
  await rows(points, [a!, b!, c!, d!]);

  expect(records).toEqual(['d: c d by 5.3']);
});

test('points that another instance has looped meanwhile are not looped again', async () => {
  const { points, records, known, log } = open();
  known();
  await rows(points, [looped('a', [5, 0])]);
  log.last++;
  log.unknown.push({ cause: { unit: 'u', record: 5, row: 2 }, count: 1 });

  await rows(points, [looped('b', [5, 1])], [looped('c', [5, 2])], [looped('d', [5, 3])]);

  expect(records).toEqual(['d: a by 5.0', 'd: d by 5.3']);
});

test('points without a row as their cause are always kept', async () => {
  const { points, records, known } = open();
  known();

  await rows(points, [looped('a')]);
  await rows(points, [looped('a')]);

  expect(records).toEqual(['d: a by undefined.undefined', 'd: a by undefined.undefined']);
});

test('a state waits for what was looped before it, and fails when the term ends first', async () => {
  const { points, records, known, end } = open();
  expect(points.kept()).toBeUndefined();
  points.add(looped('a', [5, 0]));
  const kept = points.kept();
  let isKept = false;
  const waiting = kept?.then(() => (isKept = true));
  await Promise.resolve();
  expect(isKept).toBe(false);
  end.abort(new Error('the lease has ended'));
  known();

  await expect(waiting).rejects.toThrow('the lease has ended');
  await eventually('nothing', async () => (records.length === 0 ? true : undefined));
});

test('an instance whose lease has ended appends nothing before that is renewed', async () => {
  const { points, records, known, lease } = open();
  lease.isHeld = false;
  known();
  points.add(looped('a', [5, 0]));
  await eventually('a second look', async () => lease.looks > 1 || undefined);
  expect(records).toEqual([]);

  lease.isHeld = true;
  await points.kept();

  expect(records).toEqual(['d: a by 5.0']);
});

test('an instance that leads no more appends nothing of its term', async () => {
  const { points, records, known, end, lease } = open();
  lease.isHeld = false;
  known();
  points.add(looped('a', [5, 0]));
  const kept = points.kept();
  await eventually('a look', async () => lease.looks > 0 || undefined);

  end.abort(new Error('another instance leads'));

  await expect(kept).rejects.toThrow('another instance leads');
  expect(records).toEqual([]);
});
