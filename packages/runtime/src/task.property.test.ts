// Properties of whole tasks: neither the division of input into writes nor a stop and restore in
// between changes the output; windows and state nodes equal naive models.
import { buildPipeline } from '@tidemark/pipeline';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PointInput } from './point-batch.ts';
import { PointBatchBuilder } from './point-batch.ts';
import { createTask } from './task.ts';
import type { InlineTask } from './task.ts';
import { RememberingTopics } from './testing/remembering-topics.ts';
import { silentServices } from './testing/silent-services.ts';
import { VirtualTimers } from './timers.ts';

const SECOND = 1_000_000_000n;
const START = 1_704_067_200n * SECOND;
/** From the first of January of year one, where truncation of times begins, to 1970. */
const YEAR_ONE_SECONDS = 62_135_596_800n;

/** A script's task whose last node's output is written down. */
class Bench {
  readonly out: string[] = [];
  readonly topics = new RememberingTopics();
  readonly #script: string;
  task: InlineTask;

  constructor(script: string) {
    this.#script = script;
    this.task = this.#make();
  }

  #make(): InlineTask {
    const { pipeline, error } = buildPipeline(this.#script);
    if (pipeline === undefined) throw new Error(error?.text);
    const timers = new VirtualTimers(START);
    const clock = {
      now: () => START,
      monotonicMs: () => 0,
      sleep: () => new Promise<void>(() => undefined),
    };
    const task = createTask(pipeline, silentServices({ alerts: this.topics }), {
      taskId: 't',
      clock,
      timers,
    });
    const last = pipeline.nodes.at(-1)?.name ?? '';
    task.tap(last, (message) => {
      const text = JSON.stringify(message, (_, value: unknown) => {
        if (typeof value === 'bigint') return `${value}n`;
        return value instanceof Map ? [...(value as Map<string, unknown>)] : value;
      });
      this.out.push(text);
    });
    return task;
  }

  push(points: readonly PointInput[]): void {
    const builder = new PointBatchBuilder('d', 'r');
    for (const point of points) builder.add(point);
    this.task.push(builder.build());
    expect(this.task.error).toBeUndefined();
  }

  restart(): void {
    const snapshot = structuredClone(this.task.snapshot());
    this.task = this.#make();
    this.task.restore(snapshot);
  }
}

const point = fc
  .record({
    name: fc.constantFrom('m', 'm', 'm', 'n'),
    host: fc.constantFrom('a', 'b', 'c', ''),
    rack: fc.constantFrom('1', '2'),
    step: fc.integer({ min: -2, max: 12 }),
    v: fc.integer({ min: 0, max: 40 }).map((i) => i / 4),
    kind: fc.constantFrom('float', 'float', 'float', 'int', 'string', 'none'),
  })
  .map(({ name, host, rack, step, v, kind }) => ({ name, host, rack, step, v, kind }));

const points = fc.array(point, { minLength: 1, maxLength: 60 }).map((list) => {
  let time = START;
  return list.map(({ name, host, rack, step, v, kind }): PointInput => {
    time += BigInt(step) * SECOND;
    const fields: [string, number | bigint | string][] = [['w', v * 2]];
    if (kind === 'float') fields.push(['v', v]);
    if (kind === 'int') fields.push(['v', BigInt(Math.floor(v))]);
    if (kind === 'string') fields.push(['v', 'text']);
    const tags: [string, string][] = [['rack', rack]];
    if (host !== '') tags.push(['host', host]);
    return { name, tags, fields, time };
  });
});

const FROM = `stream|from().measurement('m').groupBy('host')`;
const SCRIPTS: readonly (readonly [string, string])[] = [
  [
    'where and eval',
    `${FROM}|where(lambda: "w" > 3.0)|eval(lambda: "w" * 2.0, lambda: count()).as('x', 'n').keep()`,
  ],
  ['stateful lambdas', `${FROM}|eval(lambda: sigma("w") + spread("w")).as('s')`],
  ['time window', `${FROM}|window().period(20s).every(10s)|mean('w')`],
  ['aligned window', `${FROM}|window().period(10s).every(10s).align()|percentile('w', 50.0)`],
  ['window without every', `${FROM}|window().period(15s)|count('w')`],
  ['count window', `${FROM}|window().periodCount(4).everyCount(2)|top(2, 'w')`],
  ['sample', `${FROM}|sample(3)`],
  ['derivative', `${FROM}|derivative('w').nonNegative()`],
  ['changeDetect', `${FROM}|changeDetect('v')`],
  ['state nodes', `${FROM}|stateDuration(lambda: "w" > 5.0)|stateCount(lambda: "w" > 5.0)`],
  ['streaming functions', `${FROM}|movingAverage('w', 3).as('w')|cumulativeSum('w')`],
  ['elapsed and difference', `${FROM}|elapsed('w', 1s)`],
  ['aggregate on a stream', `${FROM}|sum('v')`],
  ['flatten', `${FROM}|flatten().on('rack').tolerance(5s)`],
  [
    'combine',
    `${FROM}|combine(lambda: "rack" == '1', lambda: "rack" == '2').as('a', 'b').tolerance(5s)`,
  ],
  [
    'join',
    `var a = ${FROM}\nvar b = stream|from().measurement('n').groupBy('host')\na|join(b).as('a', 'b').tolerance(5s).fill('null')`,
  ],
  [
    'join on',
    `var a = ${FROM}\nvar b = stream|from().measurement('n').groupBy('host', 'rack')\na|join(b).as('a', 'b').on('host').tolerance(5s).fill(0.0)`,
  ],
  ['union', `var a = ${FROM}\nvar b = stream|from().measurement('n')\na|union(b).rename('u')`],
  ['groupBy on batches', `${FROM}|window().period(10s).every(10s)|groupBy('rack')|sum('w')`],
  ['default, delete and shift', `${FROM}|default().field('d', 1.0)|delete().field('v')|shift(5s)`],
  ['distinct and mode', `${FROM}|window().period(20s).every(10s)|distinct('w')|mode('distinct')`],
  ['holtWinters', `${FROM}|window().period(60s).every(60s)|holtWinters('w', 2, 0, 10s)`],
  ['where on a batch', `${FROM}|window().period(20s).every(10s)|where(lambda: count() > 2)`],
  [
    'join of batches',
    `var a = ${FROM}|window().period(10s).every(10s).align()\nvar b = stream|from().measurement('n').groupBy('host')|window().period(10s).every(10s).align()\na|join(b).as('a', 'b').fill('null')`,
  ],
  [
    'stream groupBy and sample',
    `stream|from()|groupBy('rack', 'host')|sample(2)|cumulativeSum('w')`,
  ],
  [
    'flapping alert',
    `${FROM}|alert().crit(lambda: "w" > 10.0).history(6).flapping(0.25, 0.5).topic('x')`,
  ],
  [
    'batch alert with reset',
    `${FROM}|window().period(10s).every(5s)|alert().warn(lambda: "w" > 8.0).warnReset(lambda: "w" < 4.0).all().topic('x').levelTag('l')`,
  ],
  [
    'alert',
    `${FROM}|alert().warn(lambda: "w" > 8.0).crit(lambda: "w" > 15.0).stateChangesOnly().topic('x').levelField('l').durationField('d')`,
  ],
];

describe('a task', () => {
  test.each(SCRIPTS)('gives the same output for any split of its input: %s', (_, script) => {
    fc.assert(
      fc.property(points, fc.array(fc.integer({ min: 1, max: 9 })), (input, sizes) => {
        const whole = new Bench(script);
        whole.push(input);

        const split = new Bench(script);
        for (const part of cut(input, sizes)) split.push(part);

        expect(split.out).toEqual(whole.out);
        expect(split.topics.events).toEqual(whole.topics.events);
      }),
      { numRuns: 20 },
    );
  });

  test.each(SCRIPTS)('goes on where it was after a restart: %s', (_, script) => {
    fc.assert(
      fc.property(points, fc.array(fc.integer({ min: 1, max: 9 })), (input, sizes) => {
        const steady = new Bench(script);
        steady.push(input);

        const restarted = new Bench(script);
        for (const part of cut(input, sizes)) {
          restarted.push(part);
          restarted.restart();
        }

        expect(restarted.out).toEqual(steady.out);
        expect(restarted.topics.events).toEqual(steady.topics.events);
      }),
      { numRuns: 20 },
    );
  });

  test('keeps what it emitted readable when others let go of what it was made of', () => {
    const script =
      `var a = ${FROM}\nvar b = stream|from().measurement('n').groupBy('host', 'rack')\n` +
      `a|join(b).as('a', 'b').on('host').tolerance(5s)|httpOut('o')\n` +
      `a|window().period(1h).every(1h)|count('w')`;
    fc.assert(
      fc.property(points, (input) => {
        const bench = new Bench(script);
        const seen = new Map<string, unknown>();
        const joined =
          [...bench.task.stats().nodes.keys()].find((name) => name.startsWith('join')) ?? '';
        bench.task.tap(joined, (message) => {
          if (message.kind !== 'point') return;
          const { fields } = message.point;
          seen.set(message.group, [...fields.values()]);
        });

        for (const each of input) bench.push([each]);

        const rows = bench.task.httpOutput('o') ?? [];
        expect(rows.map(({ values }) => values?.[0]?.slice(1))).toEqual([...seen.values()]);
        expect(() => bench.task.snapshot()).not.toThrow();
      }),
    );
  });

  test.each(SCRIPTS)('lets go of everything when its groups are deleted: %s', (_, script) => {
    fc.assert(
      fc.property(points, (input) => {
        const bench = new Bench(script);
        bench.push(input);

        for (const host of ['a', 'b', 'c', '']) {
          bench.task.deleteGroup(`host=${host}`);
          for (const rack of ['1', '2']) bench.task.deleteGroup(`host=${host},rack=${rack}`);
        }

        for (const [name, stats] of bench.task.stats().nodes) {
          const isMixed = /union|groupby|sum|join/.test(name);
          if (!isMixed) expect([name, stats.working_cardinality]).toEqual([name, 0]);
        }
      }),
      { numRuns: 10 },
    );
  });
});

function cut(input: readonly PointInput[], sizes: readonly number[]): PointInput[][] {
  const parts: PointInput[][] = [];
  let at = 0;
  for (const size of [...sizes, input.length]) {
    if (at >= input.length) break;
    parts.push(input.slice(at, at + size));
    at += size;
  }
  return parts;
}

describe('against naive models', () => {
  const values = fc.array(
    fc.record({ step: fc.integer({ min: 0, max: 7 }), v: fc.integer({ min: 0, max: 20 }) }),
    { minLength: 1, maxLength: 60 },
  );

  /** Emitted values of a field with their times, in seconds since the start. */
  function emitted(
    chain: string,
    list: readonly { time: bigint; v: number }[],
    field: string,
  ): unknown[] {
    const bench = new Bench(`stream|from().measurement('m')${chain}`);
    const seen: unknown[] = [];
    const last = [...bench.task.stats().nodes.keys()].at(-1) ?? '';
    bench.task.tap(last, (message) => {
      if (message.kind !== 'point') return;
      seen.push([Number((message.point.time - START) / SECOND), message.point.fields.get(field)]);
    });
    bench.push(list.map(({ time, v }) => ({ name: 'm', tags: [], fields: [['v', v]], time })));
    return seen;
  }

  const timed = values.map((list) => {
    let time = START;
    return list.map(({ step, v }) => {
      time += BigInt(step) * SECOND;
      return { time, v };
    });
  });

  const seconds = (time: bigint): number => Number((time - START) / SECOND);

  test('a window holds what lies in its period', () => {
    fc.assert(
      fc.property(
        timed,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        (list, period, every) => {
          const want: unknown[] = [];
          let next = seconds(list[0]?.time ?? START) + every;
          const kept: { at: number; v: number }[] = [];
          for (const { time, v } of list) {
            const at = seconds(time);
            if (at >= next) {
              const inside = kept.filter((p) => p.at >= next - period);
              want.push([next, BigInt(inside.length)]);
              next = at + every;
            }
            kept.push({ at, v });
          }

          const got = emitted(
            `|window().period(${period}s).every(${every}s)|count('v')`,
            list,
            'count',
          );

          expect(got).toEqual(want);
        },
      ),
    );
  });

  test('a derivative is the slope between neighbours', () => {
    fc.assert(
      fc.property(timed, (list) => {
        const want = list.flatMap(({ time, v }, i) => {
          const before = list[i - 1];
          if (before === undefined || before.time === time) return [];
          return [[seconds(time), (v - before.v) / (seconds(time) - seconds(before.time))]];
        });

        expect(emitted(`|derivative('v').as('d')`, list, 'd')).toEqual(want);
      }),
    );
  });

  test('stateCount counts the run of true points', () => {
    fc.assert(
      fc.property(timed, (list) => {
        const want = list.map(({ time }, i) => {
          let run = 0;
          while (i - run >= 0 && (list[i - run]?.v ?? 0) > 9) run++;
          return [seconds(time), run === 0 ? -1n : BigInt(run)];
        });

        expect(emitted(`|stateCount(lambda: "v" > 9.0)`, list, 'state_count')).toEqual(want);
      }),
    );
  });

  test('sample keeps every n-th point', () => {
    fc.assert(
      fc.property(timed, fc.integer({ min: 1, max: 5 }), (list, n) => {
        const want = list.filter((_, i) => i % n === 0).map(({ time, v }) => [seconds(time), v]);

        expect(emitted(`|sample(${n})`, list, 'v')).toEqual(want);
      }),
    );
  });

  test('a count window holds the last points', () => {
    fc.assert(
      fc.property(
        timed,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 6 }),
        (list, period, every) => {
          const want = list.flatMap(({ time }, i) => {
            if ((i + 1) % every !== 0) return [];
            const inside = list.slice(Math.max(0, i + 1 - period), i + 1);
            return [[seconds(time), inside.reduce((sum, { v }) => sum + v, 0)]];
          });

          const got = emitted(
            `|window().periodCount(${period}).everyCount(${every})|sum('v')`,
            list,
            'sum',
          );

          expect(got).toEqual(want);
        },
      ),
    );
  });

  test('an aligned tumbling window ends at multiples of its length', () => {
    fc.assert(
      fc.property(timed, fc.integer({ min: 1, max: 12 }), (list, length) => {
        const want: unknown[] = [];
        // Seconds since year one decide, of which the start of 2024 is no multiple in general.
        const floor = (time: bigint): bigint => {
          const sinceYearOne = time / SECOND + YEAR_ONE_SECONDS;
          return (sinceYearOne - (sinceYearOne % BigInt(length)) - YEAR_ONE_SECONDS) * SECOND;
        };
        let end: bigint | undefined;
        let inside: { time: bigint; v: number }[] = [];
        for (const each of list) {
          end ??= floor(each.time + BigInt(length) * SECOND);
          if (each.time >= end) {
            const from = end - BigInt(length) * SECOND;
            const kept = inside.filter(({ time }) => time >= from);
            want.push([seconds(end), kept.reduce((sum, { v }) => sum + v, 0)]);
            end = floor(each.time + BigInt(length) * SECOND);
            inside = [];
          }
          inside.push(each);
        }

        const chain = `|window().period(${length}s).every(${length}s).align()|sum('v')`;
        expect(emitted(chain, list, 'sum')).toEqual(want);
      }),
    );
  });

  test('a non-negative derivative leaves falls out and goes on from them', () => {
    fc.assert(
      fc.property(timed, (list) => {
        const want = list.flatMap(({ time, v }, i) => {
          const before = list[i - 1];
          if (before === undefined || before.time === time || v < before.v) return [];
          const minutes = (seconds(time) - seconds(before.time)) / 60;
          return [[seconds(time), (v - before.v) / minutes]];
        });

        const got = emitted(`|derivative('v').as('d').unit(1m).nonNegative()`, list, 'd');
        expect(got).toEqual(want);
      }),
    );
  });

  test('stateDuration measures from the first true point of the run', () => {
    fc.assert(
      fc.property(timed, (list) => {
        const want = list.map(({ time }, i) => {
          let first = i;
          while (first >= 0 && (list[first]?.v ?? 0) > 9) first--;
          const start = list[first + 1]?.time ?? time;
          return [seconds(time), first === i ? -1 : seconds(time) - seconds(start)];
        });

        const got = emitted(`|stateDuration(lambda: "v" > 9.0).unit(1s)`, list, 'state_duration');
        expect(got).toEqual(want);
      }),
    );
  });

  test('sample by time keeps the points on its multiples', () => {
    fc.assert(
      fc.property(timed, fc.constantFrom(2, 3, 5, 60), (list, every) => {
        const want = list
          .filter(({ time }) => (time / SECOND + YEAR_ONE_SECONDS) % BigInt(every) === 0n)
          .map(({ time, v }) => [seconds(time), v]);

        expect(emitted(`|sample(${every}s)`, list, 'v')).toEqual(want);
      }),
    );
  });

  test('changeDetect keeps what differs from the last that was kept', () => {
    fc.assert(
      fc.property(timed, (list) => {
        const want = list
          .filter(({ v }, i) => v !== list[i - 1]?.v)
          .map(({ time, v }) => [seconds(time), v]);

        expect(emitted(`|changeDetect('v')`, list, 'v')).toEqual(want);
      }),
    );
  });

  const sides = fc.array(
    fc.record({
      side: fc.constantFrom('a', 'b'),
      step: fc.integer({ min: 0, max: 4 }),
      v: fc.integer({ min: 1, max: 20 }),
    }),
    { minLength: 1, maxLength: 50 },
  );

  test.each([
    ['inner', '', undefined],
    ['filled with null', `.fill('null')`, null],
    ['filled with a number', '.fill(0.0)', 0],
  ] as const)(
    'a join, %s, pairs the points of each time in their order',
    async (_, fill, filler) => {
      await fc.assert(
        fc.asyncProperty(sides, fc.constantFrom(1, 2, 5), async (list, tolerance) => {
          let time = START;
          const input = list.map(({ side, step, v }): PointInput => {
            time += BigInt(step) * SECOND;
            return { name: side, tags: [], fields: [['v', v]], time };
          });
          const bench = new Bench(
            `var a = stream|from().measurement('a')\nvar b = stream|from().measurement('b')\n` +
              `a|join(b).as('a', 'b').tolerance(${tolerance}s)${fill}`,
          );

          bench.push(input);
          await bench.task.close();

          const got = bench.out.map((text) => {
            const { point: joined } = JSON.parse(text) as {
              point: { time: string; fields: [string, number | null][] };
            };
            const fields = new Map(joined.fields);
            return [joined.time, fields.get('a.v'), fields.get('b.v')];
          });
          expect(got).toEqual(joinedByHand(input, BigInt(tolerance) * SECOND, filler));
        }),
      );
    },
  );

  test('an inner join of a stream with itself is the stream', () => {
    fc.assert(
      fc.property(timed, (list) => {
        const bench = new Bench(
          `var a = stream|from().measurement('m')\nvar b = stream|from().measurement('m')\na|join(b).as('a', 'b')`,
        );
        bench.push(list.map(({ time, v }) => ({ name: 'm', tags: [], fields: [['v', v]], time })));

        const pairs = bench.out.map((text) => {
          const { point: joined } = JSON.parse(text) as { point: { fields: [string, number][] } };
          return joined.fields.map(([, v]) => v);
        });
        expect(pairs).toEqual(list.map(({ v }) => [v, v]));
      }),
    );
  });
});

/**
 * Rows of a join of the points of `a` and `b`: for each rounded time the first ones, the second
 * ones and so on.
 */
function joinedByHand(
  input: readonly PointInput[],
  tolerance: bigint,
  filler: number | null | undefined,
): unknown[] {
  const times = new Map<bigint, { a: number[]; b: number[] }>();
  for (const { name, fields, time } of input) {
    const shifted = time + YEAR_ONE_SECONDS * SECOND + tolerance / 2n;
    const rounded = shifted - (shifted % tolerance) - YEAR_ONE_SECONDS * SECOND;
    const sides = times.get(rounded) ?? { a: [], b: [] };
    times.set(rounded, sides);
    for (const [, value] of fields) sides[name === 'a' ? 'a' : 'b'].push(Number(value));
  }
  return [...times].flatMap(([time, { a, b }]) => {
    const count =
      filler === undefined ? Math.min(a.length, b.length) : Math.max(a.length, b.length);
    return Array.from({ length: count }, (_, i) => [`${time}n`, a[i] ?? filler, b[i] ?? filler]);
  });
}
