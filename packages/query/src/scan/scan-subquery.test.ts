// Points that keep their own times inside windows: the query around them counts in windows of its
// own.
import { expect, test } from 'vitest';

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
