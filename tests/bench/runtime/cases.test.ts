// Every node that a script can make has a benchmark, and every benchmark works.
import { NODES as REGISTRY } from '@tidemark/pipeline';
import { EXECUTABLE_NODE_TYPES } from '@tidemark/runtime';
import { expect, test } from 'vitest';
import { pipelinesOf, runCase } from './case-runner.ts';
import { COMPARED, NODES } from './cases.ts';

const ROWS = 400;

test('every node of the registry has a benchmark, user-defined functions too', () => {
  const measured = new Set(
    NODES.flatMap(pipelinesOf).flatMap(({ nodes }) => nodes.map(({ type }) => type)),
  );

  const wanted = [...REGISTRY.map(({ type }) => type), ...EXECUTABLE_NODE_TYPES];

  expect(wanted.filter((type) => !measured.has(type))).toEqual([]);
  expect(wanted.length).toBeGreaterThan(100);
});

test('a benchmark is named after a node that it has', () => {
  const names = new Set<string>(REGISTRY.map(({ type }) => type));
  const wrong = NODES.filter((bench) => {
    const [name = ''] = bench.name.split(' ');
    const types = pipelinesOf(bench).flatMap(({ nodes }) => nodes.map(({ type }) => type));
    return names.has(name) && !types.includes(name as (typeof types)[number]);
  });

  expect(wrong).toEqual([]);
});

// The sample's process takes seconds to start; it is a test of its own in packages/runtime.
const QUICK = [...COMPARED, ...NODES].filter(({ hasProcess }) => hasProcess !== true);

test.each(QUICK.map((bench) => [bench.name, bench] as const))(
  'the benchmark %s runs, and its nodes get points',
  async (_name, bench) => {
    const { collectedCount } = await runCase({ ...bench, hostCount: 4 }, ROWS);

    expect(collectedCount).toBeGreaterThanOrEqual(ROWS / 100);
  },
);

test('the filter of texts lets the eighth of the rows pass that are errors', async () => {
  const bench = COMPARED.find(({ name }) => name === 'text-filter');
  if (bench === undefined) throw new Error('there is no such benchmark');

  const { collectedCount } = await runCase({ ...bench, hostCount: 4 }, ROWS);
  const { collectedCount: none } = await runCase(
    {
      ...bench,
      hostCount: 4,
      scripts: bench.scripts.map((text) => text.replace("'error'", "'x'")),
    },
    ROWS,
  );

  // The function and the output take what passes.
  expect(collectedCount - none).toBe(2 * (ROWS / 8));
});

test('the alert that quotes texts has an event for each error', async () => {
  const bench = COMPARED.find(({ name }) => name === 'text-alert');
  if (bench === undefined) throw new Error('there is no such benchmark');

  const { eventCount } = await runCase({ ...bench, hostCount: 4 }, ROWS);

  expect(eventCount).toBeGreaterThanOrEqual(ROWS / 8);
});
