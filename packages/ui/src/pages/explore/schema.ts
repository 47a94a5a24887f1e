// Fields and tags of a measurement, with types and numbers of values.
import { formatIdentifier } from '@tidemark/influxql';

import { tsdb } from '../../api/clients.ts';

export type TagDetails = { readonly name: string; readonly valueCount: number };

export type MeasurementDetails = {
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  readonly tags: readonly TagDetails[];
};

export async function measurementDetails(
  database: string,
  measurement: string,
  signal?: AbortSignal,
): Promise<MeasurementDetails> {
  const from = `FROM ${formatIdentifier(measurement)}`;
  const [fields, keys] = await Promise.all([
    tsdb.rows(`SHOW FIELD KEYS ${from}`, { database, signal }),
    tsdb.rows(`SHOW TAG KEYS ${from}`, { database, signal }),
  ]);
  const names = [...new Set((keys[0]?.values ?? []).map((row) => String(row[0])))];
  const counted = names.map(
    (name) => `SHOW TAG VALUES CARDINALITY ${from} WITH KEY = ${formatIdentifier(name)}`,
  );
  const counts =
    names.length === 0
      ? { results: [] }
      : await tsdb.query(counted.join(';'), { database, signal });
  const countOf = (at: number): number =>
    Number(counts.results?.[at]?.series?.[0]?.values?.[0]?.[0] ?? 0);
  return {
    fields: (fields[0]?.values ?? []).map((row) => ({
      name: String(row[0]),
      type: String(row[1]),
    })),
    tags: names.map((name, at) => ({ name, valueCount: countOf(at) })),
  };
}
