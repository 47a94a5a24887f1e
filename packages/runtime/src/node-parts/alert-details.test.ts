// Details that are written directly equal those that the template prints.
import { buildPipeline } from '@tidemark/pipeline';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PointBatchBuilder } from '../point-batch.ts';
import type { AlertEvent } from '../services.ts';
import { createTask } from '../task.ts';
import { silentAlerts, silentServices } from '../testing/silent-services.ts';
import { VirtualTimers } from '../timers.ts';

/** The same twice: the second one is not known as the default. */
const DETAILS = ['{{ json . }}', '{{ . | json }}'] as const;

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 6 }),
  fc.constantFrom('<b>&amp;"+\'', 'ü\u2028', '\u0000\ud800', '__proto__', 'constructor'),
);
const field = fc.oneof(
  fc.double(),
  fc.constantFrom(1e21, -1e21, 1e-7, -0, 1e300, Number.NaN, Number.POSITIVE_INFINITY),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.boolean(),
  text,
);
const row = fc.record({
  name: text,
  tags: fc.uniqueArray(fc.tuple(text, text), { maxLength: 3, selector: ([key]) => key }),
  fields: fc.uniqueArray(fc.tuple(text, field), {
    minLength: 1,
    maxLength: 5,
    selector: ([key]) => key,
  }),
  time: fc.bigInt(0n, 2n ** 62n),
});

test('events of the default details and of the template for them are the same', () => {
  const grouping = fc.constantFrom('|groupBy(*)', "|groupBy('a').byMeasurement()", '');
  const window = fc.constantFrom('', '|window().periodCount(2).everyCount(2)');
  fc.assert(
    fc.property(fc.array(row, { maxLength: 6 }), grouping, window, (rows, group, batches) => {
      const make = (details: string): unknown =>
        run(
          `stream|from()${group}${batches}|alert().crit(lambda: TRUE).id('{{ .Name }}&{{ .Group }}').details('${details}').topic('t')`,
          rows,
        );
      expect(make(DETAILS[0])).toEqual(make(DETAILS[1]));
    }),
    { numRuns: 60 },
  );
});

type Rows = Parameters<PointBatchBuilder['add']>[0][];

/** Events that were published, and why the task ended. */
function run(script: string, rows: Rows): { events: AlertEvent[]; error: string | undefined } {
  const { pipeline, error } = buildPipeline(script);
  if (pipeline === undefined) throw new Error(error?.text);
  const events: AlertEvent[] = [];
  const timers = new VirtualTimers(0n);
  const alerts = {
    inhibitions: silentAlerts.inhibitions,
    openAnonymousTopic: () => undefined,
    closeAnonymousTopic: () => undefined,
    openTopic: () => undefined,
    publish: (_topic: string, event: AlertEvent) => void events.push(event),
    lastCause: () => undefined,
    eventState: () => undefined,
    updateEvent: () => undefined,
  };
  const clock = {
    now: () => timers.now(),
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  const task = createTask(pipeline, silentServices({ alerts }), { taskId: 't', clock, timers });
  const builder = new PointBatchBuilder('d', 'r');
  for (const each of rows) builder.add(each);
  task.push(builder.build());
  // Where in the template it is, is different.
  return { events, error: task.error?.replace(/:1:\d+: executing "details" at <.*?>/, '') };
}

test('a series that alerts again has the id and the tags of its own', () => {
  const rows = Array.from({ length: 2200 }, (_, i) => ({
    name: 'm',
    tags: [['h', `h${(i * 7) % 1100}`]] as const,
    fields: [['v', i]] as const,
    time: BigInt(i),
  }));
  const { events } = run(`stream|from().groupBy('h')|alert().crit(lambda: TRUE).topic('t')`, rows);

  expect(events).toHaveLength(2200);
  events.forEach(({ id, details, message }, i) => {
    const host = `h${(i * 7) % 1100}`;
    expect(id).toBe(`m:h=${host}`);
    expect(message).toBe(`m:h=${host} is CRITICAL`);
    const read = JSON.parse(details.replaceAll('&#34;', '"')) as Record<string, unknown>;
    expect(read).toMatchObject({ ID: id, Tags: { h: host }, Fields: { v: i }, Message: message });
  });
});

test('a batch without groups has null for its tags, a point and a grouped batch have a map', () => {
  const details = (nodes: string): string | undefined => {
    const script = `stream|from()${nodes}|alert().crit(lambda: TRUE).topic('t')`;
    const rows = [0n, 1n].map((time) => ({
      name: 'm',
      tags: [],
      fields: [['v', 1] as const],
      time,
    }));
    return run(script, rows).events[0]?.details.match(/Tags&#34;:([^,]*),/)?.[1];
  };
  const window = '|window().periodCount(2).everyCount(2)';
  expect(details('')).toBe('{}');
  expect(details(window)).toBe('null');
  expect(details(`|groupBy('h')${window}`)).toBe('{&#34;h&#34;:&#34;&#34;}');
});
