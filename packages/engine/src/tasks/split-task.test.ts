// A split task in the API: its parts combined.
import type { RunningTask, TaskStats } from '@tidemark/runtime';
import { describe, expect, test } from 'vitest';
import type { EngineServices } from '../services/task-services.ts';
import { servicesOfParts, SplitTask } from './split-task.ts';

/** A part with one node after its source. */
function part(collected: number, nanos: number, more: Partial<RunningTask> = {}): RunningTask {
  const node = {
    collected,
    emitted: collected,
    errors: 1,
    avg_exec_time_ns: nanos,
    working_cardinality: 2,
    memory_bytes: 10,
  };
  const stats: TaskStats = {
    nodes: new Map([['from1', { ...node, alerts: collected }]]),
    edges: [{ parent: 'stream0', child: 'from1', type: 'stream', collected, emitted: collected }],
    collected,
    heldPointCount: 1,
    heldBytes: 100,
    groupCount: 2,
  };
  return { stats: () => stats, ...more } as unknown as RunningTask;
}

describe('the parts of a task together', () => {
  test('have the sums of their counters, and the mean time of all points', () => {
    const stats = new SplitTask('t', [part(10, 100), part(30, 300)]).stats();

    expect(stats.nodes.get('from1')).toEqual({
      collected: 40,
      emitted: 40,
      errors: 2,
      avg_exec_time_ns: 250,
      working_cardinality: 4,
      memory_bytes: 20,
      alerts: 40,
    });
    expect(stats.edges).toEqual([
      { parent: 'stream0', child: 'from1', type: 'stream', collected: 40, emitted: 40 },
    ]);
    expect(stats).toMatchObject({ collected: 40, heldBytes: 200, groupCount: 4 });
  });

  test('have failed when one of them has, and are as far as the furthest', () => {
    const split = new SplitTask('t', [
      part(1, 1, { error: undefined, reached: { newest: 5n, waitingRows: 2 } }),
      part(1, 1, { error: 'from1: no', reached: { newest: undefined, waitingRows: 3 } }),
    ]);

    expect(split.error).toBe('from1: no');
    expect(split.reached).toEqual({ newest: 5n, waitingRows: 5 });
  });

  test('serve the rows of all; nothing as long as none has any', async () => {
    const rows = (output: unknown) => part(1, 1, { httpOutput: () => output } as never);
    const row = (host: string) => ({ name: 'm', tags: { host }, columns: [], values: [] });
    const output = (...all: readonly unknown[]) =>
      new SplitTask('t', all.map(rows)).httpOutput('o');

    expect(await output(undefined, undefined)).toBeUndefined();
    expect(await output(null, null)).toBeNull();
    expect(await output(null, [])).toEqual([]);
    expect(await output([row('b')], null, [row('a')])).toEqual([row('b'), row('a')]);
  });

  test('list the groups of all, the most severe first', async () => {
    const group = (name: string, level: string) => ({ group: name, level });
    const of = (...groups: readonly object[]) =>
      part(1, 1, { alertGroups: () => ({ total: 9, topic: 't', groups }) } as never);
    const gone = part(1, 1, { alertGroups: () => undefined } as never);
    const split = new SplitTask('t', [
      of(group('a', 'WARNING'), group('b', 'OK')),
      gone,
      of(group('c', 'CRITICAL'), group('d', 'WARNING')),
    ]);

    expect(await split.alertGroups('alert2')).toEqual({
      total: 18,
      topic: 't',
      groups: [
        group('c', 'CRITICAL'),
        group('a', 'WARNING'),
        group('d', 'WARNING'),
        group('b', 'OK'),
      ],
    });
    expect(await new SplitTask('t', [gone]).alertGroups('alert2')).toBeUndefined();
  });

  test('have one topic: it ends with the last of them that has it', () => {
    const calls: string[] = [];
    const alerts = {
      openAnonymousTopic: (topic: string) => calls.push(`open ${topic}`),
      closeAnonymousTopic: (topic: string) => calls.push(`close ${topic}`),
    };
    const of = servicesOfParts({ alerts } as unknown as EngineServices);

    of(0).alerts.openAnonymousTopic('x', []);
    of(1).alerts.openAnonymousTopic('x', []);
    // Started again elsewhere.
    of(1).alerts.openAnonymousTopic('x', []);
    of(1).alerts.closeAnonymousTopic('x');
    expect(calls).not.toContain('close x');
    of(0).alerts.closeAnonymousTopic('x');

    expect(calls.filter((each) => each === 'close x').length).toBe(1);
  });
});
