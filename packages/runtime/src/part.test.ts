// Parts of a split task: together they do what the whole task does, with each group in one part.
import { buildPipeline, splitOf } from '@tidemark/pipeline';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SeriesTable } from './data/series.ts';
import { PartFilter, partOf } from './part.ts';
import type { TaskPart } from './part.ts';
import { PointBatchBuilder } from './point-batch.ts';
import type { PointBatch, PointInput } from './point-batch.ts';
import { createTask } from './task.ts';
import { RememberingTopics } from './testing/remembering-topics.ts';
import { silentServices } from './testing/silent-services.ts';
import { VirtualTimers } from './timers.ts';

const SECOND = 1_000_000_000n;
const HOST = { isAllBut: false, tags: ['host'] };

const series = (tags: Readonly<Record<string, string>>) =>
  new SeriesTable().intern({
    name: 'cpu',
    tagKeys: Object.keys(tags),
    tagValues: Object.values(tags),
  });

describe('the part of a series', () => {
  test('is the same in every version: states are stored by part', () => {
    const parts = ['a', 'b', 'server-17', 'größe', ''].map((host) =>
      partOf(series({ core: '1', host }), { by: HOST, count: 1000 }),
    );

    expect(parts).toMatchInlineSnapshot(`
      [
        360,
        91,
        347,
        219,
        923,
      ]
    `);
  });

  test('depends on the selected tags alone, and not on empty ones', () => {
    const part = (tags: Readonly<Record<string, string>>, by: TaskPart['by']) =>
      partOf(series(tags), { by, count: 1_000_000 });

    expect(part({ core: '1', host: 'a' }, HOST)).toBe(part({ dc: 'x', host: 'a' }, HOST));
    expect(part({ host: 'a', rack: '' }, { isAllBut: true, tags: [] })).toBe(
      part({ host: 'a' }, HOST),
    );
    expect(part({ core: '1', host: 'a' }, { isAllBut: true, tags: ['core'] })).toBe(
      part({ host: 'a' }, HOST),
    );
  });

  test('is each of them about as often', () => {
    const counts = [0, 0, 0, 0, 0];
    for (let i = 0; i < 10_000; i++) {
      const part = partOf(series({ host: `host-${i}` }), { by: HOST, count: 5 });
      counts[part] = (counts[part] ?? 0) + 1;
    }

    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(200);
  });

  test('is remembered, also when the table of series begins anew', () => {
    const table = new SeriesTable(4);
    const filter = new PartFilter({ index: 0, count: 2, by: HOST }, table);

    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 2000; i += 7) {
        const each = table.intern({ name: 'cpu', tagKeys: ['host'], tagValues: [`h${i}`] });
        expect(filter.has(each)).toBe(partOf(each, { by: HOST, count: 2 }) === 0);
      }
    }
  });
});

type Outcome = {
  /** The output of the last node, by group, in order. */
  readonly byGroup: Map<string, string[]>;
  readonly events: Map<string, string[]>;
  readonly counters: Map<string, readonly [collected: number, emitted: number, errors: number]>;
};

async function run(
  script: string,
  writes: readonly PointBatch[],
  parts: readonly (number | undefined)[],
): Promise<Outcome> {
  const { pipeline, error } = buildPipeline(script);
  if (pipeline === undefined) throw new Error(error?.text);
  const { by } = splitOf(pipeline);
  if (by === undefined) throw new Error('the script is not split');
  const outcome: Outcome = { byGroup: new Map(), events: new Map(), counters: new Map() };
  for (const index of parts) {
    const timers = new VirtualTimers(0n);
    const alerts = new RememberingTopics();
    const publish = alerts.publish.bind(alerts);
    alerts.publish = (topic, event) => {
      note(outcome.events, event.id, `${topic} ${event.level} ${event.time}`);
      publish(topic, event);
    };
    const clock = {
      now: () => timers.now(),
      monotonicMs: () => 0,
      sleep: () => new Promise<void>(() => undefined),
    };
    const part = index === undefined ? undefined : { index, count: parts.length, by };
    const options = { taskId: 't', clock, timers, part };
    const task = createTask(pipeline, silentServices({ alerts }), options);
    await task.start();
    task.tap(pipeline.nodes.at(-1)?.name ?? '', (message) => {
      const text = JSON.stringify(message, (_, value: unknown) => {
        if (typeof value === 'bigint') return `${value}n`;
        return value instanceof Map ? [...(value as Map<string, unknown>)] : value;
      });
      note(outcome.byGroup, 'group' in message ? message.group : '', text);
    });
    for (const batch of writes) task.pushDue(batch, { offset: 0n });
    for (const [name, { collected, emitted, errors }] of task.stats().nodes) {
      const [c, e, f] = outcome.counters.get(name) ?? [0, 0, 0];
      outcome.counters.set(name, [c + collected, e + emitted, f + errors]);
    }
    expect(task.error).toBeUndefined();
    await task.close();
  }
  return outcome;
}

function note(lists: Map<string, string[]>, key: string, text: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [text]);
  else list.push(text);
}

const SCRIPTS: readonly (readonly [name: string, script: string])[] = [
  [
    'windows',
    `stream|from().measurement('cpu').groupBy('host')|window().period(4s).every(2s)|mean('v')|alert().warn(lambda: "mean" > 4.0).crit(lambda: "mean" > 6.0).stateChangesOnly()`,
  ],
  [
    'all tags, then some',
    `stream|from().groupBy(*)|derivative('v')|groupBy('host')|stateCount(lambda: "v" > 0.0)|changeDetect('state_count')`,
  ],
  [
    'a condition before the grouping',
    `stream|from().where(lambda: "v" > 1.0)|where(lambda: "host" != 'h1')|groupBy('core')|where(lambda: count() % 2 == 0)|cumulativeSum('v')|httpOut('x')`,
  ],
  [
    'joins',
    `var a = stream|from().measurement('cpu').groupBy('host')|window().period(2s).every(2s)|sum('v')
var b = stream|from().measurement('mem').groupBy('host')|window().period(2s).every(2s)|max('v')
a|join(b).as('a', 'b').tolerance(2s)|eval(lambda: "a.sum" - "b.max").as('d')|alert().info(lambda: "d" > 0.0).flapping(0.2, 0.6).history(5)`,
  ],
  [
    'joins on fewer tags',
    `var a = stream|from().measurement('cpu').groupBy('host', 'core')|last('v')
var b = stream|from().measurement('mem').groupBy('host')|last('v')
a|join(b).as('a', 'b').on('host').tolerance(1s)|log()`,
  ],
  [
    'ids of fewer tags',
    `stream|from().groupBy('host', 'core')|barrier().period(3s)|sample(2)|alert().id('{{ index .Tags "host" }}').crit(lambda: "v" > 5.0).inhibit('x', 'host')|alert().category('x').crit(lambda: "v" > 4.0)`,
  ],
  [
    'rows of several tags',
    `stream|from().groupBy('host')|flatten().on('core').tolerance(1s)|log()`,
  ],
  [
    'combinations',
    `stream|from().groupBy('host')|combine(lambda: TRUE, lambda: "core" == 'c1').as('a', 'b').tolerance(1s)|log()`,
  ],
];

const point: fc.Arbitrary<PointInput> = fc
  .record({
    name: fc.constantFrom('cpu', 'mem'),
    host: fc.constantFrom('h1', 'h2', 'h3', 'h4', 'h5', ''),
    core: fc.constantFrom('c1', 'c2', ''),
    v: fc.integer({ min: 0, max: 9 }),
    at: fc.integer({ min: 0, max: 30 }),
  })
  .map(({ name, host, core, v, at }) => ({
    name,
    tags: [
      ['core', core],
      ['host', host],
    ],
    fields: [['v', v]],
    time: BigInt(at) * SECOND,
  }));

describe('parts together do what the whole task does', () => {
  test.each(SCRIPTS)('%s', async (_, script) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(point, { minLength: 1, maxLength: 8 }), { maxLength: 12 }),
        fc.integer({ min: 2, max: 4 }),
        fc.boolean(),
        async (points, count, isSorted) => {
          const flat = isSorted ? points.flat().sort((a, b) => (a.time < b.time ? -1 : 1)) : [];
          const writes = (isSorted ? [flat] : points).map((list) => {
            const builder = new PointBatchBuilder('d', 'r');
            for (const each of list) builder.add(each);
            return builder.build();
          });

          const whole = await run(script, writes, [undefined]);
          const parts = await run(
            script,
            writes,
            Array.from({ length: count }, (__, i) => i),
          );

          expect(Object.fromEntries(parts.byGroup)).toEqual(Object.fromEntries(whole.byGroup));
          expect(Object.fromEntries(parts.events)).toEqual(Object.fromEntries(whole.events));
          expect(parts.counters).toEqual(whole.counters);
        },
      ),
      { numRuns: 20 },
    );
  });
});
