// The reference: a single engine that never stops runs the same unsplit tasks over the log of
// points, one record after another.
import type { LogRecord } from '@tidemark/cluster';
import { buildPipeline } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import { createTask, VirtualTimers, WriteParser } from '@tidemark/runtime';
import type { PointBatch, PointInput } from '@tidemark/runtime';
import { silentServices } from '@tidemark/runtime/testing';
import { THIS_BUILD } from '../../../../packages/engine/src/shared-log/build.ts';
import {
  labelIn,
  pointsOf,
  readRecord,
} from '../../../../packages/engine/src/shared-log/point-record.ts';
import { RememberingTopics } from '../../../../packages/runtime/src/testing/remembering-topics.ts';
import { START_MS } from '../world/timeline.ts';
import { SCRIPTS, SOURCES } from '../workload/tasks.ts';
import type { TaskName } from '../workload/tasks.ts';

export type Expected = {
  /** Numbers of the points of clients, in the order of the log. */
  readonly numbers: readonly number[];
  /** Sums of windows that are in the log, and those that should be, by group, in their order. */
  readonly looped: ReadonlyMap<string, readonly string[]>;
  readonly windows: ReadonlyMap<string, readonly string[]>;
  /** By group, its last row. */
  readonly totals: Totals;
  /** Messages by id, in their order. */
  readonly events: ReadonlyMap<string, readonly string[]>;
};

export async function expectedOf(records: readonly LogRecord[]): Promise<Expected> {
  const parser = new WriteParser();
  const batches = records.flatMap((record) => {
    const label = labelIn(record);
    // Damaged; nobody is given it.
    if (label === undefined) return [];
    return [readRecord(parser, record, { label, build: THIS_BUILD }).batch];
  });
  const looped = batches.filter(({ database }) => database === SOURCES.totals.database);
  const written = batches.filter(({ database }) => database === SOURCES.windows.database);
  const windows = new Map<string, string[]>();
  await run('windows', written, {
    loopback: { write: (_db, _rp, points) => points.forEach((point) => add(windows, point)) },
  });
  const inLog = new Map<string, string[]>();
  for (const batch of looped)
    for (const { tags, fields, time } of pointsOf(batch))
      add(inLog, { tags: new Map(tags), fields: new Map(fields), time });
  const topics = new RememberingTopics();
  await run('levels', written, { alerts: topics });
  const events = new Map<string, string[]>();
  for (const { event } of topics.published) listOf(events, event.id).push(event.message);
  const totals = await run('totals', looped, {});
  return {
    numbers: written.flatMap((batch) => Array.from(pointsOf(batch), numberOf)),
    looped: inLog,
    windows,
    totals: rowsOf(totals.httpOutput('totals')),
    events,
  };
}

/** The last row of each group, as text. */
export type Totals = ReadonlyMap<string, string>;

type Rows = ReturnType<ReturnType<typeof createTask>['httpOutput']>;

export function rowsOf(rows: Rows): Totals {
  return new Map((rows ?? []).map((row) => [row.tags?.['g'] ?? '', printed(row.values)]));
}

async function run(
  name: TaskName,
  batches: readonly PointBatch[],
  given: Parameters<typeof silentServices>[0],
): Promise<ReturnType<typeof createTask>> {
  const pipeline = pipelineOf(name);
  const now = BigInt(START_MS) * 1_000_000n;
  const task = createTask(pipeline, silentServices(given), {
    taskId: name,
    clock: { now: () => now, monotonicMs: () => 0, sleep: () => new Promise(() => undefined) },
    timers: new VirtualTimers(now),
  });
  await task.start();
  for (const batch of batches) task.push(batch);
  if (task.error !== undefined) throw new Error(task.error);
  return task;
}

const pipelines = new Map<TaskName, Pipeline>();

function pipelineOf(name: TaskName): Pipeline {
  const known = pipelines.get(name);
  if (known !== undefined) return known;
  const { pipeline, error } = buildPipeline(SCRIPTS[name]);
  if (pipeline === undefined) throw new Error(error?.text);
  pipelines.set(name, pipeline);
  return pipeline;
}

function numberOf({ fields }: PointInput): number {
  return Number(new Map(fields).get('n'));
}

type Windowed = {
  readonly tags: ReadonlyMap<string, string>;
  readonly fields: ReadonlyMap<string, unknown>;
  readonly time: bigint;
};

function add(windows: Map<string, string[]>, { tags, fields, time }: Windowed): void {
  const text = `${time / 1_000_000n - BigInt(START_MS)} ms: ${String(fields.get('sum'))}`;
  listOf(windows, tags.get('g') ?? '').push(text);
}

function listOf(lists: Map<string, string[]>, key: string): string[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

function printed(values: unknown): string {
  return JSON.stringify(values, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
