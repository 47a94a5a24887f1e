import { expect, test } from 'vitest';

import { MemorySource } from '../testing/memory-source.ts';
import { contextOf, DATABASE, drain, SECOND } from '../testing/run-statement.ts';

test('INTO hands rows with long texts and long tags over in bodies of a few megabytes', async () => {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  const long = 'x'.repeat(20_000);
  source.write(
    DATABASE,
    'autogen',
    Array.from({ length: 500 }, (_, i) => ({
      measurement: 'm',
      tags: [['h', `${i % 2}${long}`]] as const,
      fields: [['s', `${i}${long}`]] as const,
      time: BigInt(i),
    })),
  );
  const bodies: number[] = [];
  const sink = {
    write: () => Promise.reject(new Error('these rows can be lines')),
    writeLines: (_target: unknown, body: Uint8Array) => {
      bodies.push(body.length);
      return Promise.resolve();
    },
  };

  await drain('SELECT s INTO copy FROM m GROUP BY h', contextOf(source, { sink }));

  expect(bodies.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(20_000_000);
  for (const size of bodies) expect(size).toBeLessThan(5 << 20);
});
