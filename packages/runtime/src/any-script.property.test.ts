// With any script and any points, a task starts or says why not, and keeps running: no point can
// end it, except where the language ends tasks. SOAK_SCRIPTS=100000 runs the long version.
import type { FieldValue } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { streamScript } from '../../../tests/compat/composed-scripts.ts';
import { SCRIPT_RUNS, SCRIPT_TIMEOUT_MS } from '../../../tests/compat/mutated-scripts.ts';
import { rowsJson } from './data/rows.ts';
import { StartError } from './node.ts';
import type { PointInput } from './point-batch.ts';
import { PointBatchBuilder } from './point-batch.ts';
import type { InlineTask } from './task.ts';
import { createTask } from './task.ts';
import { RememberingTopics } from './testing/remembering-topics.ts';
import { silentServices } from './testing/silent-services.ts';
import { VirtualTimers } from './timers.ts';

const SECOND = 1_000_000_000n;
const START = 1_704_067_200n * SECOND;

/**
 * A template that asks for what is not there ends its task, and so does a combination of too many
 * points.
 */
const ENDED = /template: |refusing to perform combination/;

const values: Readonly<Record<string, fc.Arbitrary<FieldValue>>> = {
  v: fc.constantFrom(0, -1, 2.5, 1e300, -0, 90),
  w: fc.constantFrom(0, 1, -2.25),
  n: fc.constantFrom(0n, 3n, -(2n ** 63n)),
  s: fc.constantFrom('', 'abc', 'ü\u2028'),
  b: fc.boolean(),
};

const point = fc
  .record({
    name: fc.constantFrom('m', 'm', 'n'),
    tags: fc.subarray([
      ['h', 'a'],
      ['k', 'x'],
      ['v', 'both'],
    ] as const),
    step: fc.integer({ min: -1, max: 3 }),
    fields: fc.record(values, { requiredKeys: [] }),
    strange: fc.boolean(),
  })
  .map(({ fields, strange, ...rest }) => {
    const named = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    // Types may change from point to point.
    const given = strange || named.length === 0 ? [['v', 7n] as const] : named;
    return { ...rest, fields: given };
  });

const points = fc.array(point, { minLength: 1, maxLength: 25 }).map((list) => {
  let time = START;
  return list.map(({ step, ...rest }): PointInput => {
    time += BigInt(step) * SECOND;
    return { ...rest, time };
  });
});

type World = { readonly timers: VirtualTimers; readonly make: () => InlineTask | undefined };

function worldOf(pipeline: Pipeline): World {
  const timers = new VirtualTimers(START);
  const clock = {
    now: () => timers.now(),
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  const services = silentServices({ alerts: new RememberingTopics() });
  const make = (): InlineTask | undefined => {
    try {
      return createTask(pipeline, services, { taskId: 't', clock, timers });
    } catch (error) {
      expect(error).toBeInstanceOf(StartError);
      return undefined;
    }
  };
  return { timers, make };
}

function push(task: InlineTask, some: readonly PointInput[]): void {
  const builder = new PointBatchBuilder('d', 'r');
  for (const each of some) builder.add(each);
  task.push(builder.build());
}

/** Runs a task, stopped and restored halfway; why it ended. */
async function run(pipeline: Pipeline, some: readonly PointInput[]): Promise<string | undefined> {
  const { timers, make } = worldOf(pipeline);
  const first = make();
  if (first === undefined) return undefined;
  const half = Math.floor(some.length / 2);
  push(first, some.slice(0, half));
  timers.advanceTo(timers.now() + 3n * SECOND);
  if (first.error !== undefined) return first.error;
  const second = make() as InlineTask;
  second.restore(structuredClone(first.snapshot()));
  push(second, some.slice(half));
  timers.advanceTo(timers.now() + 90n * SECOND);
  const rows = second.httpOutput('o');
  if (rows !== undefined && rows !== null) JSON.parse(rowsJson(rows));
  await second.close();
  return second.error;
}

test('a composed script runs to its end', { timeout: SCRIPT_TIMEOUT_MS }, async () => {
  await fc.assert(
    fc.asyncProperty(streamScript, points, async (script, some) => {
      const { pipeline, checkStart } = buildPipeline(script);
      // The engine reports mistakes that only the start of a task finds, such as edges of two
      // kinds.
      fc.pre(checkStart?.({ dbrps: [{ database: 'd', retentionPolicy: 'r' }] }).length === 0);

      const error = await run(pipeline as Pipeline, some);

      if (error !== undefined) expect(error).toMatch(ENDED);
    }),
    { numRuns: Math.ceil(SCRIPT_RUNS / 4) },
  );
});
