// A part of a task whose host is lost while other parts still start.
import { InvalidRequest, Unavailable } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { buildPipeline } from '@tidemark/pipeline';
import { silentServices } from '@tidemark/runtime/testing';
import { expect, test } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { Executor } from './executor.ts';
import type { ExecutorOptions } from './executor.ts';

/** A task of a host, whose start the test answers. */
class SlowTask {
  readonly taskId = 't';
  error: string | undefined;
  collectedCount = 0;
  readonly #options: Parameters<ExecutorOptions['createTask']>[2];
  #started: () => void = () => undefined;
  #refused: (reason: Error) => void = () => undefined;
  #failed: (error: string) => void = () => undefined;
  #restarted: (reason: string | undefined) => void = () => undefined;

  constructor(options: Parameters<ExecutorOptions['createTask']>[2]) {
    this.#options = options;
  }

  get rerun(): unknown {
    return this.#options.rerun;
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#started = resolve;
      this.#refused = reject;
    });
  }

  onError(listener: (error: string) => void): void {
    this.#failed = listener;
  }

  fail(error: string): void {
    this.error = error;
    this.#failed(error);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  onRestarted(listener: (reason: string | undefined) => void): void {
    this.#restarted = listener;
  }

  startEnds(): void {
    this.#started();
  }

  startFails(reason: string): void {
    this.#refused(new Unavailable(reason));
  }

  /** Its host is lost, and another one is asked to start it. */
  restartBegins(): unknown {
    return this.#options.savedState?.();
  }

  restartEnds(): void {
    this.#restarted('its host failed');
  }
}

type Started = {
  readonly tasks: readonly SlowTask[];
  /** The calls that the feeds of the parts received, in order. */
  readonly fed: readonly string[];
  readonly starting: Promise<unknown>;
  readonly executor: Executor;
};

function startInTwoParts(given: Partial<ExecutorOptions> = {}): Started {
  const tasks: SlowTask[] = [];
  const fed: string[] = [];
  const { config } = resolveEngineConfig([]);
  const options = {
    createTask: (...[, , setup]: Parameters<ExecutorOptions['createTask']>) => {
      const task = new SlowTask(setup);
      tasks.push(task);
      return task;
    },
    clock: new TestClock(),
    services: () => silentServices({}),
    setting: { config, limits: {} },
    savedState: () => undefined,
    beginning: () => undefined,
    catchUp: config.task,
    startPoints: ({ unit }: { readonly unit: string }) => {
      fed.push(`${unit} is fed`);
      return {
        suspend: () => fed.push(`${unit} waits`),
        resume: () => fed.push(`${unit} goes on`),
      };
    },
    addTopicOrigins: () => undefined,
    log: () => undefined,
    ...given,
  } as unknown as ExecutorOptions;
  const { pipeline } = buildPipeline(`stream|from().groupBy('g')|sum('v')`, {});
  const events = { died: () => undefined, restarted: () => undefined, gaveUp: () => undefined };
  const executor = new Executor(options);
  const starting = executor.start(
    {
      id: 't',
      pipeline: pipeline as NonNullable<typeof pipeline>,
      dbrps: [],
      definition: 'd',
      split: { count: 2, by: ['g'] } as never,
    },
    events,
  );
  return { tasks, fed, starting, executor };
}

test('a part that is being started again when the others have started is fed after that', async () => {
  const { tasks, fed, starting } = startInTwoParts();
  const [first, second] = tasks;

  first?.startEnds();
  first?.restartBegins();
  second?.startEnds();
  await starting;
  expect(fed).toEqual(['t#1/2 is fed', 't#1/2 waits', 't#2/2 is fed']);
  first?.restartEnds();

  expect(fed.slice(3)).toEqual(['t#1/2 goes on']);
});

test('a part that was started again before the others have started is fed with them', async () => {
  const { tasks, fed, starting } = startInTwoParts();
  const [first, second] = tasks;

  first?.startEnds();
  first?.restartBegins();
  first?.restartEnds();
  second?.startEnds();
  await starting;

  expect(fed).toEqual(['t#1/2 is fed', 't#2/2 is fed']);
});

test('a part that fails is the reason why the task does not start, whatever ends the others', async () => {
  const { tasks, starting } = startInTwoParts();
  const [first, second] = tasks;

  second?.startEnds();
  second?.fail('the host of the second failed');
  first?.startFails('the host of the first was lost');

  await expect(starting).rejects.toThrow(new InvalidRequest('the host of the second failed'));
});

test('a part without a saved state runs again from where it began, as the first time', async () => {
  const beginning = { sequence: 7, begun: 5n };
  const { tasks, starting } = startInTwoParts({ beginning: () => beginning });
  const [first, second] = tasks;

  first?.startEnds();
  second?.startEnds();
  await starting;

  const rerun = { now: 5n, since: 5n, begun: 5n, record: 7 };
  expect(first?.rerun).toEqual(rerun);
  expect(first?.restartBegins()).toEqual({ state: undefined, rerun });
});

test('the mean throughput outlasts the second in which points came, and fades in minutes', async () => {
  const { tasks, starting, executor } = startInTwoParts();
  for (const task of tasks) task.startEnds();
  await starting;
  const entry = executor.entry('t');
  for (const task of tasks) task.collectedCount = 60;
  executor.measure();
  expect(entry).toMatchObject({ throughput: 120, meanThroughput: 120 });

  for (let second = 2; second <= 60; second++) executor.measure();
  expect(entry?.throughput).toBe(0);
  expect(entry?.meanThroughput).toBeCloseTo(2);

  for (let second = 61; second <= 3600; second++) executor.measure();
  expect(entry?.meanThroughput).toBeLessThan(0.001);
});
