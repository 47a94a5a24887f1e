// Points that keep their own times inside windows: the query around them counts in windows of its own.
import { parseQuery } from '@tidemark/influxql';
import { expect, test } from 'vitest';

import { executeSelect } from '../executor.ts';
import { DEFAULT_QUERY_LIMITS } from '../limits.ts';
import { writeResults } from '../output/write-results.ts';
import { MemorySource } from '../testing/memory-source.ts';

const MINUTE = 60_000_000_000n;

test('windows around points of top in larger windows are those of the points', async () => {
  const source = new MemorySource();
  source.addPolicy('db', 'autogen', 10_080n * MINUTE);
  const point = (host: string, minute: bigint, v: number) =>
    ({
      measurement: 'm',
      tags: [['host', host]],
      fields: [['v', v]],
      time: minute * MINUTE,
    }) as const;
  // The first group's point is the later one.
  source.write('db', 'autogen', [point('a', 16n, 11), point('b', 6n, -13)]);
  const inner = 'SELECT top(v, 1) AS v FROM m GROUP BY time(1h), host';
  const text = `SELECT min(v) FROM (${inner}) WHERE time >= 0 AND time < 30m GROUP BY time(10m)`;
  const [statement] = parseQuery(text).query.statements;
  if (statement?.kind !== 'select') throw new Error('a SELECT');
  const context = {
    snapshot: await source.snapshot(),
    capabilities: source.capabilities,
    catalog: {
      hasDatabase: () => true,
      hasRetentionPolicy: () => true,
      defaultRetentionPolicy: () => 'autogen',
      retentionPolicies: () => ['autogen'],
    },
    database: 'db',
    now: 60n * MINUTE,
    limits: DEFAULT_QUERY_LIMITS,
    signal: new AbortController().signal,
    monotonicMs: () => 0,
    random: () => 0,
  };

  const pieces: Uint8Array[] = [];
  const run = () => executeSelect(statement, context);
  for await (const piece of writeResults([{ run }], { encoding: 'json', epoch: 'm' })) {
    pieces.push(piece);
  }

  expect(Buffer.concat(pieces).toString()).toContain('"values":[[0,-13],[10,11],[20,null]]');
});
