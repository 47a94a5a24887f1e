// Windows of one field of one group: numbers and booleans in the kernel, strings here. Semantics:
// AggregateBatch in the query package.
import type { Column, FieldType } from '@tidemark/core';
import { floorMod } from '@tidemark/core';
import type { Accumulator, Scans, WindowResult, Words } from '@tidemark/kernels';
import type {
  AggregateColumn,
  AggregateFunction,
  AggregateRequest,
  FieldAggregates,
} from '@tidemark/query';

import { newFieldArray } from '../columns/row-block.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { FieldResult, FieldWindows } from './windows.ts';
import { CountWindows, isCountOnly } from './count-windows.ts';
import { columnOf } from '../columns/run.ts';

/** Windows of one field of a request. */
export function openFieldWindows(
  scans: Scans,
  request: AggregateRequest,
  field: FieldAggregates,
): FieldWindows {
  if (isCountOnly(field.functions)) return new CountWindows(scans, request, field);
  if (field.type === 'string') return new TextWindows(request);
  return new NumberWindows(scans, request, { ...field, type: field.type });
}

class NumberWindows implements FieldWindows {
  readonly #type: Exclude<FieldType, 'string'>;
  readonly #accumulator: Accumulator;
  readonly #wantsMean: boolean;
  readonly #wanted: readonly WindowResult[];
  readonly #hasTimes: boolean;

  constructor(
    scans: Scans,
    { window, timeRange, omitsPointTimes = false }: AggregateRequest,
    { type, functions }: FieldAggregates & { readonly type: Exclude<FieldType, 'string'> },
  ) {
    this.#type = type;
    this.#wantsMean = functions.includes('mean');
    this.#hasTimes = !omitsPointTimes;
    const results = functions.flatMap((name) => RESULTS[name]);
    const wanted = omitsPointTimes ? results.filter((name) => !name.endsWith('Time')) : results;
    this.#wanted = ['start', ...new Set(wanted)];
    this.#accumulator = scans.openAccumulator(type, {
      window,
      start: timeRange.start,
      wantsSum: functions.some((name) => name === 'sum' || name === 'mean'),
      wantsMean: this.#wantsMean,
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
    if (chunk.columns[index] === undefined) return true;
    const cached = chunk.type(index) === this.#type ? chunk.cached(index) : undefined;
    if (cached === undefined) return false;
    this.#accumulator.addCached(cached.times, cached.values, cached.rows);
    return true;
  }

  hasStatistics(chunk: ChunkReader, index: number): boolean {
    const column = chunk.columns[index];
    if (column === undefined) return true;
    if (column.statistics === undefined || chunk.type(index) !== this.#type) return false;
    return !this.#wantsMean || !mayHaveWrapped(column.count, column.statistics);
  }

  addStatistics(chunk: ChunkReader, index: number, start: bigint): void {
    const column = chunk.columns[index];
    if (column?.statistics === undefined) return;
    this.#accumulator.addPartial(start, column.count, column.statistics);
  }

  finish(descending: boolean): FieldResult {
    const type = this.#type;
    const wanted = this.#wanted;
    const words = this.#accumulator.results(wanted, { descending });
    const wordsOf = (name: WindowResult): Words => words[wanted.indexOf(name)] ?? NO_WORDS;
    return {
      starts: times(wordsOf('start')),
      column: (name) => numberColumn(name, type, { wordsOf, hasTimes: this.#hasTimes }),
    };
  }

  reset(): void {
    this.#accumulator.reset();
  }

  close(): void {
    this.#accumulator.close();
  }
}

/**
 * Whether integers between two bounds can have a sum beyond 64 bits; that of floats is never
 * wrapped.
 */
function mayHaveWrapped(count: number, { min, max }: { min: unknown; max: unknown }): boolean {
  if (typeof min !== 'bigint' || typeof max !== 'bigint') return false;
  return count * Math.max(Math.abs(Number(min)), Math.abs(Number(max))) >= SURE_SUM;
}

/** Below the largest int64 by more than the bounds of a sum are rounded. */
const SURE_SUM = 2 ** 62;

const NO_WORDS = new Float64Array(0);

/** What a function needs of the windows. */
const RESULTS: Readonly<Record<AggregateFunction, readonly WindowResult[]>> = {
  count: ['count'],
  sum: ['sum'],
  mean: ['mean'],
  spread: ['spread'],
  min: ['min', 'minTime'],
  max: ['max', 'maxTime'],
  first: ['first', 'firstTime'],
  last: ['last', 'lastTime'],
};

function numberColumn(
  name: AggregateFunction,
  type: Exclude<FieldType, 'string'>,
  {
    wordsOf,
    hasTimes,
  }: { readonly wordsOf: (name: WindowResult) => Words; readonly hasTimes: boolean },
): AggregateColumn {
  const values = wordsOf(name);
  switch (name) {
    case 'count':
      return { values: columnOfWords('integer', values) };
    case 'mean':
      if (type === 'boolean') return { values: nulls('float', values.length) };
      return { values: columnOfWords('float', values) };
    case 'sum':
    case 'spread':
      if (type === 'boolean') return { values: nulls(type, values.length) };
      return { values: columnOfWords(type, values) };
    case 'min':
    case 'max':
    case 'first':
    case 'last': {
      const column = columnOfWords(type, values);
      if (!hasTimes) return { values: column };
      return { values: column, pointTimes: times(wordsOf(`${name}Time`)) };
    }
  }
}

function times({ buffer, byteOffset, length }: Words): BigInt64Array {
  return new BigInt64Array(buffer, byteOffset, length);
}

/** A column of the kernel's words; it holds booleans as numbers of 64 bits. */
function columnOfWords(type: Exclude<FieldType, 'string'>, words: Words): Column {
  const { buffer, byteOffset, length } = words;
  const valid = undefined;
  switch (type) {
    case 'float':
      return { type, values: words, valid };
    case 'integer':
      return { type, values: new BigInt64Array(buffer, byteOffset, length), valid };
    case 'unsigned':
      return { type, values: new BigUint64Array(buffer, byteOffset, length), valid };
    case 'boolean': {
      const numbers = new BigUint64Array(buffer, byteOffset, length);
      return { type, values: Uint8Array.from(numbers, Number), valid };
    }
  }
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

  /**
   * Chunks of strings have no statistics, and then those of the other columns are not used either.
   */
  hasStatistics(chunk: ChunkReader, index: number): boolean {
    return chunk.columns[index] === undefined;
  }

  addStatistics(): void {
    // There is no column here, see above.
  }

  finish(descending: boolean): FieldResult {
    const starts = BigInt64Array.from(this.#windows.keys()).sort();
    if (descending) starts.reverse();
    const windows = Array.from(starts, (start) => this.#windows.get(start)!);
    return { starts, column: (name) => textColumn(windows, name) };
  }

  reset(): void {
    this.#windows.clear();
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
