// Bad points: each mistake is an error of its node with a sample in the log, and the task keeps
// running.
import type { FieldValue } from '@tidemark/core';
import { systemClock } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import { expect, test } from 'vitest';
import { SeriesTable } from './data/series.ts';
import { PointBatchBuilder } from './point-batch.ts';
import type { InlineTask } from './task.ts';
import { createTask } from './task.ts';
import { silentServices } from './testing/silent-services.ts';

type Row = readonly [at: number, fields: Readonly<Record<string, FieldValue>>];

const GOOD: Row = [100, { v: 6, w: 3, i: 6n, j: 3n, s: 'a' }];
const LATER: Row = [101, { v: 8, w: 4, i: 8n, j: 4n, s: 'b' }];

function start(chain: string): { task: InlineTask; logs: string[] } {
  const { pipeline, error } = buildPipeline(`stream|from()${chain}|httpOut('o')`);
  if (pipeline === undefined) throw new Error(error?.text);
  const logs: string[] = [];
  const services = silentServices({
    log: {
      log: (level, node, message, context) =>
        void logs.push(`${level} ${node} ${message}: ${String(context?.['err'] ?? '')}`),
    },
  });
  const thread = { series: new SeriesTable() };
  const options = { taskId: 't', clock: systemClock() };
  return { task: createTask(pipeline, services, options, thread), logs };
}

function write(task: InlineTask, rows: readonly Row[]): void {
  const builder = new PointBatchBuilder('d', 'r');
  for (const [at, fields] of rows) {
    const time = BigInt(at) * 1_000_000_000n;
    builder.add({ name: 'm', tags: [['h', 'a']], fields: Object.entries(fields), time });
  }
  task.push(builder.build());
}

test.each<{
  readonly name: string;
  readonly chain: string;
  readonly bad: Row;
  readonly log: RegExp;
}>([
  {
    name: 'a missing field in an expression',
    chain: `|eval(lambda: "v" + "w").as('r')`,
    bad: [50, { v: 1 }],
    log: /eval2.*float \+ missing/,
  },
  {
    name: 'a missing field in a condition',
    chain: `|where(lambda: "v" > 1.0)`,
    bad: [50, { w: 1 }],
    log: /where2.*"v"/,
  },
  {
    name: 'a missing field in a function',
    chain: `|difference('v')`,
    bad: [50, { w: 1 }],
    log: /difference2.*v/,
  },
  {
    name: 'a field that changes its type in an expression',
    chain: `|eval(lambda: "v" * 2.0).as('r')`,
    bad: [50, { v: 'text' }],
    log: /eval2.*string/,
  },
  {
    name: 'a field that changes its type in a function',
    chain: `|derivative('v')`,
    bad: [50, { v: 'text' }],
    log: /derivative2/,
  },
  {
    name: 'a division of integers by zero',
    chain: `|eval(lambda: "i" / "j").as('r')`,
    bad: [50, { i: 1n, j: 0n }],
    log: /eval2.*divide by zero/,
  },
  {
    name: 'a text that is no number',
    chain: `|eval(lambda: float("v")).as('r')`,
    bad: [50, { v: 'x' }],
    log: /eval2/,
  },
])('$name is counted and logged, and the task goes on', ({ chain, bad, log }) => {
  const { task, logs } = start(chain);

  write(task, [bad, GOOD, LATER]);

  const errors = [...task.stats().nodes.values()].reduce((sum, node) => sum + node.errors, 0);
  expect({ errors, error: task.error }).toEqual({ errors: 1, error: undefined });
  expect(logs).toEqual([expect.stringMatching(log)]);
  expect(newest(task)).toBe(101_000_000_000n);
});

test('floats that are no numbers pass through conditions and functions without an end', () => {
  const { task } = start(
    `|eval(lambda: "v" / "w").as('q').keep()|where(lambda: "q" != 0.0)|window().period(10s).every(10s)|percentile('q', 50.0)`,
  );

  write(task, [
    [1, { v: 0, w: 0 }],
    [2, { v: 1, w: 0 }],
    [3, { v: -1, w: 0 }],
    [4, { v: 6, w: 3 }],
    [20, { v: 1, w: 1 }],
  ]);

  expect(task.error).toBeUndefined();
  expect(task.stats().nodes.get('percentile5')).toMatchObject({ emitted: 1 });
});

test('a pattern that takes other engines exponential time is matched in time linear in the text', () => {
  const { task } = start(`|where(lambda: "s" =~ /^(a+)+$/)`);

  // Backtracking would take longer than the universe has existed.
  write(task, [
    [1, { s: `${'a'.repeat(5_000)}!` }],
    [2, { s: 'aaa' }],
  ]);

  expect(task.error).toBeUndefined();
  expect(task.httpOutput('o')).toMatchObject([{ values: [[2_000_000_000n, 'aaa']] }]);
});

test.each([
  ['window', `|window().period(10s).every(10s)|count('v')`],
  ['derivative', `|derivative('v')`],
  ['elapsed', `|elapsed('v', 1s)`],
  ['stateDuration', `|stateDuration(lambda: "v" > 0.0)`],
  ['sample', `|sample(5s)`],
  ['barrier', `|barrier().idle(1h)`],
  ['flatten', `|flatten().on('h').tolerance(1s)`],
])(
  '%s goes on behind points before the last and clocks that jump both ways',
  async (_node, chain) => {
    const { task } = start(chain);
    const at = (time: number): Row => [time, { v: 1, s: 'a' }];

    write(task, [at(100), at(40), at(101), at(4_000_000_000), at(102), at(0), at(103)]);
    write(task, [at(4_000_000_001), at(4_000_000_020), at(4_000_000_040)]);

    expect(task.error).toBeUndefined();
    expect(newest(task)).toBeGreaterThanOrEqual(4_000_000_000_000_000_000n);
    await task.close();
  },
);

/** Time of the newest point of the output. */
function newest(task: InlineTask): bigint {
  const [row] = task.httpOutput('o') ?? [];
  const time = row?.values?.at(-1)?.[0];
  return typeof time === 'bigint' ? time : 0n;
}
