// `first` and `last` of groups in which several series have a row at the chosen time. The choice
// among them depends on all series with a row in the shard (`pickTied`), so the first or last row
// of each of them there is read.
import { columnFrom, columnValue } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import { pickTied } from '@tidemark/query';
import type {
  AggregateBatch,
  MeasurementAggregates,
  EndFunction,
  FieldAggregates,
  TiedRow,
} from '@tidemark/query';

import type { DatabaseView, ShardView } from '../state/snapshot.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import type { RequestMemory } from './request-memory.ts';
import { byKey } from './series-order.ts';

/** Aggregates of some series in one shard. */
export type SeriesPart = {
  readonly view: ShardView;
  readonly series: Uint32Array;
  readonly aggregates: readonly FieldAggregates[];
};

/** The aggregates of one series of a part; `index` is its number in the part. */
export type SeriesAggregates = { readonly index: number; readonly batch: AggregateBatch };

export type TiedGroup = {
  readonly database: DatabaseView;
  readonly measurement: MeasurementIndex;
  readonly shards: readonly ShardView[];
  readonly series: Uint32Array;
  readonly request: MeasurementAggregates;
  readonly memory: RequestMemory;
  readonly read: (part: SeriesPart) => Generator<SeriesAggregates | undefined>;
};

/** At most this many series are read at once, times the number of fields. */
const PART_SERIES = 65_534;
/** A row that is kept until its shard is read. */
const TIED_BYTES = 80;

/** The batch of a group, which has one window, with the values that `first` and `last` choose. */
export function* settleTies(
  batch: AggregateBatch,
  group: TiedGroup,
): Generator<undefined, AggregateBatch> {
  const { aggregates } = group.request;
  let { fields } = batch;
  for (const name of ['first', 'last'] as const) {
    const places = aggregates.map(({ functions }) => functions.indexOf(name));
    const wanted = places.flatMap((place, i) => {
      const column = fields[i]?.[place];
      return column === undefined || columnValue(column.values, 0) === null ? [] : [i];
    });
    if (wanted.length === 0) continue;
    const picked = yield* pickedValues(name, wanted, group);
    fields = fields.map((columns, i) => {
      const value = picked.get(i);
      return columns.map((column, place) => {
        if (value === undefined || place !== places[i]) return column;
        return { ...column, values: columnFrom(column.values.type, [value]) };
      });
    });
  }
  return { ...batch, fields };
}

/** The chosen values, by the number of the field. */
function* pickedValues(
  name: EndFunction,
  wanted: readonly number[],
  { database, measurement, shards, series, request, memory, read }: TiedGroup,
): Generator<undefined, ReadonlyMap<number, FieldValue>> {
  const picked = new Map<number, FieldValue>();
  const sorted = yield* byKey({ database, measurement, ids: series, memory });
  const direction = name === 'first' ? 1 : -1;
  const byTime = shards.toSorted(
    (a, b) => direction * (a.shard.descriptor.start < b.shard.descriptor.start ? -1 : 1),
  );
  for (const view of byTime) {
    const left = wanted.filter((field) => !picked.has(field));
    if (left.length === 0) break;
    const heads = left.map(() => new Heads(name, sorted.length, memory));
    const aggregates = left.map((field): FieldAggregates => {
      return { ...request.aggregates[field]!, functions: [name] };
    });
    for (const part of partsOf(sorted, Math.floor(PART_SERIES / left.length))) {
      const ids = part.map((place) => sorted[place]!);
      for (const found of read({ view, series: ids, aggregates })) {
        if (found === undefined) {
          yield undefined;
          continue;
        }
        for (const [i, [column]] of found.batch.fields.entries()) {
          const value = column && columnValue(column.values, 0);
          const time = column?.pointTimes?.[0];
          if (value === undefined || value === null || time === undefined) continue;
          heads[i]?.add(part[found.index]!, time, value);
        }
      }
    }
    for (const [i, field] of left.entries()) {
      const value = heads[i]?.pick();
      if (value !== undefined) picked.set(field, value);
    }
  }
  return picked;
}

/**
 * Positions in the order of keys, in parts. When there are several parts, each has consecutive ids,
 * whose rows lie together.
 */
function* partsOf(byKey: Uint32Array, size: number): Generator<Uint32Array> {
  const places = Uint32Array.from(byKey, (_, place) => place);
  if (places.length > size) places.sort((a, b) => byKey[a]! - byKey[b]!);
  for (let from = 0; from < places.length; from += size) yield places.subarray(from, from + size);
}

/** The first or last rows of all series of a group in one shard. */
class Heads {
  readonly #name: EndFunction;
  readonly #memory: RequestMemory;
  readonly #isThere: Uint8Array;
  #best: bigint | undefined;
  #tied: TiedRow[] = [];

  constructor(name: EndFunction, seriesCount: number, memory: RequestMemory) {
    this.#name = name;
    this.#memory = memory;
    this.#isThere = new Uint8Array(seriesCount);
  }

  add(place: number, time: bigint, value: FieldValue): void {
    this.#isThere[place] = 1;
    const best = this.#best;
    if (best !== undefined && time !== best) {
      if (this.#name === 'first' ? time > best : time < best) return;
      this.#tied = [];
    }
    this.#best = time;
    this.#tied.push({ place, value });
    this.#memory.check(this.#tied.length * TIED_BYTES, 'rows of one time');
  }

  pick(): FieldValue | undefined {
    const [one, ...others] = this.#tied;
    if (one === undefined || others.every(({ value }) => value === one.value)) return one?.value;
    let seriesCount = 0;
    const placeAmongThese = Uint32Array.from(this.#isThere, (isThere) => {
      seriesCount += isThere;
      return seriesCount - 1;
    });
    const placed = ({ place, value }: TiedRow): TiedRow => {
      return { place: placeAmongThese[place]!, value };
    };
    return pickTied([placed(one), ...others.map(placed)], seriesCount, this.#name).value;
  }
}
