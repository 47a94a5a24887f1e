// What the start page shows, refreshed every few seconds while the page is visible.
import { signal } from '@preact/signals';

import { countDeadLetters, listTasks, listTopics, ping, runQuery } from './api.ts';
import type { ServiceStatus, TaskSummary, TopicSummary } from './api.ts';

const REFRESH_MS = 5000;

/** What tasks are warned of is looked for once a minute, and with the first refresh. */
const REFRESHES_PER_WARNING = 12;
let refreshCount = 0;

export type Overview = {
  readonly tsdb: ServiceStatus;
  readonly engine: ServiceStatus;
  readonly databases: readonly string[];
  readonly tasks: readonly TaskSummary[];
  readonly topics: readonly TopicSummary[];
  readonly deadLetterCount: number;
  /**
   * Points written per second over the last quarter of an hour, oldest first; empty when
   * self-monitoring is off.
   */
  readonly writeRates: readonly number[];
};

/** `undefined` until the first answer. */
export const overview = signal<Overview | undefined>(undefined);

/** Why the last refresh failed; empty when it did not. */
export const refreshFailure = signal('');

const WRITE_RATE =
  'SELECT non_negative_derivative(max("pointReq"), 1s) FROM "_internal".."write" WHERE time > now() - 15m GROUP BY time(20s)';

async function readDatabase(): Promise<Pick<Overview, 'databases' | 'writeRates'>> {
  const [databases, rates] = await Promise.all([
    runQuery('SHOW DATABASES', undefined),
    runQuery(WRITE_RATE, '_internal'),
  ]);
  return {
    databases: (databases.series[0]?.values ?? []).map((row) => String(row[0])),
    writeRates: (rates.series[0]?.values ?? []).map((row) => Number(row[1] ?? 0)),
  };
}

/** Reads everything once. Parts of a service that is down are empty. */
export async function refreshOverview(): Promise<void> {
  const [tsdb, engine] = await Promise.all([
    ping('api/tsdb/ping', 'x-tsdb-version'),
    ping('api/engine/engine/v1/ping', 'x-engine-version'),
  ]);
  const isWarning = refreshCount++ % REFRESHES_PER_WARNING === 0;
  const [database, tasks, topics, deadLetterCount] = await Promise.all([
    tsdb.isUp ? readDatabase() : { databases: [], writeRates: [] },
    engine.isUp ? listTasks(isWarning) : [],
    engine.isUp ? listTopics() : [],
    engine.isUp ? countDeadLetters() : 0,
  ]);
  const before = new Map(overview.value?.tasks.map((task) => [task.id, task.warnings ?? []]));
  const warned = isWarning
    ? tasks
    : tasks.map((task) => ({ ...task, warnings: before.get(task.id) ?? [] }));
  overview.value = { tsdb, engine, ...database, tasks: warned, topics, deadLetterCount };
}

/** Starts refreshing; returns the function that stops it. */
export function startRefreshing(): () => void {
  let timer: number | undefined;
  let isStopped = false;
  const tick = async (): Promise<void> => {
    try {
      if (!document.hidden) await refreshOverview();
      refreshFailure.value = '';
    } catch (error) {
      // One failed refresh (a service restarting between two calls) must not end the refreshing.
      refreshFailure.value = error instanceof Error ? error.message : String(error);
    }
    if (!isStopped) timer = window.setTimeout(() => void tick(), REFRESH_MS);
  };
  void tick();
  return () => {
    isStopped = true;
    window.clearTimeout(timer);
  };
}
