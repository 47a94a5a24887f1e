// The series of a request, in groups, in the order that the contract of SeriesSource promises.
import { compareBytes } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import type { MeasurementRef, Predicate, SeriesGrouping } from '@tidemark/query';

import type { Database } from '../engine/database.ts';
import type { ShardView, Snapshot } from '../engine/snapshot.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import { selectOrdinals } from '../series/select.ts';
import type { SeriesId } from '../series/series-index.ts';

export type SeriesGroup = {
  /** Values of the grouping tags; missing ones are empty. */
  readonly tags: ReadonlyMap<string, string>;
  /** In the order of their keys. */
  readonly series: readonly SeriesId[];
};

export type Selection = {
  readonly database: Database;
  readonly measurement: MeasurementIndex;
  /** Shards that overlap the time range, in time order. */
  readonly shards: readonly ShardView[];
  readonly groups: readonly SeriesGroup[];
};

export type SelectionRequest = {
  readonly source: MeasurementRef;
  readonly timeRange: TimeRange;
  readonly where?: Predicate | undefined;
  readonly groupBy: SeriesGrouping;
  readonly descending: boolean;
};

/** `undefined` when nothing can match. */
export function select(snapshot: Snapshot, request: SelectionRequest): Selection | undefined {
  const { source, timeRange } = request;
  const database = snapshot.databases.get(source.database);
  const measurement = database?.index.measurement(source.measurement);
  if (database === undefined || measurement === undefined) return undefined;
  const shards = snapshot.shards
    .filter(({ shard: { descriptor: d } }) => {
      const isSource =
        d.database === source.database && d.retentionPolicy === source.retentionPolicy;
      return isSource && d.start <= timeRange.end && d.end > timeRange.start;
    })
    .sort((a, b) => (a.shard.descriptor.start < b.shard.descriptor.start ? -1 : 1));
  const ordinals = selectOrdinals(database.index, measurement, request.where);
  const groups = groupSeries(database, measurement, {
    ordinals: ordinals.filter((ordinal) => {
      const id = measurement.seriesId(ordinal);
      return shards.some((view) => view.series.has(id));
    }),
    groupBy: request.groupBy,
  });
  if (request.descending) {
    shards.reverse();
    groups.reverse();
    for (const group of groups) group.series.reverse();
  }
  return { database, measurement, shards, groups };
}

type MutableGroup = { tags: ReadonlyMap<string, string>; values: string[]; series: SeriesId[] };

function groupSeries(
  database: Database,
  measurement: MeasurementIndex,
  request: { readonly ordinals: Uint32Array; readonly groupBy: SeriesGrouping },
): MutableGroup[] {
  const { index } = database;
  const keyOf = new Map<SeriesId, string>();
  const seriesKey = (id: SeriesId): string => {
    let key = keyOf.get(id);
    if (key === undefined) {
      key = index.tagsText(id);
      keyOf.set(id, key);
    }
    return key;
  };
  const byKey = (a: SeriesId, b: SeriesId): number => compareBytes(seriesKey(a), seriesKey(b));
  const ids = Array.from(request.ordinals, (ordinal) => measurement.seriesId(ordinal));
  if (request.groupBy === 'all') {
    return ids
      .sort(byKey)
      .map((id) => ({ tags: new Map(index.tags(id)), values: [], series: [id] }));
  }
  const names = request.groupBy;
  const columns = names.map((name) => measurement.column(name)?.values);
  const groups = new Map<string, MutableGroup>();
  for (const id of ids) {
    const ordinal = index.ordinalOf(id);
    const stored = columns.map((column) => column?.[ordinal] ?? 0);
    const key = stored.join(' ');
    const group = groups.get(key);
    if (group !== undefined) {
      group.series.push(id);
      continue;
    }
    const values = stored.map((value) => (value === 0 ? '' : index.text(value - 1)));
    const tags = new Map(names.map((name, i) => [name, values[i] ?? '']));
    groups.set(key, { tags, values, series: [id] });
  }
  const result = [...groups.values()].sort((a, b) => {
    for (let i = 0; i < a.values.length; i++) {
      const order = compareBytes(a.values[i]!, b.values[i]!);
      if (order !== 0) return order;
    }
    return 0;
  });
  for (const group of result) if (group.series.length > 1) group.series.sort(byKey);
  return result;
}
