// Windows of one field for each group. Those of numbers and booleans are in the kernel's memory.
// Semantics: `AggregateBatch` in the query package.
import { assert } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import type { Accumulator, Accumulators, Scans, WindowResult, Words } from '@tidemark/kernels';
import type { AggregateColumn, AggregateFunction, FieldAggregates } from '@tidemark/query';

import { columnOfWords } from '../columns/kernel-words.ts';
import type { NumericType } from '../columns/kernel-words.ts';
import { nullColumn } from '../columns/null-column.ts';
import type { ColumnMeta } from '../segment/format.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { ColumnWants } from './column-plan.ts';
import type {
  FieldResult,
  FieldWindows,
  GroupedWindows,
  RequestedField,
  WindowsRequest,
} from './windows.ts';
import { groupedBestRows } from './best-rows.ts';
import { GroupedCounts, isCountOnly } from './count-windows.ts';
import { groupedNthTimes } from './nth-time.ts';
import { GroupedTallies } from './tally-windows.ts';
import { groupedTextFolds } from './text-folds.ts';
import { groupedTexts } from './text-windows.ts';

type GroupedField = FieldAggregates & { readonly count: number };

/** Opens windows of one field for `field.groups` groups; `index` is that of their series. */
export function openFieldWindows(
  scans: Scans,
  request: WindowsRequest,
  field: RequestedField & { readonly groups: number },
  index: () => SeriesIndex,
): GroupedWindows {
  const { groups: count } = field;
  if (field.kind === 'tied') return field.rows;
  if (field.kind === 'nth-time') return groupedNthTimes(scans, request, field);
  if (field.kind === 'best') return groupedBestRows(request, field, index);
  if (field.kind === 'folds') {
    const { type } = field;
    if (type === 'string') return groupedTextFolds(request, field);
    return new GroupedTallies(scans, request, { ...field, type, count });
  }
  if (isCountOnly(field.functions)) return new GroupedCounts(scans, request, { ...field, count });
  if (field.type === 'string') return groupedTexts(request, field.functions);
  return new GroupedNumbers(scans, request, { ...field, type: field.type, count });
}

/** What is wanted of a field of numbers: of its stored columns, and as results. */
type NumberWants = {
  readonly type: NumericType;
  readonly functions: readonly AggregateFunction[];
  readonly ofColumn: ColumnWants;
  readonly wanted: readonly WindowResult[];
  readonly hasTimes: boolean;
};

class GroupedNumbers implements GroupedWindows {
  readonly #accumulators: Accumulators;
  readonly #wants: NumberWants;

  constructor(
    scans: Scans,
    { window, timeRange, omitsPointTimes = false, picksTiedByKey = false }: WindowsRequest,
    { type, functions, count }: GroupedField & { readonly type: NumericType },
  ) {
    const results = functions.flatMap((name) => RESULTS[name]);
    // The choice among tied rows needs their time.
    const hasTimes = picksTiedByKey || !omitsPointTimes;
    const wanted = hasTimes ? results : results.filter((name) => !name.endsWith('Time'));
    const wantsMean = functions.includes('mean');
    const isToldBy = ({ statistics, count: values }: ColumnMeta, stored: FieldType): boolean => {
      if (statistics === undefined || stored !== type) return false;
      return !wantsMean || !mayHaveWrapped(values, statistics);
    };
    this.#wants = {
      type,
      functions,
      ofColumn: { type, countsOnly: false, isToldBy },
      wanted: ['start', ...new Set(wanted)],
      hasTimes,
    };
    this.#accumulators = scans.openAccumulators(type, {
      window,
      start: timeRange.start,
      count,
      wantsSum: functions.some((name) => name === 'sum' || name === 'mean'),
      wantsMean,
      wantsExtremes: functions.some(
        (name) => name === 'min' || name === 'max' || name === 'spread',
      ),
    });
  }

  get windowCount(): number {
    return this.#accumulators.windowCount;
  }

  add(groups: Uint32Array, times: BigInt64Array, column: Column): void {
    this.#accumulators.add(groups, times, column);
  }

  of(group: number): FieldWindows {
    return new NumberWindows(this.#accumulators.of(group), this.#wants);
  }

  close(): void {
    this.#accumulators.close();
  }
}

class NumberWindows implements FieldWindows {
  readonly #accumulator: Accumulator;
  readonly #wants: NumberWants;

  constructor(accumulator: Accumulator, wants: NumberWants) {
    this.#accumulator = accumulator;
    this.#wants = wants;
  }

  get wants(): ColumnWants {
    return this.#wants.ofColumn;
  }

  get windowCount(): number {
    return this.#accumulator.windowCount;
  }

  add(times: BigInt64Array, column: Column): void {
    this.#accumulator.add(times, column);
  }

  addCached(chunk: ChunkReader, index: number): void {
    const cached = chunk.cached(index);
    assert(cached !== undefined, 'a column that is planned as cached');
    this.#accumulator.addCached(cached.times, cached.values, cached.rows);
  }

  addEntry(chunk: ChunkReader, index: number, start: bigint): void {
    const { count, statistics } = chunk.columns[index]!;
    assert(statistics !== undefined, 'a column with statistics');
    this.#accumulator.addPartial(start, count, statistics);
  }

  finish(descending: boolean): FieldResult {
    const { type, functions, wanted, hasTimes } = this.#wants;
    const words = this.#accumulator.results(wanted, { descending });
    const wordsOf = (name: WindowResult): Words => words[wanted.indexOf(name)] ?? NO_WORDS;
    return {
      starts: times(wordsOf('start')),
      columns: functions.map((name) => numberColumn(name, type, { wordsOf, hasTimes })),
      points: [],
    };
  }

  reset(): void {
    this.#accumulator.reset();
  }
}

/**
 * Whether a sum of so many integers between the two bounds can exceed 64 bits. Sums of floats
 * cannot.
 */
function mayHaveWrapped(count: number, { min, max }: { min: unknown; max: unknown }): boolean {
  if (typeof min !== 'bigint' || typeof max !== 'bigint') return false;
  return count * Math.max(Math.abs(Number(min)), Math.abs(Number(max))) >= SURE_SUM;
}

/** Half of the largest int64, because the numbers compared with it are rounded. */
const SURE_SUM = 2 ** 62;

const NO_WORDS = new Float64Array(0);

/** The kernel's results that each function needs. */
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
  type: NumericType,
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
      if (type === 'boolean') return { values: nullColumn('float', values.length) };
      return { values: columnOfWords('float', values) };
    case 'sum':
    case 'spread':
      if (type === 'boolean') return { values: nullColumn(type, values.length) };
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
