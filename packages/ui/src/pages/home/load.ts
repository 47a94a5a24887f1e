// Data of the start page from both services.
import { engine, tsdb } from '../../api/clients.ts';
import { session } from '../../api/session.ts';

type TaskSummary = {
  readonly id: string;
  readonly type: string;
  readonly executing: boolean;
  readonly error: string;
  /** Reasons why the task is useless although it runs. */
  readonly warnings?: readonly { readonly message: string; readonly hint?: string }[];
};

type TopicSummary = { readonly id: string; readonly level: string };

type DatabaseOverview = {
  readonly databases: readonly string[];
  /**
   * Points written per second over the last 15 minutes, oldest first; empty when self-monitoring is
   * off.
   */
  readonly writeRates: readonly number[];
};

export type EngineOverview = {
  readonly tasks: readonly TaskSummary[];
  readonly topics: readonly TopicSummary[];
  readonly deadLetterCount: number;
};

const WRITE_RATE =
  'SELECT non_negative_derivative(max("pointReq"), 1s) FROM "_internal".."write" WHERE time > now() - 15m GROUP BY time(20s)';

export async function loadDatabase(signal: AbortSignal): Promise<DatabaseOverview> {
  const [databases, rates] = await Promise.all([
    tsdb.rows('SHOW DATABASES', { signal }),
    // Not every user may read it.
    (session.value.reads?.includes('_internal') ?? true)
      ? tsdb.query(WRITE_RATE, { database: '_internal', signal })
      : { results: [] },
  ]);
  return {
    databases: (databases[0]?.values ?? []).map((row) => String(row[0])),
    writeRates: (rates.results?.[0]?.series?.[0]?.values ?? []).map((row) => Number(row[1] ?? 0)),
  };
}

/**
 * Warnings are requested with the first call and every minute: they cost the engine more than
 * everything else.
 */
const REFRESHES_PER_WARNING = 12;

type Warnings = NonNullable<TaskSummary['warnings']>;

/** Loads the engine's part; keeps the warnings between the calls that request them. */
export class EngineLoader {
  #count = 0;
  #warnings: ReadonlyMap<string, Warnings> = new Map();

  async load(signal: AbortSignal): Promise<EngineOverview> {
    const isWarning = this.#count++ % REFRESHES_PER_WARNING === 0;
    const fields = ['type', 'status', 'executing', 'error'];
    const { http } = engine;
    const [{ tasks }, { topics }, deadLetters] = await Promise.all([
      http.json<{ tasks: readonly TaskSummary[] }>('/engine/v1/tasks', {
        search: { fields, diagnostics: isWarning ? 'true' : undefined },
        signal,
      }),
      http.json<{ topics: readonly TopicSummary[] }>('/engine/v1preview/alerts/topics', {
        search: { limit: -1 },
        signal,
      }),
      http.json<{ total?: number }>('/engine/v1preview/alerts/dead-letters', {
        search: { limit: 0 },
        signal,
      }),
    ]);
    if (isWarning) this.#warnings = new Map(tasks.map(({ id, warnings = [] }) => [id, warnings]));
    return {
      tasks: tasks.map((task) => ({ ...task, warnings: this.#warnings.get(task.id) ?? [] })),
      topics,
      deadLetterCount: deadLetters.total ?? 0,
    };
  }
}
