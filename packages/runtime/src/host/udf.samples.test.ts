// The samples of user-defined functions as real processes: over standard input and output and over
// unix sockets, with saved state and a missed keep-alive.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildPipeline } from '@tidemark/pipeline';
import { hasPrograms } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PointBatchBuilder } from '../point-batch.ts';
import type { PointBatch } from '../point-batch.ts';
import type { TapMessage } from '../running-task.ts';
import type { UdfConnector } from '../services.ts';
import { createTask } from '../task.ts';
import type { InlineTask } from '../task.ts';
import { silentServices } from '../testing/silent-services.ts';
import { VirtualTimers } from '../timers.ts';
import { readUdfInfo } from '../udf/session.ts';
import { udfConnector } from './udf-connector.ts';
import type { UdfFunctionConfig } from './udf-connector.ts';

const sample = (name: string): string =>
  fileURLToPath(new URL(`../../examples/udf/${name}`, import.meta.url));

type Sample = {
  readonly language: string;
  readonly prog: string;
  readonly args: readonly string[];
  /** The nodes after the source. */
  readonly chain: string;
};

const TYPESCRIPT: Sample = {
  language: 'TypeScript',
  prog: process.execPath,
  args: [sample('running-sum.ts')],
  chain: `.groupBy('h')@f().field('v')`,
};
const PYTHON: Sample = {
  language: 'Python',
  prog: 'python3',
  args: [sample('z_score.py')],
  chain: `.groupBy('h')|window().periodCount(2).everyCount(2)@f().field('v')`,
};

const hasPython = hasPrograms('python3');
const SAMPLES = [TYPESCRIPT, ...(hasPython ? [PYTHON] : [])];

const TIMEOUT_MS = 1000;

let directory = '';
let server: ChildProcess | undefined;
const open: InlineTask[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'udf-'));
});

afterEach(async () => {
  for (const task of open.splice(0)) await task.close();
  server?.kill('SIGKILL');
  server = undefined;
  rmSync(directory, { recursive: true, force: true });
});

/** How to reach a sample: as a child of the task, or as a server that runs already. */
async function configOf(
  { prog, args }: Sample,
  transport: 'child process' | 'unix socket',
): Promise<UdfFunctionConfig> {
  if (transport === 'child process') return { prog, args, env: {}, timeoutMs: TIMEOUT_MS };
  const socket = join(directory, 'f.sock');
  const child = spawn(prog, [...args, '--socket', socket], { stdio: ['ignore', 'ignore', 'pipe'] });
  server = child;
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.startsWith('listening')) break;
  }
  return { socket, timeoutMs: TIMEOUT_MS };
}

const connectorOf = (config: UdfFunctionConfig): UdfConnector =>
  udfConnector(new Map([['f', config]]), () => undefined);

type Made = {
  readonly task: InlineTask;
  readonly timers: VirtualTimers;
  readonly seen: Readonly<Record<string, unknown>>[];
};

/** A task with the sample in it; what leaves the sample is in `seen`. */
async function makeTask(udf: UdfConnector, chain: string): Promise<Made> {
  const info = await readUdfInfo(await udf.connect('f'));
  const { pipeline, error } = buildPipeline(`stream|from()${chain}|log()`, {
    udfs: new Map([['f', info]]),
  });
  if (pipeline === undefined) throw new Error(error?.text);
  const timers = new VirtualTimers(0n);
  const clock = {
    now: () => timers.now(),
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  const task = createTask(pipeline, silentServices({ udf }), { taskId: 't', clock, timers });
  open.push(task);
  const seen: Readonly<Record<string, unknown>>[] = [];
  const last = pipeline.nodes.at(-1)?.name ?? '';
  task.tap(last, (message: TapMessage) => {
    if (message.kind === 'point') seen.push(Object.fromEntries(message.point.fields));
    if (message.kind === 'batch') {
      for (const { fields } of message.points) seen.push(Object.fromEntries(fields));
    }
  });
  return { task, timers, seen };
}

function points(values: readonly number[], start = 0): PointBatch {
  const builder = new PointBatchBuilder('d', 'r');
  values.forEach((v, i) => {
    const fields = [
      ['v', v],
      ['n', BigInt(i)],
      ['s', 'ä'],
      ['b', true],
    ] as const;
    builder.add({ name: 'm', tags: [['h', 'a']], fields, time: BigInt(start + i) });
  });
  return builder.build();
}

const TRANSPORTS = ['child process', 'unix socket'] as const;

describe.each(TRANSPORTS)('over a %s', (transport) => {
  test('the sample in TypeScript gives points back with all their fields', async () => {
    const udf = connectorOf(await configOf(TYPESCRIPT, transport));
    const { task, seen } = await makeTask(udf, TYPESCRIPT.chain);
    await task.start();

    task.push(points([1.5, 2]));
    await task.drain();

    expect(seen).toEqual([
      { v: 1.5, n: 0n, s: 'ä', b: true, sum: 1.5 },
      { v: 2, n: 1n, s: 'ä', b: true, sum: 3.5 },
    ]);
    await task.close();
    expect(task.error).toBeUndefined();
  });

  test.runIf(hasPython)(
    'the sample in Python gives batches back with all their fields',
    async () => {
      const udf = connectorOf(await configOf(PYTHON, transport));
      const { task, seen } = await makeTask(udf, PYTHON.chain);
      await task.start();

      task.push(points([1, 3, 4, 2]));
      await task.drain();

      // Mean 2 and deviation √2 after the first batch.
      expect(seen.map(({ v }) => v)).toEqual([1, 3, 4, 2]);
      const expected = [0, 0, Math.SQRT2, 0];
      seen.forEach(({ z }, i) => expect(z).toBeCloseTo(expected[i] ?? NaN, 12));
      expect(seen[3]).toMatchObject({ n: 3n, s: 'ä', b: true });
      await task.close();
      expect(task.error).toBeUndefined();
    },
  );

  test.each(
    [
      { ...TYPESCRIPT, first: [5, 5], expected: [11, 12] },
      { ...PYTHON, first: [1, 3], expected: [-Math.SQRT1_2, -Math.SQRT1_2] },
    ].slice(0, SAMPLES.length),
  )('the state of the sample in $language survives a restart', async (each) => {
    const udf = connectorOf(await configOf(each, transport));
    const before = await makeTask(udf, each.chain);
    await before.task.start();
    before.task.push(points(each.first));
    await before.task.drain();
    await before.task.prepareSnapshot();
    const snapshot = structuredClone(before.task.snapshot());
    await before.task.close();

    const after = await makeTask(udf, each.chain);
    after.task.restore(snapshot);
    await after.task.start();
    after.task.push(points([1, 1], 10));
    await after.task.drain();

    const results = after.seen.map(({ sum, z }) => sum ?? z);
    expect(results).toHaveLength(2);
    results.forEach((result, i) => expect(result).toBeCloseTo(each.expected[i] ?? NaN, 12));
  });

  test.each(SAMPLES)(
    'the sample in $language refuses options, and the task does not start',
    async (each) => {
      const udf = connectorOf(await configOf(each, transport));
      const { task } = await makeTask(udf, each.chain.replace(`.field('v')`, ''));

      await expect(task.start()).rejects.toThrow('must specify field');
    },
  );
});

const NANOS_PER_MS = 1_000_000n;

describe('a sign of life', () => {
  test('that comes in time keeps the task alive for as long as it goes on', async () => {
    const udf = connectorOf(await configOf(TYPESCRIPT, 'unix socket'));
    const { task, timers, seen } = await makeTask(udf, TYPESCRIPT.chain);
    await task.start();

    for (let round = 0; round < 10; round++) {
      timers.advanceTo(timers.now() + (BigInt(TIMEOUT_MS) / 2n) * NANOS_PER_MS);
      task.push(points([1], round));
      // The answer to the point comes after the one to the question.
      await task.drain();
    }

    expect(task.error).toBeUndefined();
    expect(seen.at(-1)).toMatchObject({ sum: 10 });
  });

  test('that is missed ends the task with the reason', async () => {
    const udf = connectorOf(await configOf(TYPESCRIPT, 'unix socket'));
    const { task, timers } = await makeTask(udf, TYPESCRIPT.chain);
    await task.start();
    const failed = new Promise<string>((resolve) => task.onError(resolve));

    // The process is there, and its socket, but it does nothing any more.
    server?.kill('SIGSTOP');
    for (let round = 0; round < 4; round++) {
      timers.advanceTo(timers.now() + (BigInt(TIMEOUT_MS) / 2n) * NANOS_PER_MS);
    }

    expect(await failed).toContain('keepalive timedout, last keepalive received was:');
    expect(task.error).toContain('keepalive timedout');
  });

  test('is not asked for without a timeout', async () => {
    const config = await configOf(TYPESCRIPT, 'unix socket');
    const udf = connectorOf({ ...config, timeoutMs: 0 });
    const { task, timers } = await makeTask(udf, TYPESCRIPT.chain);
    await task.start();

    server?.kill('SIGSTOP');
    timers.advanceTo(timers.now() + 3_600_000n * NANOS_PER_MS);
    server?.kill('SIGCONT');

    expect(timers.nextAt()).toBeUndefined();
    expect(task.error).toBeUndefined();
  });
});
