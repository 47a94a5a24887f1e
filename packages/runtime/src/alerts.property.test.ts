// Alerts of random scripts and points, compared with models: flapping as recorded, and events
// inhibited by alerts of the same and of another task. SOAK_SCRIPTS=100000 runs the long version.
import { buildPipeline } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SCRIPT_RUNS, SCRIPT_TIMEOUT_MS } from '../../../tests/compat/mutated-scripts.ts';
import { AlertState } from './node-parts/alert-state.ts';
import { PointBatchBuilder } from './point-batch.ts';
import type { InlineTask } from './task.ts';
import { createTask } from './task.ts';
import { RememberingTopics } from './testing/remembering-topics.ts';
import { silentServices } from './testing/silent-services.ts';
import { VirtualTimers } from './timers.ts';

const share = fc.oneof(
  fc.constantFrom(0.8, 0.4, 0.25, 0.2, 0.6, 1, 0),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

test('an alert flaps as recorded, at the bounds too', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(0, 1, 2, 3), { maxLength: 60 }),
      fc.integer({ min: 2, max: 9 }),
      fc.record({ low: share, high: share }),
      (levels, size, bounds) => {
        const state = new AlertState(size);
        const ring = Array.from({ length: size }, () => 0);
        let newest = 0;
        let isFlapping = false;
        levels.forEach((level, time) => {
          state.record(level, BigInt(time), bounds);
          newest = (newest + 1) % size;
          ring[newest] = level;
          const changes = Array.from({ length: size - 1 }, (_, i) => (i + newest) % size);
          let weight = 0.8;
          let sum = 0;
          for (const at of changes) {
            if (ring[at] !== ring[(at + size - 1) % size]) sum += weight;
            weight += (1.2 - 0.8) / (size - 1);
          }
          const changed = sum / (size - 1);
          if (isFlapping ? changed < bounds.low : changed > bounds.high) isFlapping = !isFlapping;
          expect(state.isFlapping).toBe(isFlapping);
        });
      },
    ),
    { numRuns: SCRIPT_RUNS },
  );
});

const step = fc.record({
  name: fc.constantFrom('host', 'app', 'both'),
  dc: fc.constantFrom('e', 'f'),
  v: fc.constantFrom(0, 1),
});

/** The alerts of a task, and the inhibitions that it sets and obeys. */
type Alerting = {
  readonly name: string;
  readonly category: string;
  readonly inhibits: readonly (readonly [category: string, isByTag: boolean])[];
};

const SCRIPTS: readonly Alerting[] = [
  { name: 'host', category: '', inhibits: [['apps', true]] },
  { name: 'app', category: 'apps', inhibits: [] },
  { name: 'both', category: 'apps', inhibits: [['', false]] },
];

test('events are held back by alerts of all tasks', { timeout: SCRIPT_TIMEOUT_MS }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const topics = new RememberingTopics();
      const timers = new VirtualTimers(0n);
      const clock = {
        now: () => timers.now(),
        monotonicMs: () => 0,
        sleep: () => new Promise<void>(() => undefined),
      };
      const tasks = SCRIPTS.map(({ name, category, inhibits }): InlineTask => {
        const inhibit = inhibits.map(
          ([what, isByTag]) => `.inhibit('${what}'${isByTag ? ", 'dc'" : ''})`,
        );
        const script = `stream|from().measurement('${name}').groupBy('dc')|alert().id('{{ .Name }} {{ .Group }}').crit(lambda: "v" > 0).category('${category}')${inhibit.join('')}.topic('t')`;
        const { pipeline } = buildPipeline(script);
        return createTask(pipeline as Pipeline, silentServices({ alerts: topics }), {
          taskId: name,
          clock,
          timers,
        });
      });
      const levels = new Map<string, number>();
      const wanted: string[] = [];
      for (const [i, { name, dc, v }] of steps.entries()) {
        const builder = new PointBatchBuilder('d', 'r');
        builder.add({ name, tags: [['dc', dc]], fields: [['v', v]], time: BigInt(i) });
        for (const task of tasks) task.push(builder.build());

        const id = `${name} dc=${dc}`;
        const isEvent = v > 0 || (levels.get(id) ?? 0) > 0;
        levels.set(id, v);
        const { category } = SCRIPTS.find((each) => each.name === name) ?? { category: '' };
        const isHeldBack = SCRIPTS.some((other) =>
          other.inhibits.some(
            ([what, isByTag]) =>
              what === category &&
              ['e', 'f'].some(
                (place) =>
                  (levels.get(`${other.name} dc=${place}`) ?? 0) > 0 && (!isByTag || place === dc),
              ),
          ),
        );
        if (isEvent && !isHeldBack) wanted.push(`${id} ${v > 0 ? 'CRITICAL' : 'OK'}`);
      }

      expect(topics.published.map(({ event }) => `${event.id} ${event.level}`)).toEqual(wanted);
      for (const task of tasks) await task.close();
      expect([...topics.inhibitions.active()]).toEqual([]);
    }),
    { numRuns: Math.ceil(SCRIPT_RUNS / 4) },
  );
});
