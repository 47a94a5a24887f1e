// Leaves the reading of a large aggregate to a reader in another thread
// (docs/adr/0034-readers.md). The series are selected here, and what is to be read is said by ids,
// by versions of the lists of a shard, and by copies of rows in memory.
import type { Column } from '@tidemark/core';
import { isPause } from '@tidemark/query';
import type {
  AggregateBatch,
  AggregateRequest,
  MeasurementAggregates,
  Operator,
  RequestOptions,
  SourceMemory,
} from '@tidemark/query';

import type { SegmentInfo } from '../segment/segment.ts';
import { MIN_STATISTICS_ROWS } from '../segment/format.ts';
import { overlaps } from '../columns/overlaps.ts';
import type { TimeSpan } from '../columns/overlaps.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { Uint32List } from '../columns/uint32-list.ts';
import { isDense } from '../memtable/table-rows.ts';
import type { TableView } from '../memtable/table-rows.ts';
import { commonResidual } from '../series/select.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { Reclaimer } from '../state/reclaimer.ts';
import type { ShardView } from '../state/snapshot.ts';
import type { ReadOptions } from './damaged-data.ts';
import type { PolicyView, Selection } from './groups.ts';
import type { RequestMemory } from './request-memory.ts';
import { withConditionFields } from './row-filter.ts';
import { requestedFields } from './windows.ts';

/** A list of a shard. Lists are replaced, never changed, so that each has a version. */
export type ShardList = readonly SegmentInfo[] | readonly Tombstone[];

export type ListOfShard = {
  readonly shard: number;
  readonly of: 'segments' | 'tombstones';
  /** Ascends within the shard's lists of this kind. */
  readonly version: number;
};

/** Rows of the selected series in a table in memory, in the order of arrival. */
export type LeasedTable = {
  readonly isDense: boolean;
  readonly series: Uint32Array;
  readonly times: BigInt64Array;
  readonly columns: readonly { readonly name: string; readonly column: Column }[];
};

export type LeasedShard = {
  readonly id: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly segments: ListOfShard;
  readonly tombstones: ListOfShard;
  /** By the position of a selected series in ascending order: 1 if it has rows here. */
  readonly has: Uint8Array;
  readonly tables: readonly LeasedTable[];
};

/** What is to be read: part of a snapshot, whose files stay until the lease ends. */
export type LeasedParts = {
  readonly lease: number;
  readonly measurementId: number;
  /** Ids of the series of all groups, and where those of each group end. */
  readonly series: Uint32Array;
  readonly ends: Uint32Array;
  readonly shards: readonly LeasedShard[];
};

/** An aggregate of one measurement. Its batches name their group by a number (`GROUP_NUMBER`). */
export type LeasedRequest = AggregateRequest & { readonly parts: LeasedParts };

/** The key in `groupTags` of a batch under which a reader says the number of the group. */
export const GROUP_NUMBER = '';

/** The versions of lists, of one engine. */
export class ListVersions {
  readonly #known = new WeakMap<object, ListOfShard>();
  #last = 0;

  of(shard: number, of: ListOfShard['of'], list: object): ListOfShard {
    let known = this.#known.get(list);
    if (known?.shard !== shard) {
      known = { shard, of, version: ++this.#last };
      this.#known.set(list, known);
    }
    return known;
  }
}

/** A reader in another thread. */
export interface LeasedReader {
  /** With fewer rows than this, the thread reads them itself. */
  readonly rowsMin: number;
  readonly versions: ListVersions;
  /**
   * Holds the lease until the reader has ended the read. Throws `Unavailable` when the reader dies.
   */
  aggregate(
    request: LeasedRequest,
    lists: ReadonlyMap<ListOfShard, ShardList>,
    options: RequestOptions,
  ): Operator<AggregateBatch>;
}

/** Readers as the engine has them. */
export interface EngineReaders extends LeasedReader {
  /** These files have been removed. */
  forget(files: readonly number[]): void;
  /** Resolves when no reader reads any more. */
  close(): Promise<void>;
}

/** The engine as its readers know it. */
export type ReadEngine = {
  readonly directory: string;
  /** Of snapshots. */
  readonly leases: Pick<Reclaimer, 'share'>;
};

export type MakeReaders = (engine: ReadEngine) => EngineReaders;

type Worth = { readonly selection: Selection; readonly request: MeasurementAggregates };

/** Whether so many rows are to be read, of a request that needs neither tags nor keys for each. */
export function isWorthReader(
  selection: Selection,
  request: MeasurementAggregates,
  rowsMin: number,
): boolean {
  const { where, best, picksTiedByKey = false, limitWindows } = request;
  if (picksTiedByKey || limitWindows !== undefined || isEndOnly(request)) return false;
  if (commonResidual(where) === undefined) return false;
  if (best !== undefined && best.distinctTags.length > 0) return false;
  if (best?.columns.some(({ kind }) => kind !== 'field') === true) return false;
  return rowsOf({ selection, request }) >= rowsMin;
}

/** Whether only the ends of series are wanted, of which few rows are read. */
function isEndOnly({ window, aggregates, folds = [], best }: MeasurementAggregates): boolean {
  if (window !== undefined || folds.length > 0 || best !== undefined) return false;
  return aggregates.every(({ functions }) =>
    functions.every((name) => name === 'first' || name === 'last'),
  );
}

/** An estimate of the rows that are read, as if they were spread evenly over time and series. */
function rowsOf({ selection, request }: Worth): number {
  const { shards, measurement, groups } = selection;
  const { timeRange } = request;
  let rows = 0;
  for (const view of shards) {
    for (const segment of view.segments) {
      const stored = segment.measurement(measurement.id);
      if (stored === undefined || !overlaps(segment.footer, timeRange)) continue;
      const share = Math.min(1, groups.series.length / Math.max(1, stored.series.length));
      rows += stored.rows * share * shareOf(segment.footer, timeRange);
    }
    for (const { table, rows: count } of view.tables.get(measurement.id) ?? []) {
      const { min: minTime, max: maxTime } = table.timeBounds;
      const share = Math.min(1, groups.series.length / Math.max(1, table.ordinalEnd));
      rows += count * share * shareOf({ minTime, maxTime }, timeRange);
    }
  }
  return rows;
}

/** The share of a span that is within a range. */
function shareOf(
  { minTime, maxTime }: TimeSpan,
  { start, end }: MeasurementAggregates['timeRange'],
): number {
  const from = start > minTime ? start : minTime;
  const to = end < maxTime ? end : maxTime;
  if (from > to) return 0;
  return Number(to - from + 1n) / Number(maxTime - minTime + 1n);
}

type Leasing = Worth & {
  readonly view: PolicyView;
  /** Blocks of many series are folded, for which all rows of a table are read. */
  readonly isWhole: boolean;
};

/** The batches of the aggregate, read by the reader. */
export function* readLeased(
  { view, selection, request, isWhole }: Leasing,
  { memory, counters, signal }: ReadOptions,
  reader: LeasedReader,
): Operator<AggregateBatch> {
  const { groups, measurement } = selection;
  const { source, ...common } = request;
  const where = commonResidual(request.where)?.condition;
  const ids = groups.series.toSorted();
  const lists = new Map<ListOfShard, ShardList>();
  const shards: LeasedShard[] = [];
  for (const each of selection.shards) {
    const tables = yield* copiesOf(each, {
      selection,
      request: { ...request, where },
      ids,
      memory,
      isWhole,
    });
    const { id, start, end } = each.shard.descriptor;
    const segments = reader.versions.of(id, 'segments', each.segments);
    const tombstones = reader.versions.of(id, 'tombstones', each.tombstones);
    lists.set(
      segments,
      each.segments.map(({ info }) => info),
    );
    lists.set(tombstones, each.tombstones);
    const has = Uint8Array.from(ids, (series) => (each.series.has(series as SeriesId) ? 1 : 0));
    shards.push({ id, start, end, segments, tombstones, has, tables });
  }
  const { lease } = view.snapshot;
  const { series, ends } = groups;
  const parts: LeasedParts = { lease, measurementId: measurement.id, series, ends, shards };
  const leased: LeasedRequest = { ...common, where, sources: [source], parts };
  const options: RequestOptions = {
    signal: signal ?? NEVER,
    counters,
    memoryLimitBytes: memory.limitBytes,
    memory: { openSource: () => memoryOf(memory) },
  };
  for (const batch of reader.aggregate(leased, lists, options)) {
    if (isPause(batch)) yield batch;
    else {
      const group = Number(batch.groupTags.get(GROUP_NUMBER));
      yield { ...batch, groupTags: groups.tagsOf(group) };
    }
  }
}

const NEVER = new AbortController().signal;

/** The memory of the reader is that of the request. */
function memoryOf(memory: RequestMemory): SourceMemory {
  let grantedBytes = 0;
  return {
    get grantedBytes() {
      return grantedBytes;
    },
    ask: async (sizeBytes) => {
      memory.check(sizeBytes, 'rows in a reader');
      await memory.admitted();
      grantedBytes = sizeBytes;
    },
    release: () => undefined,
  };
}

type Copying = Omit<Leasing, 'view'> & {
  /** Of the selected series, ascending. */
  readonly ids: Uint32Array;
  readonly memory: RequestMemory;
};

function* copiesOf(view: ShardView, of: Copying): Generator<undefined, LeasedTable[]> {
  const tables: LeasedTable[] = [];
  for (const each of view.tables.get(of.selection.measurement.id) ?? []) {
    const { min: minTime, max: maxTime } = each.table.timeBounds;
    if (!overlaps({ minTime, maxTime }, of.request.timeRange)) continue;
    tables.push(yield* copyOf(each, of));
  }
  return tables;
}

/** Bytes of a copied row beside its values, and of a value. */
const ROW_BYTES = 16;
const VALUE_BYTES = 9;

function* copyOf(
  view: TableView,
  { selection, request, ids, memory, isWhole }: Copying,
): Generator<undefined, LeasedTable> {
  const { table } = view;
  const isSelected = new Uint8Array(table.ordinalEnd);
  const { index } = selection.database;
  for (const id of ids) isSelected[index.ordinalOf(id as SeriesId)] = 1;
  const range = isWhole ? undefined : request.timeRange;
  const found = new Uint32List();
  const series = new Uint32List();
  for (const { block, first, end } of table.blocksWithin(view.rows, range)) {
    for (let row = 0; row < end; row++) {
      const id = block.series[row]!;
      if (isSelected[index.ordinalOf(id as SeriesId)] !== 1) continue;
      found.push(first + row);
      series.push(id);
    }
    yield undefined;
  }
  const wanted = requestedFields(request).map(({ field, type }) => ({ name: field, type }));
  const names = new Set(withConditionFields(wanted, request.where).map(({ name }) => name));
  const rowBytes = ROW_BYTES + names.size * VALUE_BYTES;
  memory.hold(found.length * rowBytes, 'rows in memory');
  const picked = table.pick(found.toArray());
  const columns: { name: string; column: Column }[] = [];
  for (const name of names) {
    const type = table.typeOf(name);
    const column = type && picked.column({ name, type });
    if (column !== undefined) columns.push({ name, column });
    yield undefined;
  }
  return {
    isDense: isDense(view, MIN_STATISTICS_ROWS),
    series: series.toArray(),
    times: picked.times(),
    columns,
  };
}
