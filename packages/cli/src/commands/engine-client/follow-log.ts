// Following the log of a running engine, until Ctrl-C or a number of lines.
import type { EngineClient } from '@tidemark/client';

import { UsageError } from '../../exit.ts';

export type FollowOptions = {
  /** Least important level. */
  readonly level?: string | undefined;
  /** Number of lines to leave after. */
  readonly lines?: string | undefined;
};

/** Prints lines whose tags equal the filters (`tag=value`) as they are written. */
export async function followLog(
  client: EngineClient,
  filters: readonly string[],
  { level, lines }: FollowOptions,
): Promise<void> {
  const search: Record<string, string> = {};
  for (const filter of filters) {
    const [key, ...value] = filter.split('=');
    if (key === undefined || key === '' || value.length === 0)
      throw new UsageError(`${filter} must be written tag=value`);
    search[key] = value.join('=');
  }
  if (level !== undefined) search['lvl'] = `${level}+`;
  let remaining = lines === undefined ? Number.POSITIVE_INFINITY : Number(lines);
  if (Number.isNaN(remaining) || remaining < 1)
    throw new UsageError(`--lines must be a positive number; got ${lines}`);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const decoder = new TextDecoder();
  let unfinished = '';
  try {
    for await (const chunk of await client.logs(search, stop.signal)) {
      const parts = (unfinished + decoder.decode(chunk, { stream: true })).split('\n');
      unfinished = parts.pop() ?? '';
      for (const line of parts) {
        process.stdout.write(`${line}\n`);
        remaining--;
        if (remaining === 0) return;
      }
    }
  } catch (error) {
    // Ctrl-C is how following ends.
    if (!stop.signal.aborted) throw error;
  } finally {
    stop.abort();
  }
}
