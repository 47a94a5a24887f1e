// Scans over decoded columns: masks of rows, selection by a mask, windowed aggregates (semantics of
// `AggregateBatch` in packages/query/src/series-source.ts).
import {
  areSameTexts,
  assert,
  compareValues,
  isExactInUtf8,
  textAt,
  textCount,
  textsOf,
} from '@tidemark/core';
import type { Column, FieldType, Texts } from '@tidemark/core';
import { Area } from './abi.gen.ts';
import { Accumulators } from './accumulator.ts';
import type { Accumulator, AccumulatorOptions } from './accumulator.ts';
import { kernelComparison } from './comparison.ts';
import type { ColumnCondition } from './comparison.ts';
import { Kernels } from './loader.ts';
import { Tallies } from './tallies.ts';
import type { TallyOptions } from './tallies.ts';

/**
 * Scans over one instance of the kernels. Columns are copied in; results are copied out and belong
 * to the caller.
 */
export class Scans {
  readonly #kernels: Kernels;

  constructor(kernels: Kernels = new Kernels()) {
    this.#kernels = kernels;
  }

  /**
   * Clears `mask[row]` where the value is null or the comparison is false, as `compareValues` in
   * the core package.
   */
  filterInPlace(mask: Uint8Array, column: Column, condition: ColumnCondition): void {
    if (column.type === 'string') {
      const { operator, value } = condition;
      filterCodes(mask, column, textCondition(column.texts, operator, value));
      return;
    }
    intersect(mask, column.valid);
    const comparison = kernelComparison(column.type, condition);
    if (comparison.kind === 'none') mask.fill(0);
    if (comparison.kind !== 'compare') return;
    const { exports } = this.#kernels;
    const count = mask.length;
    const values = this.#kernels.copyIn(Area.input, column.values);
    const masks = this.#kernels.copyIn(Area.mask, mask);
    const { operation, bound } = comparison;
    const flip = comparison.flip ? 1 : 0;
    if (column.type === 'float') {
      exports.filterFloats(values, count, Number(bound), operation, flip, masks);
    } else if (column.type === 'integer') {
      exports.filterIntegers(values, count, BigInt(bound), operation, flip, masks);
    } else if (column.type === 'unsigned') {
      const bits = BigInt.asIntN(64, BigInt(bound));
      exports.filterUnsigneds(values, count, bits, operation, flip, masks);
    } else {
      exports.filterBytes(values, count, bound === true ? 1 : 0, operation, flip, masks);
    }
    mask.set(this.#kernels.bytes.subarray(masks, masks + count));
  }

  /**
   * Clears `mask[row]` where the string is null or not accepted. `accepts` is called once for each
   * text of the column that occurs.
   */
  filterStringsInPlace(
    mask: Uint8Array,
    column: Column & { readonly type: 'string' },
    accepts: (text: string) => boolean,
  ): void {
    const { texts } = column;
    filterCodes(mask, column, (code) => accepts(textAt(texts, code)));
  }

  /** Number of rows that the mask keeps. */
  countMask(mask: Uint8Array): number {
    return this.#kernels.exports.countMask(this.#kernels.copyIn(Area.mask, mask), mask.length);
  }

  selectTimes(times: BigInt64Array, mask: Uint8Array): BigInt64Array {
    return new BigInt64Array(this.#select(times, mask));
  }

  /** The rows that the mask keeps, in order. */
  selectColumn(column: Column, mask: Uint8Array): Column {
    const valid =
      column.valid === undefined ? undefined : new Uint8Array(this.#select(column.valid, mask));
    switch (column.type) {
      case 'float':
        return {
          type: 'float',
          values: new Float64Array(this.#select(column.values, mask)),
          valid,
        };
      case 'integer':
        return {
          type: 'integer',
          values: new BigInt64Array(this.#select(column.values, mask)),
          valid,
        };
      case 'unsigned':
        return {
          type: 'unsigned',
          values: new BigUint64Array(this.#select(column.values, mask)),
          valid,
        };
      case 'boolean':
        return {
          type: 'boolean',
          values: new Uint8Array(this.#select(column.values, mask)),
          valid,
        };
      case 'string':
        return {
          type: 'string',
          codes: new Uint32Array(this.#select(column.codes, mask)),
          texts: column.texts,
          valid,
        };
    }
  }

  /**
   * Opens an accumulator for one field of one group of series. Must be closed. Not for strings: see
   * `Accumulators`.
   */
  openAccumulator(type: Exclude<FieldType, 'string'>, options: AccumulatorOptions): Accumulator {
    return this.openAccumulators(type, { ...options, count: 1 }).of(0);
  }

  /** Opens accumulators for `count` groups. Must be closed. */
  openAccumulators(
    type: Exclude<FieldType, 'string'>,
    options: AccumulatorOptions & { readonly count: number },
  ): Accumulators {
    return new Accumulators(this.#kernels, type, options);
  }

  /** Opens tallies of one field for a number of groups. Must be closed. */
  openTallies(options: TallyOptions): Tallies {
    return new Tallies(this.#kernels, options);
  }

  #select(
    values: BigInt64Array | BigUint64Array | Float64Array | Uint32Array | Uint8Array,
    mask: Uint8Array,
  ): ArrayBuffer {
    const kernels = this.#kernels;
    assert(values.length === mask.length, 'a mask has one byte per row');
    const width = values.BYTES_PER_ELEMENT;
    const input = this.#kernels.copyIn(Area.input, values);
    const masks = this.#kernels.copyIn(Area.mask, mask);
    // One more: the kernel writes each value before it checks the mask.
    const output = kernels.scratch(Area.output, values.byteLength + width);
    const count = kernels.exports.selectRows(input, width, values.length, masks, output);
    return kernels.buffer.slice(output, output + count * width);
  }
}

function intersect(mask: Uint8Array, valid: Uint8Array | undefined): void {
  if (valid === undefined) return;
  for (let i = 0; i < mask.length; i++) mask[i]! &= valid[i]!;
}

/** Whether a text satisfies a comparison: equality compares bytes. */
function textCondition(
  texts: Texts,
  operator: ColumnCondition['operator'],
  value: ColumnCondition['value'],
): (code: number) => boolean {
  // A lone surrogate has no bytes of its own.
  const isBytes = typeof value === 'string' && isExactInUtf8(value);
  if (!isBytes || (operator !== '=' && operator !== '!=')) {
    return (code) => compareValues(textAt(texts, code), operator, value);
  }
  const wanted = textsOf([value]);
  return (code) => areSameTexts(texts, code, wanted, 0) === (operator === '=');
}

function filterCodes(
  mask: Uint8Array,
  column: Column & { readonly type: 'string' },
  accepts: (code: number) => boolean,
): void {
  const { codes, texts } = column;
  intersect(mask, column.valid);
  // 0: not computed, 1: no, 2: yes.
  const answers = new Uint8Array(textCount(texts));
  for (let i = 0; i < mask.length; i++) {
    if (mask[i] === 0) continue;
    const code = codes[i]!;
    if (answers[code] === 0) answers[code] = accepts(code) ? 2 : 1;
    if (answers[code] === 1) mask[i] = 0;
  }
}
