// Compares a piece of the data of two services, with a checksum of every series on either side.
import type { Cell, TsdbClient } from '@tidemark/client';
import { quoteIdentifier } from '@tidemark/influxql';

import { isSame } from './copy-measurement.ts';
import { pathOf, within } from './lines.ts';
import type { Piece } from './pieces.ts';

export type SeriesComparison = {
  /** Tags of series that differ, or that only one service has. */
  readonly different: readonly string[];
  readonly seriesCount: number;
};

/** Compares the series of a measurement within a shard. */
export async function differingSeries(
  from: TsdbClient,
  to: TsdbClient,
  piece: Piece,
): Promise<SeriesComparison> {
  const [there, here] = await Promise.all([from, to].map((client) => checksums(client, piece)));
  const keys = new Set([...there!.keys(), ...here!.keys()]);
  const different = [...keys].filter((key) => {
    const [one, other] = [there!.get(key), here!.get(key)];
    if (one === undefined || other === undefined) return true;
    return one.some((value, i) => !isSame(value, other[i] ?? null));
  });
  return { different, seriesCount: there!.size };
}

/** Checksums by the tags of a series. */
async function checksums(
  client: TsdbClient,
  { ref, range }: Piece,
): Promise<ReadonlyMap<string, readonly Cell[]>> {
  const columns = ref.fields.flatMap(({ name, type }, i) => {
    const field = `${quoteIdentifier(name)}::${type}`;
    const isNumber = type === 'float' || type === 'integer' || type === 'unsigned';
    // Texts and booleans have no sum; their first and last values are compared.
    const functions = isNumber ? ['count', 'sum', 'min', 'max'] : ['count', 'first', 'last'];
    return functions.map((call) => `${call}(${field}) AS ${call}${i}`);
  });
  const result = new Map<string, readonly Cell[]>();
  if (columns.length === 0) return result;
  const statement = `SELECT ${columns.join(', ')} FROM ${pathOf(ref)} WHERE ${within(range)} GROUP BY *`;
  for (const { tags, values } of await client.rows(statement, {
    database: ref.database,
    epoch: 'ns',
  })) {
    const set = Object.entries(tags ?? {}).filter(([, value]) => value !== '');
    // Without the time of the row.
    result.set(JSON.stringify(set.sort()), values?.[0]?.slice(1) ?? []);
  }
  return result;
}
