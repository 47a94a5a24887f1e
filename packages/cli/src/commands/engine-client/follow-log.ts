// Following the log of a running engine.
import type { EngineClient } from '@tidemark/client';

import { UsageError } from '../../exit.ts';
import { followLines } from './follow-lines.ts';

export type FollowOptions = {
  /** Minimum level. */
  readonly level?: string | undefined;
  /** Number of lines after which to stop. */
  readonly lines?: string | undefined;
  /** Lines as JSON objects. */
  readonly json?: boolean | undefined;
};

/** Prints lines whose tags equal the filters (`tag=value`) as they are written. */
export async function followLog(
  client: EngineClient,
  filters: readonly string[],
  { level, lines, json }: FollowOptions,
): Promise<void> {
  const search: Record<string, string> = {};
  for (const filter of filters) {
    const [key, ...value] = filter.split('=');
    if (key === undefined || key === '' || value.length === 0)
      throw new UsageError(`${filter} must be written tag=value`);
    search[key] = value.join('=');
  }
  if (level !== undefined) search['lvl'] = `${level}+`;
  await followLines((signal) => client.logs(search, { isJson: json, signal }), lines);
}
