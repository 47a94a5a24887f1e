// What small queries allocate is young garbage: none of it is kept among the old objects.
import { getHeapSpaceStatistics } from 'node:v8';

import { ParseCache } from '@tidemark/influxql';
import { executeSelect, isPause } from '@tidemark/query';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { memoryDisk } from '../disk/memory-disk.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import type { InlineEngine } from '../engine/open-inline.ts';
import { queryContext, write } from '../testing/fixtures.ts';

let engine: InlineEngine;
const texts = new ParseCache({});

beforeAll(async () => {
  const options = { directory: '/old-garbage', hasBackgroundWork: false };
  engine = await openStorageInline(options, { disk: memoryDisk() });
  const lines = Array.from({ length: 100 }, (_, i) => `m,t=${i % 2},u=${i % 3} f=${i} ${i}\n`);
  await write(engine, lines.join(''));
});

afterAll(() => engine.close());

async function run(text: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const [statement] = texts.parse(text).query.statements;
    if (statement?.kind !== 'select') throw new Error('not a SELECT');
    const snapshot = engine.source.snapshot();
    for (const step of executeSelect(statement, queryContext(engine, snapshot))) {
      if (isPause(step)) await step;
    }
    snapshot.close();
    // Nothing of a query that has ended is left when it is the second collection for it.
    if (i % 10 === 0) void globalThis.gc?.({ type: 'minor' });
  }
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
}

test.each([
  ['aggregates', `SELECT max(f) FROM m WHERE t = '1' AND u = '1' AND time < 90`],
  ['windows', `SELECT max(f) FROM m WHERE (t = '1' OR t = '0') AND time < 90 GROUP BY time(10ns)`],
  ['functions of rows', `SELECT stddev(f) FROM m WHERE t =~ /1/ AND time < 90`],
  ['rows', `SELECT f FROM m WHERE t = '1' AND time < 90 LIMIT 5`],
  ['a subquery', `SELECT max(f) FROM (SELECT f FROM m WHERE time < 90 LIMIT 5) WHERE time < 90`],
])('%s', async (_name, text) => {
  const count = 1000;
  await run(text, count);
  const before = oldBytes();
  await run(text, count);

  expect((oldBytes() - before) / count).toBeLessThan(2000);
});
