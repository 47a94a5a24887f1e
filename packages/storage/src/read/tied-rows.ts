// `first` and `last` of groups in which several series have a row at the chosen time. The choice
// among them depends on all series with a row in the shard (`pickTied`), so it is read again which
// series these are, for all groups at once.
import { AssertionFailed, columnFrom, columnValue, textAt } from '@tidemark/core';
import type { Column, FieldType, FieldValue } from '@tidemark/core';
import { pickTied } from '@tidemark/query';
import type { AggregateBatch, EndFunction, TiedRow } from '@tidemark/query';

import type { ColumnMeta } from '../segment/format.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { ShardView } from '../state/snapshot.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { GroupOfSeries } from './group-of-series.ts';
import type { Selection } from './groups.ts';
import type { RequestMemory } from './request-memory.ts';
import { SeriesGroups } from './series-groups.ts';
import type { SeriesGroup } from './series-groups.ts';
import { byKey } from './series-order.ts';
import type { FieldResult, FieldWindows, GroupedWindows, ReadRequest } from './windows.ts';

/** A group, and its batch of one window. */
export type GroupBatch = {
  readonly group: SeriesGroup;
  readonly batch: AggregateBatch;
};

/** A field, and where the rows of its groups are collected. */
export type TiedField = {
  readonly field: string;
  readonly type: FieldType;
  readonly rows: TiedRows;
};

export type TiedWork = {
  readonly selection: Selection;
  readonly request: ReadRequest;
  readonly memory: RequestMemory;
  /** Reads fields of all rows of a selection. */
  readonly read: (fields: readonly TiedField[], selection: Selection) => Generator<undefined>;
};

/** A number for each series, and its row if that is tied. */
const SERIES_BYTES = 4;
const TIED_BYTES = 80;

/** The batches of groups, with the values that `first` and `last` choose. */
export function* settleTies(
  batches: readonly GroupBatch[],
  work: TiedWork,
): Generator<undefined, readonly AggregateBatch[]> {
  const settled = batches.map(({ batch }) => batch);
  const shared = batches.flatMap(({ group, batch }, number) =>
    group.series.length < 2 ? [] : { number, group, batch },
  );
  for (const name of ['first', 'last'] as const) {
    for (const view of work.selection.shards) {
      const inShard = shared.filter(({ batch }) => hasEndIn(view, batch, name, work.request));
      if (inShard.length === 0) continue;
      const picked = yield* pickedValues(inShard, { name, view }, work);
      for (const { field, values } of picked) {
        const place = work.request.aggregates[field]!.functions.indexOf(name);
        for (const [i, { number }] of inShard.entries()) {
          const value = values[i];
          if (value !== undefined)
            settled[number] = withValue(settled[number]!, field, place, value);
        }
      }
    }
  }
  return settled;
}

function withValue(
  { fields, ...batch }: AggregateBatch,
  field: number,
  place: number,
  value: FieldValue,
): AggregateBatch {
  const ofField = fields[field]!.map((column, i) => {
    if (i !== place) return column;
    return { ...column, values: columnFrom(column.values.type, [value]) };
  });
  return { ...batch, fields: fields.with(field, ofField) };
}

/** The time that an aggregate of a group has chosen, if it has a value. */
function endTime(batch: AggregateBatch, field: number, place: number): bigint | undefined {
  const column = batch.fields[field]?.[place];
  if (column === undefined || columnValue(column.values, 0) === null) return undefined;
  return column.pointTimes?.[0];
}

function isWithin({ shard: { descriptor } }: ShardView, time: bigint | undefined): boolean {
  return time !== undefined && time >= descriptor.start && time < descriptor.end;
}

function hasEndIn(
  view: ShardView,
  batch: AggregateBatch,
  name: EndFunction,
  { aggregates }: ReadRequest,
): boolean {
  return aggregates.some(({ functions }, field) =>
    isWithin(view, endTime(batch, field, functions.indexOf(name))),
  );
}

type Picked = {
  /** Its number among those of the request. */
  readonly field: number;
  /** By the number of the group; `undefined` where the time is in another shard. */
  readonly values: readonly (FieldValue | undefined)[];
};

/** The values that `first` or `last` choose for groups in a shard. */
function* pickedValues(
  ofGroups: readonly { readonly group: SeriesGroup; readonly batch: AggregateBatch }[],
  { name, view }: { readonly name: EndFunction; readonly view: ShardView },
  { selection, request, memory, read }: TiedWork,
): Generator<undefined, readonly Picked[]> {
  const groups = SeriesGroups.of(ofGroups.map(({ group }) => group));
  const groupOf = new GroupOfSeries(groups, memory);
  const fields = request.aggregates.flatMap(({ field, type, functions }, number) => {
    const place = functions.indexOf(name);
    const times = ofGroups.map(({ batch }) => {
      const time = endTime(batch, number, place);
      return isWithin(view, time) ? time : undefined;
    });
    if (times.every((time) => time === undefined)) return [];
    return { number, field, type, rows: new TiedRows({ name, type, times, groups, memory }) };
  });
  yield* read(fields, { ...selection, shards: [view], groups });
  const picked: Picked[] = [];
  for (const { number, rows } of fields) {
    const values = Array.from(groups, ({ series }) => rows.onlyValue(series));
    const open = groups.series.filter((id) => {
      return values[groupOf.of(id as SeriesId)] === undefined && rows.has(id);
    });
    const heads = values.map((): Heads => ({ seriesCount: 0, tied: [] }));
    for (const id of yield* byKey({ ...selection, ids: open, memory })) {
      const ofGroup = heads[groupOf.of(id as SeriesId)]!;
      const value = rows.tiedValue(id);
      if (value !== undefined) ofGroup.tied.push({ place: ofGroup.seriesCount, value });
      ofGroup.seriesCount++;
    }
    for (const [group, { tied, seriesCount }] of heads.entries()) {
      if (isSome(tied)) values[group] = pickTied(tied, seriesCount, name).value;
    }
    picked.push({ field: number, values });
  }
  return picked;
}

/** The first or last rows of all series of a group in one shard. */
type Heads = { seriesCount: number; readonly tied: TiedRow[] };

function isSome<T>(list: readonly T[]): list is readonly [T, ...T[]] {
  return list.length > 0;
}

type TiedRowsOptions = {
  readonly name: EndFunction;
  readonly type: FieldType;
  /** Of the wanted rows, by the number of the group. */
  readonly times: readonly (bigint | undefined)[];
  readonly groups: SeriesGroups;
  readonly memory: RequestMemory;
};

const NO_ROW = 0;
/** The series has rows, at other times than its group's. */
const OTHER_ROWS = 1;
/** The series has a row at the time of its group: this, plus the number of its value. */
const TIED = 2;

/** Which series have a value of a field, and which have one at the time of their group. */
export class TiedRows implements GroupedWindows {
  readonly windowCount = 0;
  readonly #name: EndFunction;
  readonly #type: FieldType;
  readonly #times: readonly (bigint | undefined)[];
  readonly #memory: RequestMemory;
  readonly #first: number;
  /** By the id of the series. */
  readonly #states: Uint32Array;
  readonly #values: FieldValue[] = [];

  constructor({ name, type, times, groups: { series }, memory }: TiedRowsOptions) {
    this.#name = name;
    this.#type = type;
    this.#times = times;
    this.#memory = memory;
    let [first, last] = [Number.POSITIVE_INFINITY, -1];
    for (const id of series) {
      if (id < first) first = id;
      if (id > last) last = id;
    }
    memory.check((last - first + 1) * SERIES_BYTES, 'series with rows');
    this.#first = first;
    this.#states = new Uint32Array(last - first + 1);
  }

  has(series: number): boolean {
    return this.#states[series - this.#first] !== NO_ROW;
  }

  tiedValue(series: number): FieldValue | undefined {
    const state = this.#states[series - this.#first]!;
    return state < TIED ? undefined : this.#values[state - TIED];
  }

  /** The value that all tied rows of some series have, if they have one. */
  onlyValue(series: Uint32Array): FieldValue | undefined {
    let only: FieldValue | undefined;
    for (const id of series) {
      const value = this.tiedValue(id);
      if (value === undefined) continue;
      if (only !== undefined && only !== value) return undefined;
      only = value;
    }
    return only;
  }

  add(groups: Uint32Array, times: BigInt64Array, column: Column, series: Uint32Array): void {
    for (let row = 0; row < groups.length; row++) {
      if (column.valid?.[row] === 0) continue;
      const isTied = this.#addRow(series[row]!, groups[row]!, times[row]!);
      if (isTied) this.#values.push(columnValue(column, row)!);
    }
    this.#memory.check(this.#values.length * TIED_BYTES, 'rows of one time');
  }

  /** Whether the row is tied: its value comes next. */
  #addRow(series: number, group: number, time: bigint): boolean {
    const isTied = time === this.#times[group];
    if (isTied) this.#states[series - this.#first] = TIED + this.#values.length;
    else this.#states[series - this.#first] ||= OTHER_ROWS;
    return isTied;
  }

  of(group: number): FieldWindows {
    const type = this.#type;
    const isToldBy = ({ statistics, validBytes }: ColumnMeta, stored: FieldType): boolean =>
      stored === type && (statistics !== undefined || (type === 'string' && validBytes === 0));
    return {
      windowCount: 0,
      wants: { type, countsOnly: false, takesColumns: true, isToldBy },
      add: (times, column, series) => {
        const groups = new Uint32Array(times.length).fill(group);
        this.add(groups, times, column, new Uint32Array(times.length).fill(series));
      },
      addEntry: (chunk, index, _, series) => this.#addEntry(chunk, index, { group, series }),
      addCached: neverCached,
      finish: () => NO_WINDOWS,
      reset: () => undefined,
    };
  }

  /** The first or last value of a chunk: from its statistics, or a text. */
  #addEntry(chunk: ChunkReader, index: number, of: { group: number; series: number }): void {
    const { statistics } = chunk.columns[index]!;
    const name = this.#name;
    const ends = statistics ?? { firstTime: chunk.meta.minTime, lastTime: chunk.meta.maxTime };
    const time = name === 'first' ? ends.firstTime : ends.lastTime;
    if (!this.#addRow(of.series, of.group, time)) return;
    this.#values.push(statistics?.[name] ?? textAt(chunk.text(index, name), 0));
  }

  /** The rows stay until they are looked at. */
  close(): void {
    // There is no memory of the kernel.
  }
}

const NO_WINDOWS: FieldResult = { starts: new BigInt64Array(), columns: [], points: [] };

function neverCached(): never {
  throw new AssertionFailed('columns are taken, not their places in the cache');
}
