// Finds the series of a measurement that a request selects.
import { compareBytes, formatSeriesKey } from '@tidemark/core';
import type { SeriesGrouping } from '@tidemark/query';

import type { Cluster } from '../cluster/cluster.ts';
import type { ReadOptions } from '../cluster/node.ts';
import { filterCondition } from '../sql/conditions.ts';
import { RowReader } from '../sql/row-binary.ts';
import { liveSeries } from './live.ts';
import type { PointScope } from './point-condition.ts';

export type FoundSeries = {
  readonly id: bigint;
  /** Index of the shard. */
  readonly shard: number;
  readonly key: string;
  readonly tags: ReadonlyMap<string, string>;
};

/** A look-up of the selected series of a measurement. */
export type SeriesQuestion = { readonly measurement: string; readonly statement: string };

/** Returns the series unordered. */
export async function findSeries(
  cluster: Cluster,
  { measurement, statement }: SeriesQuestion,
  options: ReadOptions,
): Promise<FoundSeries[]> {
  const answers = await cluster.rowsOfAll(statement, options);
  return answers.flatMap((answer, shard) => {
    const reader = new RowReader(answer);
    const found: FoundSeries[] = [];
    while (reader.hasMore) {
      const id = reader.uint64();
      const keys = reader.texts();
      const values = reader.texts();
      const tags = new Map(keys.map((key, i) => [key, values[i] ?? '']));
      found.push({ id, shard, key: formatSeriesKey(measurement, tags), tags });
    }
    return found;
  });
}

/** The look-up of the series, with their tags, that may have selected rows. */
export function seriesQuestion(scope: PointScope): SeriesQuestion {
  const { measurement, where } = scope;
  const condition = filterCondition({ measurements: [measurement], where });
  const statement = `SELECT series, any(tag_keys), any(tag_values)
     FROM ${liveSeries(scope)} AND ${condition} GROUP BY series`;
  return { measurement, statement };
}

/** Sorts by the tags of the grouping, then by key. */
export function sortSeries(
  series: FoundSeries[],
  { groupBy, descending }: { readonly groupBy: SeriesGrouping; readonly descending: boolean },
): void {
  const names = groupBy === 'all' ? [] : groupBy;
  const direction = descending ? -1 : 1;
  series.sort((a, b) => {
    for (const name of names) {
      const order = compareBytes(a.tags.get(name) ?? '', b.tags.get(name) ?? '');
      if (order !== 0) return order * direction;
    }
    return compareBytes(a.key, b.key) * direction;
  });
}
