// The source of a reader (docs/adr/0034-readers.md): aggregates over the parts of a snapshot that
// another thread has leased. The operators are those of the other thread; only what they read is
// made from the message.
import { Internal, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { zeroCounters } from '@tidemark/query';
import type {
  AggregateBatch,
  Operator,
  RequestOptions,
  SeriesSource,
  SourceSnapshot,
} from '@tidemark/query';
import type { ShardDescriptor } from '@tidemark/storage-api';

import type { ReadKernels } from '../columns/read-kernels.ts';
import { RowBlock } from '../columns/row-block.ts';
import { timeBoundsOf } from '../columns/row-order.ts';
import { firstBeyond } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { Disk } from '../disk/disk.ts';
import { segmentPath } from '../disk/paths.ts';
import { Table } from '../memtable/table.ts';
import { Turns } from '../schedule/turns.ts';
import { SegmentCaches } from '../segment/segment-caches.ts';
import { Segment } from '../segment/segment.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { ShardView } from '../state/snapshot.ts';
import { aggregateSelected } from './aggregate.ts';
import type { Selection } from './groups.ts';
import { LastRows } from './last-rows.ts';
import { GROUP_NUMBER } from './leased-read.ts';
import type {
  LeasedParts,
  LeasedRequest,
  LeasedShard,
  LeasedTable,
  ListOfShard,
  ShardList,
} from './leased-read.ts';
import { CAPABILITIES, ending } from './local-source.ts';
import { MemoryTotal, RequestMemory } from './request-memory.ts';
import { SeriesGroups } from './series-groups.ts';
import { sliced } from './slicer.ts';

export type LeasedSourceOptions = {
  readonly disk: Disk;
  /** The engine's. */
  readonly directory: string;
  readonly kernels: ReadKernels;
  readonly clock: Clock;
  readonly sliceMs: number;
  readonly nextRound?: ((run: () => void) => void) | undefined;
  /** A read has ended: it reads no file any more. */
  readonly onEnd: (lease: number) => void;
};

export class LeasedSource implements SeriesSource {
  readonly capabilities = CAPABILITIES;
  readonly #options: LeasedSourceOptions;
  readonly #turns: Turns;
  readonly #caches: SegmentCaches;
  readonly #requestMemory = new MemoryTotal();
  readonly #lastRows = new LastRows();
  /** By shard and kind, then by version. */
  readonly #lists = new Map<string, Map<number, ShardList>>();
  /** By the number of the file. */
  readonly #segments = new Map<number, Segment>();

  constructor(options: LeasedSourceOptions) {
    this.#options = options;
    this.#turns = new Turns(options);
    this.#caches = new SegmentCaches(options.kernels);
  }

  /** Keeps a list, which requests name by its version. */
  keep(of: ListOfShard, list: ShardList): void {
    const known = this.#lists.get(keyOf(of));
    if (known === undefined) this.#lists.set(keyOf(of), new Map([[of.version, list]]));
    else known.set(of.version, list);
  }

  /** No request names the list any more. */
  drop(of: ListOfShard): void {
    this.#lists.get(keyOf(of))?.delete(of.version);
  }

  /** Closes files that have been removed. */
  forget(files: readonly number[]): void {
    for (const file of files) {
      this.#segments.get(file)?.close();
      this.#segments.delete(file);
    }
  }

  /** Closes all files. */
  close(): void {
    this.forget([...this.#segments.keys()]);
    this.#lists.clear();
  }

  /** For one request. */
  snapshot(): SourceSnapshot {
    let lease: number | undefined;
    return {
      schema: refused,
      names: refused,
      scan: refused,
      aggregate: (request, how) => {
        const leased = request as LeasedRequest;
        ({ lease } = leased.parts);
        return this.#aggregate(leased, how);
      },
      close: () => {
        if (lease !== undefined) this.#options.onEnd(lease);
      },
    };
  }

  #aggregate(request: LeasedRequest, how: RequestOptions): Operator<AggregateBatch> {
    const { kernels } = this.#options;
    const { signal, counters = zeroCounters() } = how;
    const memory = new RequestMemory(how.memoryLimitBytes, this.#requestMemory, how.memory);
    const shared = { kernels, lastRows: this.#lastRows };
    const work = this.#read(request, { ...shared, counters, memory });
    return sliced(ending(work, { memory, kernels }), { turns: this.#turns, signal, memory });
  }

  *#read(
    { sources, parts, ...common }: LeasedRequest,
    options: Parameters<typeof aggregateSelected>[2],
  ): Operator<AggregateBatch> {
    const request = { ...common, source: sources[0]! };
    const { counters } = options;
    const { clock } = this.#options;
    let began = clock.monotonicMs();
    for (const batch of aggregateSelected(this.#selection(parts), request, options)) {
      counters.readerMs += clock.monotonicMs() - began;
      yield batch;
      began = clock.monotonicMs();
    }
    counters.readerMs += clock.monotonicMs() - began;
  }

  #selection({ measurementId, series, ends, shards }: LeasedParts): Selection {
    const ids = series.toSorted();
    /** Series are numbered as they are in this request. */
    const ordinalOf = (id: number): number => firstBeyond(ids.length, (i) => ids[i]! >= id);
    const groupOf = new Map<number, number>();
    ends.forEach((_, group) => groupOf.set(series[ends[group - 1] ?? 0]!, group));
    const tagsOf = (id: SeriesId): ReadonlyMap<string, string> =>
      new Map([[GROUP_NUMBER, String(groupOf.get(id))]]);
    // Requests that need more of them are not leased.
    const index = { ordinalOf } as Selection['database']['index'];
    const measurement = {
      id: measurementId,
      seriesId: (ordinal: number) => ids[ordinal],
    } as Selection['measurement'];
    return {
      database: { instance: 0, index, hidesSeries: false },
      measurement,
      shards: shards.map((shard) => this.#view(shard, { measurementId, ordinalOf })),
      groups: new SeriesGroups({ series, ends, tagsOf }),
    };
  }

  #view(
    { id, start, end, segments, tombstones, has, tables }: LeasedShard,
    of: OfMeasurement,
  ): ShardView {
    const views = tables.map((table) => tableView(table, of));
    return {
      shard: { descriptor: { id, start, end } as ShardDescriptor } as ShardView['shard'],
      series: { has: (series: number) => has[of.ordinalOf(series)] === 1 } as ShardView['series'],
      segments: this.#list<SegmentInfo>(segments).map((info) => this.#segment(id, info)),
      tombstones: this.#list<Tombstone>(tombstones),
      tables: new Map(views.length === 0 ? [] : [[of.measurementId, views]]),
    };
  }

  #list<T extends ShardList[number]>(of: ListOfShard): readonly T[] {
    const list = this.#lists.get(keyOf(of))?.get(of.version);
    if (list === undefined) throw new Internal(`a reader lacks a list. version=${of.version}`);
    return list as unknown as readonly T[];
  }

  #segment(shardId: number, info: SegmentInfo): Segment {
    let segment = this.#segments.get(info.fileId);
    if (segment === undefined) {
      const { disk, directory } = this.#options;
      const file = disk.open(segmentPath(directory, shardId, info.fileId), 'read');
      try {
        segment = Segment.open(info, file, this.#caches);
      } catch (error) {
        file.close();
        throw error;
      }
      this.#segments.set(info.fileId, segment);
    }
    return segment;
  }
}

function keyOf({ of, shard }: ListOfShard): string {
  return `${of} ${shard}`;
}

type OfMeasurement = {
  readonly measurementId: number;
  readonly ordinalOf: (series: number) => number;
};

function tableView(
  { isDense, series, times, columns }: LeasedTable,
  { measurementId, ordinalOf }: OfMeasurement,
): ShardView['tables'] extends ReadonlyMap<number, readonly (infer T)[]> ? T : never {
  const block = RowBlock.adopt(measurementId, series, times, timeBoundsOf(times));
  for (const { name, column } of columns) block.setColumn(name, column);
  const table = new Table(measurementId, { ordinalOf });
  table.append(block);
  return { table, rows: table.rows, isDense };
}

function refused(): never {
  throw new Unavailable('a reader only aggregates');
}
