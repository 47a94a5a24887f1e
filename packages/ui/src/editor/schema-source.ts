// Names for completion, requested from the database once and cached for a while.
import { formatIdentifier } from '@tidemark/influxql';

import { tsdb } from '../api/clients.ts';

const AGE_MS = 30_000;
const VALUES_MAX = 200;

const cache = new Map<
  string,
  { readonly time: number; readonly names: Promise<readonly string[]> }
>();

/** The first or the named column of a statement's answer. Failures are not kept. */
function ask(text: string, database: string, column: string): Promise<readonly string[]> {
  const key = `${database}\n${text}`;
  const before = cache.get(key);
  if (before !== undefined && performance.now() - before.time < AGE_MS) return before.names;
  const names = tsdb.rows(text, { database }).then((series) =>
    series.flatMap(({ columns, values = [] }) => {
      const at = Math.max(0, columns.indexOf(column));
      return values.map((row) => String(row[at]));
    }),
  );
  names.catch(() => {
    // The caller reports it; the next one asks again.
    if (cache.get(key)?.names === names) cache.delete(key);
  });
  cache.set(key, { time: performance.now(), names });
  return names;
}

const of = (measurement: string): string =>
  measurement === '' ? '' : ` FROM ${formatIdentifier(measurement)}`;

export const schemaSource = {
  databases: () => ask('SHOW DATABASES', '', 'name'),
  policies: (database: string) =>
    ask(`SHOW RETENTION POLICIES ON ${formatIdentifier(database)}`, database, 'name'),
  measurements: (database: string) => ask('SHOW MEASUREMENTS', database, 'name'),
  fields: async (database: string, measurement: string) => [
    ...new Set(await ask(`SHOW FIELD KEYS${of(measurement)}`, database, 'fieldKey')),
  ],
  tags: async (database: string, measurement: string) => [
    ...new Set(await ask(`SHOW TAG KEYS${of(measurement)}`, database, 'tagKey')),
  ],
  tagValues: (database: string, measurement: string, tag: string) =>
    ask(
      `SHOW TAG VALUES${of(measurement)} WITH KEY = ${formatIdentifier(tag)} LIMIT ${VALUES_MAX}`,
      database,
      'value',
    ),
};

/** Clears cached names: after a statement that may have created some. */
export function forgetSchema(): void {
  cache.clear();
}
