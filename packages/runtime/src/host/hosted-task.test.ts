// A task that is moved, or loses its host, during a restart.
import { Unavailable } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { silentServices } from '../testing/silent-services.ts';
import { HostedTask } from './hosted-task.ts';
import type { HostedTaskOptions } from './hosted-task.ts';

/** A host whose starts are answered by the test, and which may end at any time. */
class SlowHost {
  readonly starts: {
    readonly resolve: (counters?: unknown) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  loss: Unavailable | undefined;
  readonly client: ConstructorParameters<typeof HostedTask>[0];

  constructor() {
    const lossOf = (): Unavailable | undefined => this.loss;
    const client = {
      work: 0,
      get loss() {
        return lossOf();
      },
      send: () => undefined,
      request: (_task: number, { name }: { readonly name: string }) =>
        name === 'start'
          ? new Promise<unknown>((resolve, reject) => this.starts.push({ resolve, reject }))
          : Promise.resolve({}),
    };
    this.client = client as unknown as ConstructorParameters<typeof HostedTask>[0];
  }
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

async function startedTask(
  host: SlowHost,
  told: string[],
  others: SlowHost[] = [],
): Promise<HostedTask> {
  const { pipeline } = buildPipeline('stream|from()', {});
  const setup = {
    id: 1,
    pipeline,
    services: {
      ...silentServices({}),
      alerts: { lastCause: () => undefined, inhibitions: { endOf: () => undefined } },
    },
    options: { taskId: 't', clock: new TestClock(), savedState: () => undefined },
    onEnd: () => undefined,
    elsewhere: () => others.shift()?.client,
  } as unknown as HostedTaskOptions;
  const task = new HostedTask(host.client, setup);
  task.onRestarted((reason) => told.push(`restarted: ${reason ?? 'moved'}`));
  task.onError((error) => told.push(`failed: ${error}`));
  const starting = task.start();
  for (const each of [host, ...others]) {
    await turns();
    each.starts[0]?.resolve();
  }
  await starting;
  return task;
}

test.each(['the last one answers first', 'the first one answers first', 'the first one refuses'])(
  'the last of two restarts at once is reported: %s',
  async (order) => {
    const [first, second, third] = [new SlowHost(), new SlowHost(), new SlowHost()];
    const told: string[] = [];
    const task = await startedTask(first, told);

    const moved = task.restart(second.client, undefined);
    const failed = task.restart(third.client, 'its host failed');
    const endFirst = async (): Promise<void> => {
      if (order === 'the first one refuses') second.starts[0]?.reject(new Error('was discarded'));
      else second.starts[0]?.resolve();
      await turns();
    };
    if (order !== 'the last one answers first') await endFirst();
    expect(told).toEqual([]);
    third.starts[0]?.resolve();
    await failed;
    await endFirst();
    await moved;

    expect(told).toEqual(['restarted: its host failed']);
  },
);

test('a restart whose host fails waits for the next one', async () => {
  const [first, second, third] = [new SlowHost(), new SlowHost(), new SlowHost()];
  const told: string[] = [];
  const task = await startedTask(first, told);

  const failed = task.restart(second.client, 'a');
  second.starts[0]?.reject(new Unavailable('the host ended'));
  await failed;
  expect(told).toEqual([]);
  const again = task.restart(third.client, 'b');
  third.starts[0]?.resolve();
  await again;

  expect(told).toEqual(['restarted: b']);
});

test('the counters of the last start are kept, whichever answers first', async () => {
  const [first, second, third] = [new SlowHost(), new SlowHost(), new SlowHost()];
  const task = await startedTask(first, []);

  const moved = task.restart(second.client, undefined);
  const failed = task.restart(third.client, 'its host failed');
  third.starts[0]?.resolve({ collected: 3 });
  await failed;
  second.starts[0]?.resolve({ collected: 2 });
  await moved;

  expect(task.collectedCount).toBe(3);
});

test('a task that fails together with its start keeps its last counters', async () => {
  const [first, second] = [new SlowHost(), new SlowHost()];
  const task = await startedTask(first, []);
  const held = { groupCount: 0, heldPointCount: 0, heldBytes: 0 };
  const stats = { nodes: new Map(), edges: [], collected: 7, ...held };

  const restarted = task.restart(second.client, 'its host failed');
  second.starts[0]?.resolve({ collected: 0 });
  task.fail('a node failed', { stats, outputs: undefined });
  await restarted;

  expect(task.stats()).toBe(stats);
});

test('a start whose host ends behind its answer begins on another one', async () => {
  const [first, second] = [new SlowHost(), new SlowHost()];

  await startedTask(first, [], [second]);

  expect([first.starts.length, second.starts.length]).toEqual([1, 1]);
});

test('a start whose host ends behind its answer fails when there is no other one', async () => {
  const host = new SlowHost();
  const starting = startedTask(host, []);
  host.loss = new Unavailable('out of memory');

  await expect(starting).rejects.toThrow('out of memory');
});
