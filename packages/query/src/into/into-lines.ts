// Rows that INTO writes, as line protocol: a tenth of the work of objects that are packed, sent and
// unpacked.
import type { Column } from '@tidemark/core';
import type { IntoTarget } from '@tidemark/influxql';

import type { RowBatch } from '../batch/row-batch.ts';
import { TextBuffer } from '../output/bytes.ts';
import { valuePrinter } from '../output/json-values.ts';
import type { CellPrinter } from '../output/json-values.ts';
import type { SelectPlan } from '../plan/select-plan.ts';

const COMMA = 0x2c;
const BLANK = 0x20;
const NEWLINE = 0x0a;
const INTEGER_SUFFIX = 0x69;

/**
 * Names that line protocol can carry: without characters that it cannot escape, or that begin a
 * comment.
 */
const PLAIN = /^[^\\"#\p{Cc}]+$/u;

const encoder = new TextEncoder();

/** A column of the answer as a field. */
type Field = {
  /** `name=`. */
  readonly name: Uint8Array;
  readonly has: (row: number) => boolean;
  readonly print: CellPrinter;
};

/** Prints batches of one plan, if they can be printed. */
export class IntoLines {
  readonly #plan: SelectPlan;
  readonly #into: IntoTarget;
  readonly #out = new TextBuffer();
  readonly #names: readonly Uint8Array[];
  /** Whether lines can carry the names of the fields. */
  readonly #isPossible: boolean;
  #group: RowBatch['group'] | undefined;
  #prefix: Uint8Array | undefined;
  /**
   * Rows since the last `take` that were passed on, with lines or, if all values were infinite,
   * without.
   */
  rowCount = 0;

  constructor(plan: SelectPlan, into: IntoTarget) {
    this.#plan = plan;
    this.#into = into;
    this.#names = plan.outputs.map(({ name }) => encoder.encode(`${escapeName(name)}=`));
    this.#isPossible =
      plan.outputs.every(({ name, isIntoTag }) => !isIntoTag && isPlain(name)) &&
      plan.dimensions.every(isPlain);
  }

  /** The lines so far. They belong to the caller. */
  take(): Uint8Array {
    this.rowCount = 0;
    return this.#out.take();
  }

  /** Appends rows `[from, to)`; `false`, with nothing appended, when only points can carry them. */
  append(batch: RowBatch, from: number, to: number): boolean {
    const prefix = this.#prefixOf(batch);
    if (prefix === undefined) return false;
    const fields: Field[] = [];
    for (const [i, column] of batch.columns.entries()) {
      const field = this.#field(column, this.#names[i]!);
      if (field === undefined) return false;
      fields.push(field);
    }
    for (let row = from; row < to; row++) this.#row(batch, row, { prefix, fields });
    return true;
  }

  #row(
    { times, columns }: RowBatch,
    row: number,
    { prefix, fields }: { readonly prefix: Uint8Array; readonly fields: readonly Field[] },
  ): void {
    const out = this.#out;
    const start = out.length;
    out.short(prefix);
    let count = 0;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      if (!field.has(row)) continue;
      if (count++ > 0) out.byte(COMMA);
      out.short(field.name);
      field.print(row, out);
    }
    if (count === 0) {
      out.truncate(start);
      // Rows of infinite numbers are passed on, but no sink can store these.
      if (columns.some((column) => isInfinite(column, row))) this.rowCount++;
      return;
    }
    out.byte(BLANK);
    out.ascii(String(times[row]!));
    out.byte(NEWLINE);
    this.rowCount++;
  }

  /** Measurement and tags of the batch's group. */
  #prefixOf({ group }: RowBatch): Uint8Array | undefined {
    if (group === this.#group) return this.#prefix;
    this.#group = group;
    this.#prefix = this.#isPossible ? this.#newPrefix(group) : undefined;
    return this.#prefix;
  }

  #newPrefix({ name, tags }: RowBatch['group']): Uint8Array | undefined {
    const measurement = this.#into.isBackReference ? name : (this.#into.measurement ?? name);
    if (!isPlain(measurement)) return undefined;
    let text = measurement.replace(/[, ]/g, '\\$&');
    for (const [i, key] of this.#plan.dimensions.entries()) {
      const value = tags[i] ?? '';
      if (value === '') continue;
      if (!isPlain(value)) return undefined;
      text += `,${escapeName(key)}=${escapeName(value)}`;
    }
    return encoder.encode(`${text} `);
  }

  /** The printer of a column; `undefined` for the type that lines cannot express reliably. */
  #field(column: Column, name: Uint8Array): Field | undefined {
    if (column.type === 'unsigned') return undefined;
    const { valid } = column;
    const has = (row: number): boolean => valid === undefined || valid[row] === 1;
    const print = valuePrinter(column, quoteText);
    switch (column.type) {
      case 'float': {
        const { values } = column;
        return { name, print, has: (row) => has(row) && Number.isFinite(values[row]) };
      }
      case 'integer': {
        const printSuffixed: CellPrinter = (row, out) => {
          print(row, out);
          out.byte(INTEGER_SUFFIX);
        };
        return { name, has, print: printSuffixed };
      }
      default:
        return { name, has, print };
    }
  }
}

function isPlain(name: string): boolean {
  return name !== 'time' && PLAIN.test(name);
}

function escapeName(name: string): string {
  return name.replace(/[,= ]/g, '\\$&');
}

function quoteText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function isInfinite(column: Column, row: number): boolean {
  if (column.type !== 'float' || column.valid?.[row] === 0) return false;
  const value = column.values[row];
  return value === Infinity || value === -Infinity;
}
