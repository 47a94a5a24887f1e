// Small HTTP helpers for tests that talk to real servers.

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** Sends a request with fetch and reads the whole response. */
export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export type QuerySeries = {
  readonly name?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values?: readonly (readonly unknown[])[];
};

type QueryBody = {
  readonly results?: readonly {
    readonly series?: readonly QuerySeries[];
    readonly error?: string;
  }[];
  readonly error?: string;
};

/** Runs a statement and returns its series; throws for an error in the answer. */
export async function query(
  tsdb: string,
  text: string,
  database?: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<readonly QuerySeries[]> {
  const form = new URLSearchParams({ q: text, ...parameters });
  if (database !== undefined) form.set('db', database);
  const answer = await send(`${tsdb}/query`, { method: 'POST', body: form });
  const body = JSON.parse(answer.text) as QueryBody;
  const error = body.error ?? body.results?.find((result) => result.error !== undefined)?.error;
  if (error !== undefined) throw new Error(`${text}: ${error}`);
  return body.results?.flatMap((result) => result.series ?? []) ?? [];
}

/** Writes line protocol; anything but 204 throws. */
export async function write(
  base: string,
  database: string,
  lines: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<void> {
  const search = new URLSearchParams({ db: database, ...parameters });
  const answer = await send(`${base}/write?${search.toString()}`, { method: 'POST', body: lines });
  if (answer.status !== 204) throw new Error(`write: ${answer.status} ${answer.text}`);
}

/**
 * Repeats `attempt` until it returns something other than `undefined`; for waiting on another
 * process.
 */
export async function eventually<T>(
  what: string,
  attempt: () => Promise<T | undefined>,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await attempt();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`gave up waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
