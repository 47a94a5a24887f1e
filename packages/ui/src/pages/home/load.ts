// Data of the start page from both services, as far as the user's rights go.
import type { Task } from '@tidemark/client';
import { formatIdentifier } from '@tidemark/influxql';

import { engine, tsdb } from '../../api/clients.ts';
import { readEvents, severityOf } from '../../api/events.ts';
import type { PublishedEvent } from '../../api/events.ts';
import { mayRead, session } from '../../api/session.ts';

const SELF = '_internal';

/**
 * A counter by its module, summed over the modules of that name, without those about `_internal`.
 */
type Counter = (module: string, name: string) => number | undefined;

/** Values of the last 15 minutes, oldest first. */
export type Trends = {
  readonly sinceMs: number;
  readonly points: readonly number[];
  readonly queries: readonly number[];
  readonly memoryBytes: readonly number[];
};

export type DatabaseOverview = {
  /** Without that of self-monitoring. */
  readonly databases: readonly string[];
  readonly seriesCount: number;
  /** Only administrators may see them. */
  readonly counters: Counter | undefined;
  readonly slow: { readonly afterMs: number; readonly count: number } | undefined;
  /** Only with the right to read the database of self-monitoring. */
  readonly trends: Trends | undefined;
};

const recent = (value: string, of: string): string =>
  `SELECT ${value} FROM "${SELF}".."${of}" WHERE time > now() - 15m GROUP BY time(20s) fill(none)`;

const TRENDS = [
  recent('non_negative_derivative(max("pointReq"), 1s)', 'write'),
  recent('non_negative_derivative(max("queriesFinished"), 1s)', 'queryExecutor'),
  recent('max("Sys")', 'runtime'),
].join(';');

export async function loadDatabase(signal: AbortSignal): Promise<DatabaseOverview> {
  const { isAdmin } = session.peek();
  const [names, counters, slow, trends] = await Promise.all([
    tsdb.rows('SHOW DATABASES', { signal }),
    isAdmin ? loadCounters(signal) : undefined,
    isAdmin ? loadSlow(signal) : undefined,
    mayRead([SELF]) ? loadTrends(signal) : undefined,
  ]);
  const databases = (names[0]?.values ?? []).map((row) => String(row[0]));
  const shown = databases.filter((name) => name !== SELF);
  return {
    databases: shown,
    seriesCount: counters?.('database', 'numSeries') ?? (await seriesOf(shown, signal)),
    counters,
    slow,
    trends,
  };
}

async function loadCounters(signal: AbortSignal): Promise<Counter> {
  const stats = await tsdb.rows('SHOW STATS', { signal });
  return (module, name) => {
    const found = stats.flatMap((each) => {
      const isWanted = each.name === module && each.tags?.['database'] !== SELF;
      const at = isWanted ? each.columns.indexOf(name) : -1;
      return at < 0 ? [] : [Number(each.values?.[0]?.[at] ?? 0)];
    });
    return found.length === 0 ? undefined : found.reduce((sum, value) => sum + value, 0);
  };
}

async function loadSlow(signal: AbortSignal): Promise<DatabaseOverview['slow']> {
  type Answer = { readonly afterMs: number; readonly queries: readonly unknown[] };
  const { afterMs, queries } = await tsdb.http.json<Answer>('/debug/slow-queries', { signal });
  return { afterMs, count: queries.length };
}

async function loadTrends(signal: AbortSignal): Promise<Trends> {
  const { results = [] } = await tsdb.query(TRENDS, { database: SELF, signal });
  // The last window has not ended: its rate would be too low.
  const rows = results.map(({ series }) => (series?.[0]?.values ?? []).slice(0, -1));
  const [points = [], queries = [], memoryBytes = []] = rows.map((each) =>
    each.map((row) => Number(row[1])),
  );
  return { sinceMs: Date.parse(String(rows[0]?.[0]?.[0])), points, queries, memoryBytes };
}

async function seriesOf(databases: readonly string[], signal: AbortSignal): Promise<number> {
  if (databases.length === 0) return 0;
  const text = databases.map((name) => `SHOW SERIES CARDINALITY ON ${formatIdentifier(name)}`);
  const { results = [] } = await tsdb.query(text.join(';'), { signal });
  return results.reduce((sum, { series }) => sum + Number(series?.[0]?.values?.[0]?.[0] ?? 0), 0);
}

export type EngineOverview = {
  readonly tasks: readonly Task[];
  /** Events above OK, the most severe first, of so many topics as are shown. */
  readonly alerts: readonly PublishedEvent[];
  /** How many there are in these topics; of very many, not all are in `alerts`. */
  readonly openAlertCount: number;
  readonly criticalCount: number;
  readonly deadLetterCount: number;
};

/** Topics whose events are loaded; the page of alerts shows all. */
const TOPICS_MAX = 5;

/**
 * Warnings are requested with the first call and every minute: they cost the engine more than
 * everything else.
 */
const REFRESHES_PER_WARNING = 12;

type Warnings = NonNullable<Task['warnings']>;

/** Loads the engine's part; keeps the warnings between the calls that request them. */
export class EngineLoader {
  /** Loads since the warnings came. */
  #count = REFRESHES_PER_WARNING;
  #warnings: ReadonlyMap<string, Warnings> = new Map();

  async load(signal: AbortSignal): Promise<EngineOverview> {
    const isWarning = this.#count >= REFRESHES_PER_WARNING;
    const fields = ['type', 'status', 'executing', 'error', 'stats'];
    const { http } = engine;
    const [{ tasks }, topics, deadLetters] = await Promise.all([
      http.json<{ tasks: readonly Task[] }>('/engine/v1/tasks', {
        search: { fields, limit: -1, diagnostics: isWarning ? 'true' : undefined },
        signal,
      }),
      engine.topics({ minLevel: 'INFO' }),
      http.json<{ total?: number }>('/engine/v1preview/alerts/dead-letters', {
        search: { limit: 0 },
        signal,
      }),
    ]);
    this.#count = isWarning ? 1 : this.#count + 1;
    if (isWarning) this.#warnings = new Map(tasks.map(({ id, warnings = [] }) => [id, warnings]));
    const worst = topics.toSorted((a, b) => severityOf(b.level) - severityOf(a.level));
    const alerts = await readEvents(
      worst.slice(0, TOPICS_MAX).map(({ id }) => id),
      { minLevel: 'INFO' },
    );
    return {
      tasks: tasks.map((task) => ({ ...task, warnings: this.#warnings.get(task.id) ?? [] })),
      alerts: alerts.events,
      openAlertCount: alerts.total,
      criticalCount: alerts.counts.get('CRITICAL') ?? 0,
      deadLetterCount: deadLetters.total ?? 0,
    };
  }
}
