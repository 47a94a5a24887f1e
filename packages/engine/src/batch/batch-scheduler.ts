// Schedules batch tasks: every query node has its schedule, and the task receives results in the
// order of the ticks.
import { NotFound, Unavailable } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { QueryResultSeries } from '@tidemark/runtime';
import { BatchFeed } from './batch-feed.ts';
import type { BatchFeedOptions } from './batch-feed.ts';
import type { SourceSetup } from '../tasks/executor.ts';
import type { Unit } from '../tasks/unit.ts';
import type { QueryNode } from './query-nodes.ts';
import type { QuerySlots } from './query-slots.ts';
import type { TaskSource } from '../tasks/task-source.ts';

export type BatchSchedulerOptions = Omit<BatchFeedOptions, 'query'> & {
  readonly slots: QuerySlots;
};

export class BatchScheduler {
  readonly #options: BatchSchedulerOptions;

  constructor(options: BatchSchedulerOptions) {
    this.#options = options;
  }

  get runningCount(): number {
    return this.#options.slots.runningCount;
  }

  /** Starts the queries of a task. */
  start(unit: Unit, setup: SourceSetup): TaskSource {
    const query: BatchFeedOptions['query'] = (node, range, signal) =>
      this.query(node, range, signal);
    return new BatchFeed({ ...this.#options, query }, unit, setup);
  }

  /** Queries one range of a node; waits while too many queries run. */
  async query(
    node: QueryNode,
    range: { readonly start: Timestamp; readonly stop: Timestamp },
    signal: AbortSignal,
  ): Promise<readonly QueryResultSeries[]> {
    const { clusters, slots } = this.#options;
    try {
      return await slots.run(
        (limit) =>
          clusters.query(node.options.cluster, node.text.forRange(range.start, range.stop), limit),
        signal,
      );
    } catch (error) {
      if (error instanceof NotFound) throw new Unavailable(error.message, { cause: error });
      throw error;
    }
  }
}
