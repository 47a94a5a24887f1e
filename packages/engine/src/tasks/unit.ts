// A unit runs in one place: a task, or a part of a split task. Also what the API shows of a task.
import type { Pipeline } from '@tidemark/pipeline';
import type { RunningTask, TaskPart } from '@tidemark/runtime';
import type { TaskSource } from './task-source.ts';

/** What can be asked of a task, wherever and in however many parts it runs. */
export type ShownTask = Pick<
  RunningTask,
  'taskId' | 'error' | 'reached' | 'stats' | 'refresh' | 'httpOutput' | 'tap'
>;

/** A task that runs, or that ran and died with `task.error`. */
export type Executing = {
  readonly id: string;
  readonly pipeline: Pipeline;
  /** From which its data comes. */
  readonly databases: readonly string[];
  readonly task: ShownTask;
  /** Points (batches) per second over the last second. */
  readonly throughput: number;
  /** A replay that is over; its task can still be looked at. */
  readonly hasEnded?: boolean | undefined;
  /** What keeps it from working at the moment, for example an unreachable database. */
  readonly problem: string | undefined;
  /** Points that it was given again after a restart, or results of queries. */
  readonly caughtUpCount?: number | undefined;
};

/** What is started, fed, saved and moved by itself. */
export type Unit = Omit<Executing, 'hasEnded'> & {
  /** See `unitName`; `id` is that of the task. */
  readonly unit: string;
  /** Absent for a whole task. */
  readonly part?: TaskPart | undefined;
  /** Names what was started, which the stored record may no longer say. */
  readonly definition: string;
  readonly task: RunningTask;
  throughput: number;
  problem: string | undefined;
  caughtUpCount?: number | undefined;
  /** Of a cluster: how far it has come in the log of points. */
  readonly source?:
    | Pick<TaskSource, 'sequence' | 'missing' | 'run' | 'hold' | 'release'>
    | undefined;
};
