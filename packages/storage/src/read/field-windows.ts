// Windows of one field of one group: numbers and booleans in the kernel, strings here. Semantics: AggregateBatch in
// the query package.
import type { Column, FieldType } from '@tidemark/core';
import { floorMod } from '@tidemark/core';
import type { Accumulator, WindowPartials } from '@tidemark/kernels';
import type {
  AggregateColumn,
  AggregateFunction,
  AggregateRequest,
  FieldAggregates,
} from '@tidemark/query';

import { scans } from '../codecs.ts';
import { newFieldArray } from '../memtable/table.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { columnOf } from './run.ts';

/** Non-empty windows in the order of delivery, and their columns. */
export type FieldResult = {
  readonly starts: BigInt64Array;
  readonly column: (name: AggregateFunction) => AggregateColumn;
};

/** Takes rows of one series after the other, in runs of ascending times. Close it. */
export interface FieldWindows {
  readonly windowCount: number;
  add(times: BigInt64Array, column: Column, mask?: Uint8Array): void;
  /** Adds a chunk whose type is the field's without decoding it twice; `false` when `add` has to be used. */
  addChunk(chunk: ChunkReader, index: number): boolean;
  /** Adds a chunk that lies within the window that begins at `start` by its statistics, which it must have. */
  addStatistics(chunk: ChunkReader, index: number, start: bigint): void;
  finish(descending: boolean): FieldResult;
  close(): void;
}

/** Windows of one field of a request. */
export function openFieldWindows(request: AggregateRequest, field: FieldAggregates): FieldWindows {
  if (field.type === 'string') return new TextWindows(request);
  return new NumberWindows(request, field.type, field.functions);
}

class NumberWindows implements FieldWindows {
  readonly #type: Exclude<FieldType, 'string'>;
  readonly #accumulator: Accumulator;

  constructor(
    { window, timeRange }: AggregateRequest,
    type: Exclude<FieldType, 'string'>,
    functions: readonly AggregateFunction[],
  ) {
    this.#type = type;
    this.#accumulator = scans().openAccumulator(type, {
      window,
      start: timeRange.start,
      wantsSum: functions.some((name) => name === 'sum' || name === 'mean'),
      wantsExtremes: functions.some(
        (name) => name === 'min' || name === 'max' || name === 'spread',
      ),
    });
  }

  get windowCount(): number {
    return this.#accumulator.windowCount;
  }

  add(times: BigInt64Array, column: Column, mask?: Uint8Array): void {
    this.#accumulator.add(times, column, mask);
  }

  addChunk(chunk: ChunkReader, index: number): boolean {
    const { times } = chunk;
    const encoded = chunk.encoded(index);
    if (encoded === undefined) return false;
    const { block, from } = encoded;
    chunk.decoding(index, () => this.#accumulator.addEncoded(times, block, from));
    return true;
  }

  addStatistics(chunk: ChunkReader, index: number, start: bigint): void {
    const column = chunk.columns[index];
    if (column?.statistics === undefined) return;
    this.#accumulator.addPartial({ start, count: BigInt(column.count), ...column.statistics });
  }

  finish(descending: boolean): FieldResult {
    const type = this.#type;
    const partials = this.#accumulator.finish({ descending });
    return {
      starts: partials.starts,
      column: (name) => numberColumn(partials, type, name),
    };
  }

  close(): void {
    this.#accumulator.close();
  }
}

function numberColumn(
  partials: WindowPartials,
  type: Exclude<FieldType, 'string'>,
  name: AggregateFunction,
): AggregateColumn {
  const count = partials.starts.length;
  switch (name) {
    case 'count':
      return { values: { type: 'integer', values: partials.counts, valid: undefined } };
    case 'mean':
      if (type === 'boolean') return { values: nulls('float', count) };
      return { values: { type: 'float', values: means(partials), valid: undefined } };
    case 'sum':
      return { values: type === 'boolean' ? nulls(type, count) : words(type, partials.sums) };
    case 'spread':
      return { values: type === 'boolean' ? nulls(type, count) : words(type, spreads(partials)) };
    case 'min':
      return { values: words(type, partials.mins), pointTimes: partials.minTimes };
    case 'max':
      return { values: words(type, partials.maxs), pointTimes: partials.maxTimes };
    case 'first':
      return { values: words(type, partials.firsts), pointTimes: partials.firstTimes };
    case 'last':
      return { values: words(type, partials.lasts), pointTimes: partials.lastTimes };
  }
}

/** A column of the kernel's values; it holds booleans as numbers of 64 bits. */
function words(
  type: Exclude<FieldType, 'string'>,
  values: Float64Array | BigInt64Array | BigUint64Array,
): Column {
  if (type !== 'boolean') return columnOf(type, { values, valid: undefined });
  return { type, values: Uint8Array.from(values, Number), valid: undefined };
}

function means({ sums, counts }: WindowPartials): Float64Array {
  const result = new Float64Array(counts.length);
  for (let i = 0; i < result.length; i++) result[i] = Number(sums[i]) / Number(counts[i]);
  return result;
}

/** Differences; those of integers wrap in their array. */
function spreads({ mins, maxs }: WindowPartials): WindowPartials['mins'] {
  const result = maxs.slice();
  for (let i = 0; i < result.length; i++) {
    const difference = (maxs[i] as number) - (mins[i] as number);
    result[i] = difference;
  }
  return result;
}

function nulls(type: FieldType, count: number): Column {
  return columnOf(type, {
    values: newFieldArray(type, count),
    valid: new Uint8Array(count),
    dictionary: type === 'string' ? [''] : undefined,
  });
}

type TextPoint = { readonly text: string; readonly time: bigint };
type TextWindow = { count: number; first: TextPoint; last: TextPoint };

/** Strings have count, first and last; among equal times the larger text. */
class TextWindows implements FieldWindows {
  readonly #request: AggregateRequest;
  readonly #windows = new Map<bigint, TextWindow>();

  constructor(request: AggregateRequest) {
    this.#request = request;
  }

  get windowCount(): number {
    return this.#windows.size;
  }

  add(times: BigInt64Array, column: Column, mask?: Uint8Array): void {
    if (column.type !== 'string') return;
    const { codes, dictionary, valid } = column;
    for (let row = 0; row < times.length; row++) {
      if (valid?.[row] === 0 || mask?.[row] === 0) continue;
      this.#addPoint({ text: dictionary[codes[row]!] ?? '', time: times[row]! });
    }
  }

  addChunk(): boolean {
    return false;
  }

  addStatistics(): void {
    // Chunks of strings have no statistics, and then those of the other columns are not used either.
  }

  finish(descending: boolean): FieldResult {
    const starts = BigInt64Array.from(this.#windows.keys()).sort();
    if (descending) starts.reverse();
    const windows = Array.from(starts, (start) => this.#windows.get(start)!);
    return { starts, column: (name) => textColumn(windows, name) };
  }

  close(): void {
    this.#windows.clear();
  }

  #addPoint(point: TextPoint): void {
    const { window, timeRange } = this.#request;
    const { time, text } = point;
    const start =
      window === undefined
        ? timeRange.start
        : time - floorMod(time - window.offsetNanos, window.everyNanos);
    const held = this.#windows.get(start);
    if (held === undefined) {
      this.#windows.set(start, { count: 1, first: point, last: point });
      return;
    }
    const { first, last } = held;
    held.count++;
    if (time < first.time || (time === first.time && text > first.text)) held.first = point;
    if (time > last.time || (time === last.time && text > last.text)) held.last = point;
  }
}

function textColumn(windows: readonly TextWindow[], name: AggregateFunction): AggregateColumn {
  const count = windows.length;
  switch (name) {
    case 'count':
      return {
        values: {
          type: 'integer',
          values: BigInt64Array.from(windows, (window) => BigInt(window.count)),
          valid: undefined,
        },
      };
    case 'first':
    case 'last': {
      const points = windows.map((window) => window[name]);
      return {
        values: {
          type: 'string',
          codes: Uint32Array.from(points, (_, i) => i),
          dictionary: points.map(({ text }) => text),
          valid: undefined,
        },
        pointTimes: BigInt64Array.from(points, ({ time }) => time),
      };
    }
    case 'min':
    case 'max':
      return { values: nulls('string', count), pointTimes: new BigInt64Array(count) };
    case 'mean':
      return { values: nulls('float', count) };
    case 'sum':
    case 'spread':
      return { values: nulls('string', count) };
  }
}
