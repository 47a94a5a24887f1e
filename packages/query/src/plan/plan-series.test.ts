import { expect, test } from 'vitest';

import { describePlan } from './describe-plan.ts';
import { planSeries } from './plan-series.ts';
import { draw } from './tree.ts';

test('a read of series is a plan like that of a SELECT', () => {
  const target = { database: 'p', retentionPolicy: 'autogen' };
  const plan = planSeries({
    measurements: ['down', 'up'].map((measurement) => ({ ...target, measurement })),
    field: { name: 'value', type: 'float' },
    range: { start: 0n, end: 1n },
    where: { kind: 'tag', key: 'job', operator: '!=', value: 'a' },
  });

  expect(draw(describePlan(plan)).join('\n')).toMatchInlineSnapshot(`
    "select: value
    ├── scan p.autogen.down: value
    │   └── where job != 'a'
    └── scan p.autogen.up: value
        └── where job != 'a'"
  `);
});
