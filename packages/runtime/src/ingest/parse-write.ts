// Parses the bytes of a write into a point batch. Plain lines, nearly everything that clients send,
// are read straight into columns; a body with anything else goes through the line-protocol parser
// as a whole.
import type { Precision, Timestamp } from '@tidemark/core';
import { parseLines, SeriesCache, signedValue } from '@tidemark/line-protocol';
import type { LineError } from '@tidemark/line-protocol';
import type { PointBatch } from '../point-batch.ts';
import { PointBatchBuilder } from '../point-batch.ts';
import { ColumnParser } from './column-parser.ts';

export type ParseWriteOptions = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly precision: Precision;
  /** Time of points without one. */
  readonly now: Timestamp;
};

export type ParsedWrite = {
  readonly batch: PointBatch;
  /** Lines that could not be parsed, in their order. */
  readonly errors: readonly LineError[];
};

/** Parses writes; keeps series and field sets from one write to the next. */
export class WriteParser {
  readonly #columns: ColumnParser;
  readonly #cache: SeriesCache;

  constructor(cache = new SeriesCache()) {
    this.#cache = cache;
    this.#columns = new ColumnParser(cache);
  }

  parse(body: Uint8Array, options: ParseWriteOptions): ParsedWrite {
    const batch = this.#columns.parse(body, options);
    if (batch !== undefined) return { batch, errors: [] };
    const { points, errors } = parseLines(body, {
      precision: options.precision,
      now: options.now,
      cache: this.#cache,
    });
    const builder = new PointBatchBuilder(options.database, options.retentionPolicy);
    for (const { measurement, tags, fields, time } of points) {
      // A field that occurs twice counts once, with its last value.
      const last = new Map(fields.map(([name, value]) => [name, signedValue(value)]));
      builder.add({ name: measurement, tags, fields: last, time });
    }
    return { batch: builder.build(), errors };
  }
}
