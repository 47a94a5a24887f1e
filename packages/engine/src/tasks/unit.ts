// A unit runs in one place: a task, or a part of a split task. Also the API's view of a task.
import type { Pipeline } from '@tidemark/pipeline';
import type { RunningTask, TaskPart } from '@tidemark/runtime';
import type { TaskSource } from './task-source.ts';

/** The queries of a task, wherever and in however many parts it runs. */
export type ShownTask = Pick<
  RunningTask,
  'taskId' | 'error' | 'reached' | 'stats' | 'refresh' | 'httpOutput' | 'alertGroups' | 'tap'
>;

/** A task that runs, or that has ended with `task.error`. */
export type Executing = {
  readonly id: string;
  readonly pipeline: Pipeline;
  /** The databases of its data. */
  readonly databases: readonly string[];
  readonly task: ShownTask;
  /** Points (batches) per second over the last second. */
  readonly throughput: number;
  /** The same as a mean over about five minutes; absent for a replay. */
  readonly meanThroughput?: number | undefined;
  /** A replay that is over; its task can still be inspected. */
  readonly hasEnded?: boolean | undefined;
  /** A present problem, for example an unreachable database. */
  readonly problem: string | undefined;
  /** Points that it was given again after a restart, or results of queries. */
  readonly caughtUpCount?: number | undefined;
};

/** A unit that is started, fed, saved and moved separately. */
export type Unit = Omit<Executing, 'hasEnded'> & {
  /** See `unitName`; `id` is that of the task. */
  readonly unit: string;
  /** Absent for a whole task. */
  readonly part?: TaskPart | undefined;
  /** Identifies the started definition; the stored record may have a newer one. */
  readonly definition: string;
  readonly task: RunningTask;
  throughput: number;
  meanThroughput: number;
  problem: string | undefined;
  caughtUpCount?: number | undefined;
  /** In a cluster: its position in the log of points. */
  readonly source?:
    | Pick<TaskSource, 'sequence' | 'begin' | 'begun' | 'missing' | 'run' | 'hold' | 'release'>
    | undefined;
};
