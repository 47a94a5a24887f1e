import { expect, test } from 'vitest';

import { MemorySource } from '../testing/memory-source.ts';
import { contextOf, DATABASE, driverOf, SECOND } from '../testing/run-statement.ts';
import { describePlan } from './describe-plan.ts';
import { planSeries } from './plan-series.ts';
import { draw } from './tree.ts';

test('a read of series is planned as a SELECT with its conditions', async () => {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  const points = ['up', 'down', 'around'].map((measurement) => ({
    measurement,
    tags: [['job', 'b']] as const,
    fields: [['value', 1]] as const,
    time: SECOND,
  }));
  source.write(DATABASE, 'autogen', points);
  const context = contextOf(source);
  const planned = async (value: string, end: bigint): Promise<string> => {
    const plan = planSeries(
      {
        source: { database: DATABASE, retentionPolicy: 'autogen', pattern: '^(?:.*)$' },
        isRead: (measurement) => measurement !== 'around',
        field: 'value',
        range: { start: 0n, end },
        tags: [{ key: 'job', operator: '!=', value }],
      },
      context,
    );
    return draw(describePlan(await driverOf(context).result(plan))).join('\n');
  };

  expect(await planned('a', SECOND)).toMatchInlineSnapshot(`
    "select: value
    ├── scan db.autogen.down: value
    │   └── where job != 'a'
    └── scan db.autogen.up: value
        └── where job != 'a'"
  `);
  expect(await planned('other', 2n * SECOND)).toContain("where job != 'other'");
});
