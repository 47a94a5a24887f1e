// Self-monitoring: the service's own counters as points of a database of their own.
import { NANOS_PER_DAY } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { NewPoint } from '@tidemark/storage-api';

import type { Catalog } from '../catalog/catalog.ts';
import { createDatabase } from '../catalog/databases.ts';
import { runtimeModule } from '../stats/runtime.ts';
import type { Statistics, StatisticsModule } from '../stats/statistics.ts';
import type { WriteService } from '../write/write-service.ts';

const MONITOR_POLICY = 'monitor';

export type MonitorOptions = {
  readonly catalog: Catalog;
  readonly writer: WriteService;
  readonly statistics: Statistics;
  readonly clock: Clock;
  readonly database: string;
  readonly hostname: string;
};

/** Creates the database if it is missing: seven days, one shard a day. */
async function prepareMonitor({ catalog, database }: MonitorOptions): Promise<void> {
  if (catalog.state.databases.has(database)) return;
  await catalog.change((state) =>
    createDatabase(state, {
      name: database,
      hasOptions: true,
      options: { durationNanos: 7n * NANOS_PER_DAY, shardDurationNanos: NANOS_PER_DAY },
      policyName: MONITOR_POLICY,
      createsPolicy: true,
    }),
  );
}

/**
 * Writes the first point, the time when the service started. With it the database has a shard for
 * later points.
 */
export async function storeStart(options: MonitorOptions): Promise<void> {
  await prepareMonitor(options);
  await storeModules(options, [runtimeModule()]);
}

/** Writes one point for every module. A dropped database is created again. */
export async function storeStatistics(options: MonitorOptions): Promise<void> {
  await prepareMonitor(options);
  await storeModules(options, await options.statistics.read());
}

async function storeModules(
  { writer, clock, hostname, database }: MonitorOptions,
  modules: readonly StatisticsModule[],
): Promise<void> {
  const time = clock.now();
  const points: NewPoint[] = [];
  for (const { name, tags, values } of modules) {
    const fields = Object.entries(values)
      .filter(([, value]) => Number.isFinite(value))
      // A field keeps its first type, which must not depend on whether its first value is whole.
      .map(([field, value]): [string, bigint] => [field, BigInt(Math.round(value))]);
    if (fields.length === 0) continue;
    const allTags = Object.entries({ ...tags, hostname }).filter(([, value]) => value !== '');
    points.push({ measurement: name, tags: allTags, fields, time });
  }
  if (points.length > 0) await writer.writePoints({ database, retentionPolicy: '' }, points);
}
