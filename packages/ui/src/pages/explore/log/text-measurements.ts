// The measurements of a database that have texts.
import { tsdb } from '../../../api/clients.ts';
import type { TextMeasurement } from './source.ts';

/** By name, with their text fields. */
export async function textMeasurements(
  database: string,
  signal: AbortSignal,
): Promise<readonly TextMeasurement[]> {
  if (database === '') return [];
  const series = await tsdb.rows('SHOW FIELD KEYS', { database, signal });
  return series.flatMap(({ name = '', values = [] }) => {
    const fields = values.filter(([, type]) => type === 'string').map(([field]) => String(field));
    return fields.length === 0 ? [] : [{ name, texts: fields }];
  });
}
