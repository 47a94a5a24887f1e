// Windows of a subquery as the outer query reads them.
import { expect, test } from 'vitest';

import type { QueryContext } from '../context.ts';
import { MemorySource } from '../testing/memory-source.ts';
import { answer, contextOf, DATABASE } from '../testing/run-statement.ts';

const MINUTE = 60_000_000_000n;

test('windows around points of top in larger windows are those of the points', async () => {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 10_080n * MINUTE);
  const point = (host: string, minute: bigint, v: number) =>
    ({
      measurement: 'm',
      tags: [['host', host]],
      fields: [['v', v]],
      time: minute * MINUTE,
    }) as const;
  // The first group's point is the later one.
  source.write(DATABASE, 'autogen', [point('a', 16n, 11), point('b', 6n, -13)]);
  const inner = 'SELECT top(v, 1) AS v FROM m GROUP BY time(1h), host';
  const text = `SELECT min(v) FROM (${inner}) WHERE time >= 0 AND time < 30m GROUP BY time(10m)`;

  const json = await answer(text, await contextOf(source, { now: 60n * MINUTE }));

  expect(json).toContain('"values":[[0,-13],[600,11],[1200,null]]');
});

/** The value 2 in the minutes 5 and 25. */
function twoPoints(): QueryContext {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 10_080n * MINUTE);
  const point = (minute: bigint) =>
    ({ measurement: 'm', tags: [], fields: [['v', 2]], time: minute * MINUTE }) as const;
  source.write(DATABASE, 'autogen', [point(5n), point(25n)]);
  return contextOf(source, { now: 60n * MINUTE });
}

test('a query around windows of an integral sees those without a point of their own', async () => {
  const context = twoPoints();
  const inner = 'SELECT integral(v, 1m) AS v FROM m';
  const text = `SELECT count(v), sum(v) FROM (${inner}) WHERE time >= 0 AND time < 40m GROUP BY time(10m)`;

  const json = await answer(text, context);

  expect(json).toContain('"values":[[0,1,10],[600,1,20],[1200,1,10],[1800,0,null]]');
});

test('windows of a subquery that begin before the range count, whatever the other columns look back at', async () => {
  const windows = 'SELECT count(v) AS v FROM m GROUP BY time(10m)';
  const inner = `SELECT cumulative_sum(v) AS v, derivative(v) AS w FROM (${windows})`;
  const text = `SELECT count(v) FROM (${inner}) WHERE time >= 3m AND time < 30m GROUP BY time(10m)`;

  const json = await answer(text, twoPoints());

  expect(json).toContain('"values":[[0,1],[600,0],[1200,1]]');
});

test.each(['m', '(SELECT v, i FROM m)'])(
  'an integral of integers has the time of the side of the range that points of %s come from, one of floats the epoch',
  async (from) => {
    const source = new MemorySource();
    source.addPolicy(DATABASE, 'autogen', 10_080n * MINUTE);
    const point = (minute: bigint, v: number) =>
      ({
        measurement: 'm',
        tags: [],
        fields: [
          ['v', v],
          ['i', BigInt(v)],
        ],
        time: minute * MINUTE,
      }) as const;
    source.write(DATABASE, 'autogen', [point(5n, 2), point(25n, 2)]);
    const context = await contextOf(source, { now: 60n * MINUTE });
    const integral = (field: string, range: string) =>
      answer(`SELECT integral(${field}, 1m), count(${field}) FROM ${from} ${range}`, context);

    const within = 'WHERE time >= 2m AND time < 40m';
    expect(await integral('i', '')).toContain('[[0,40,2]]');
    expect(await integral('i', within)).toContain('[[120,40,2]]');
    expect(await integral('i', `${within} ORDER BY time DESC`)).toContain(
      '[[2400,-40,null],[120,null,2]]',
    );
    // A lone point on that side has none.
    expect(await integral('i', 'WHERE time >= 25m')).toContain('[[1500,null,1]]');

    expect(await integral('v', within)).toContain('[[0,40,null],[120,null,2]]');
    expect(await integral('v', `${within} ORDER BY time DESC`)).toContain(
      '[[120,null,2],[0,-40,null]]',
    );
    expect(await integral('v', 'WHERE time >= 25m')).toContain('[[0,0,null],[1500,null,1]]');
  },
);
