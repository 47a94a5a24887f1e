import { expect, test } from 'vitest';

import { planTree } from './plan-tree.ts';

test('a drawn tree is read with its times', () => {
  const [select] = planTree([
    '.',
    '└── select',
    '    ├── planning_time: 1ms',
    '    └── operators',
    '        └── reduce: total 120.5ms, own 4µs, 2 batches',
    '            └── scan: total 1s, own 1s',
  ]);

  expect(select?.text).toBe('select');
  expect(select?.children.map(({ text }) => text)).toEqual(['planning_time: 1ms', 'operators']);
  const reduce = select?.children[1]?.children[0];
  expect([reduce?.totalMs, reduce?.ownMs]).toEqual([120.5, 0.004]);
  expect(reduce?.children[0]?.totalMs).toBe(1000);
});

test('a list has one part per expression', () => {
  const tree = planTree(['EXPRESSION: mean(x)', 'NUMBER OF SHARDS: 1', '', 'EXPRESSION: <nil>']);

  expect(tree.map(({ text, children }) => [text, children.map((each) => each.text)])).toEqual([
    ['EXPRESSION: mean(x)', ['NUMBER OF SHARDS: 1']],
    ['EXPRESSION: <nil>', []],
  ]);
});
