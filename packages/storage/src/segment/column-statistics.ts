// Statistics of a chunk's columns, which answer aggregates without reading its blocks.
import type { Column } from '@tidemark/core';
import type { Accumulator } from '@tidemark/kernels';

import { scans } from '../columns/codecs.ts';
import type { NumericStatistics } from './format.ts';

type NumericType = 'float' | 'integer' | 'unsigned';

/** Works out statistics, chunk after chunk. Close it. */
export class ColumnStatistics {
  // Opened once and reset for each chunk: a flush has thousands of short ones.
  readonly #accumulators = new Map<NumericType, Accumulator>();

  /** `undefined` for types without statistics, and for a column of nulls. */
  of(column: Column, times: BigInt64Array): NumericStatistics | undefined {
    if (column.type === 'string' || column.type === 'boolean') return undefined;
    const accumulator = this.#accumulator(column.type);
    accumulator.reset();
    accumulator.add(times, column);
    return accumulator.whole();
  }

  /** Frees the memory of the accumulators. Idempotent. */
  close(): void {
    for (const accumulator of this.#accumulators.values()) accumulator.close();
    this.#accumulators.clear();
  }

  #accumulator(type: NumericType): Accumulator {
    let accumulator = this.#accumulators.get(type);
    if (accumulator === undefined) {
      const wholeChunk = { start: 0n, wantsSum: true, wantsExtremes: true };
      accumulator = scans().openAccumulator(type, wholeChunk);
      this.#accumulators.set(type, accumulator);
    }
    return accumulator;
  }
}
