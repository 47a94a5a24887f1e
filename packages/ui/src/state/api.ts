// The HTTP calls that the application makes. Paths are relative: the server that delivers the page
// forwards
// `api/tsdb/…` and `api/engine/…` to both services, so that one origin is enough.

/** One series of a query's answer. */
export type ResultSeries = {
  readonly name?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values?: readonly (readonly (string | number | boolean | null)[])[];
};

/** A finding about the statement: offsets in UTF-16 units. */
export type QueryDiagnostic = {
  readonly code: string;
  readonly message: string;
  readonly position: number;
  readonly length: number;
  readonly hint?: string;
};

export type QueryAnswer = {
  /** The text that was sent, which the findings are about. */
  readonly statement: string;
  readonly series: readonly ResultSeries[];
  readonly error?: string;
  readonly diagnostics: readonly QueryDiagnostic[];
  readonly elapsedMs: number;
};

type QueryDocument = {
  readonly results?: readonly {
    readonly series?: readonly ResultSeries[];
    readonly error?: string;
    readonly diagnostics?: readonly QueryDiagnostic[];
  }[];
  readonly error?: string;
  readonly diagnostics?: readonly QueryDiagnostic[];
};

/**
 * Runs statements on the database. Failures of the statement come back in `error`; a dead service
 * throws.
 */
export async function runQuery(
  text: string,
  database: string | undefined,
  signal?: AbortSignal,
): Promise<QueryAnswer> {
  const parameters = new URLSearchParams({ q: text, diagnostics: 'true' });
  if (database !== undefined && database !== '') parameters.set('db', database);
  const started = performance.now();
  const response = await fetch('api/tsdb/query', {
    method: 'POST',
    body: parameters,
    ...(signal === undefined ? {} : { signal }),
  });
  const answer = (await response.json()) as QueryDocument;
  const results = answer.results ?? [];
  // Positions are counted from the first letter.
  const indent = text.length - text.trimStart().length;
  const findings = answer.diagnostics ?? results.flatMap((result) => result.diagnostics ?? []);
  const error = answer.error ?? results.find((result) => result.error !== undefined)?.error;
  return {
    statement: text,
    series: results.flatMap((result) => result.series ?? []),
    ...(error === undefined ? {} : { error }),
    diagnostics: findings.map((finding) => ({ ...finding, position: finding.position + indent })),
    elapsedMs: performance.now() - started,
  };
}

export type ServiceStatus = { readonly isUp: boolean; readonly version: string };

/** Asks a service's ping endpoint. Never throws: a service that does not answer is down. */
export async function ping(path: string, versionHeader: string): Promise<ServiceStatus> {
  try {
    const response = await fetch(path);
    return { isUp: response.ok, version: response.headers.get(versionHeader) ?? '' };
  } catch {
    // The connection failed: that is the answer.
    return { isUp: false, version: '' };
  }
}

export type TaskSummary = {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly executing: boolean;
  readonly error: string;
  /** What makes it useless although it runs, where it was asked for. */
  readonly warnings?: readonly { readonly message: string; readonly hint?: string }[];
};

export type TopicSummary = { readonly id: string; readonly level: string };

/**
 * All tasks, up to the engine's page size. Looking for warnings takes the engine more than all the
 * rest.
 */
export async function listTasks(isWarning: boolean): Promise<readonly TaskSummary[]> {
  const fields = 'fields=type&fields=status&fields=executing&fields=error';
  const response = await fetch(
    `api/engine/engine/v1/tasks?${fields}${isWarning ? '&diagnostics=true' : ''}`,
  );
  return ((await response.json()) as { tasks?: TaskSummary[] }).tasks ?? [];
}

/** Alert topics with their present level. */
export async function listTopics(): Promise<readonly TopicSummary[]> {
  const response = await fetch('api/engine/engine/v1preview/alerts/topics?limit=-1');
  return ((await response.json()) as { topics?: TopicSummary[] }).topics ?? [];
}

/** How many events no repetition could deliver. */
export async function countDeadLetters(): Promise<number> {
  const response = await fetch('api/engine/engine/v1preview/alerts/dead-letters?limit=0');
  return ((await response.json()) as { total?: number }).total ?? 0;
}
