// Publishes the engine's own statistics: as points in the stream, so that tasks can watch the
// engine; optionally in a database of the default cluster; and as the document of `debug/vars`.
import { AppError } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { PointBatchBuilder } from '@tidemark/runtime';
import { printLine } from '@tidemark/line-protocol';
import { quoteIdentifier } from '@tidemark/influxql';
import type { Clusters } from '../database/clusters.ts';
import type { Executor } from '../tasks/executor.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { PointRouter } from '../ingest/point-router.ts';

/** A named set of values with tags. */
export type Statistic = {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, number | bigint | string>>;
};

export type ReporterOptions = {
  readonly executor: Executor;
  readonly router: PointRouter;
  readonly clusters: Clusters;
  readonly clock: Clock;
  readonly log: Logger;
  readonly server: {
    readonly hostname: string;
    readonly clusterId: string;
    readonly serverId: string;
  };
  readonly database: string;
  readonly retentionPolicy: string;
  /** '' writes to no database. */
  readonly storeDatabase: string;
  /** Statistics of other parts: http, topics, runtime. */
  readonly more: () => readonly Statistic[];
};

// Names that the database's own monitor uses too, or that would be mistaken for its counters; in
// the database's table of statistics ours must not mix with them.
const DATABASE_NAMES: ReadonlySet<string> = new Set(['runtime', 'http']);

export class Reporter {
  readonly #options: ReporterOptions;
  #isStoreReady = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** All present statistics. Integers are `bigint`. */
  statistics(): readonly Statistic[] {
    const { common } = this;
    return this.own().map((statistic) => ({
      ...statistic,
      tags: { ...statistic.tags, ...common },
    }));
  }

  /** The same without the common tags. */
  own(): readonly Statistic[] {
    return [...this.#taskStatistics(), ...this.#ingress(), ...this.#options.more()];
  }

  /** Tags of all statistics: they identify this engine. */
  get common(): Readonly<Record<string, string>> {
    const { server } = this.#options;
    return {
      cluster_id: server.clusterId,
      server_id: server.serverId,
      host: server.hostname,
    };
  }

  /** Sends the statistics into the stream and to the database. */
  async report(): Promise<void> {
    const { router, clock, database, retentionPolicy } = this.#options;
    const isWanted = router.isWanted(database, retentionPolicy);
    if (!isWanted && !this.#isStoring()) return;
    await this.refresh();
    const time = clock.now();
    const statistics = this.statistics();
    if (isWanted) {
      const builder = new PointBatchBuilder(database, retentionPolicy);
      for (const { name, tags, values } of statistics) {
        const fields = Object.entries(values);
        if (fields.length > 0) builder.add({ name, tags: Object.entries(tags), fields, time });
      }
      if (builder.rowCount > 0) await router.dispatch(builder.build());
    }
    await this.#store(statistics, time);
  }

  /** Updates the counters of tasks in other threads. */
  async refresh(): Promise<void> {
    const asked = [...this.#options.executor.all()].map(({ task }) =>
      task.refresh({ onlyChanged: true }),
    );
    await Promise.all(asked);
  }

  #isStoring(): boolean {
    const { clusters, storeDatabase } = this.#options;
    return storeDatabase !== '' && clusters.elements.length > 0;
  }

  async #store(statistics: readonly Statistic[], time: bigint): Promise<void> {
    const { clusters, storeDatabase, log } = this.#options;
    if (!this.#isStoring()) return;
    const lines = statistics.flatMap(({ name, tags, values }) => {
      const line = printLine({
        measurement: DATABASE_NAMES.has(name) ? `engine_${name}` : name,
        tags: Object.entries(tags),
        fields: Object.entries(values),
        time,
      });
      return line === undefined ? [] : [line];
    });
    const target = {
      cluster: '',
      database: storeDatabase,
      retentionPolicy: '',
      precision: 'ns',
      consistency: '',
    };
    try {
      if (!this.#isStoreReady) {
        await clusters.execute('', `CREATE DATABASE ${quoteIdentifier(storeDatabase)}`);
        this.#isStoreReady = true;
      }
      await clusters.writeLines(target, lines.join('\n'));
    } catch (error) {
      // The database is unreachable; these statistics are lost, later ones are sent again.
      if (!(error instanceof AppError)) throw error;
      this.#isStoreReady = false;
      log('debug', 'failed to store statistics', { err: error.message });
    }
  }

  #taskStatistics(): readonly Statistic[] {
    const found: Statistic[] = [];
    for (const { id, pipeline, task } of this.#options.executor.all()) {
      const { nodes, edges } = task.stats();
      for (const [node, counters] of nodes) {
        const kind = pipeline.nodes.find((each) => each.name === node)?.type ?? '';
        found.push({
          name: 'nodes',
          tags: { task: id, node, type: pipeline.type, kind },
          values: integers(counters),
        });
      }
      for (const { parent, child, type, collected, emitted } of edges) {
        found.push({
          name: 'edges',
          tags: { task: id, parent, child, type },
          values: integers({ collected, emitted }),
        });
      }
    }
    return found;
  }

  #ingress(): readonly Statistic[] {
    return [...this.#options.router.ingress()].map((count) => ({
      name: 'ingress',
      tags: {
        task_master: 'main',
        database: count.database,
        retention_policy: count.retentionPolicy,
        measurement: count.measurement,
      },
      values: integers({ points_received: count.points }),
    }));
  }
}

/** Counters as integers. */
export function integers(
  counters: Readonly<Record<string, number>>,
): Readonly<Record<string, bigint>> {
  return Object.fromEntries(
    Object.entries(counters).map(([name, value]) => [name, BigInt(Math.round(value))]),
  );
}
