// Reads the rows of one series, or of all series, in a shared chunk. Columns have the stored type.
import type { Column } from '@tidemark/core';
import type { SourceCounters } from '@tidemark/query';

import { columnsAt } from '../segment/field-places.ts';
import type { ColumnMeta, SegmentMeasurement } from '../segment/format.ts';
import type { Segment } from '../segment/segment.ts';
import type { SharedRows } from '../segment/shared-page.ts';
import { converts } from './convert.ts';
import { presenceColumn } from '../columns/presence.ts';
import type { Run } from '../columns/run.ts';
import type { WantedField } from './convert.ts';

type Source = {
  readonly segment: Segment;
  readonly stored: SegmentMeasurement;
  readonly rows: SharedRows;
  /** Index in the segment of each wanted field, -1 if missing. */
  readonly fields: Int32Array;
  readonly counters: SourceCounters;
};

export class SharedRowsReader {
  readonly #source: Source;
  #times: BigInt64Array | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  /** A lower bound: the times of the chunk, not only of these rows. */
  get minTime(): bigint {
    return this.#source.rows.chunk.minTime;
  }

  get maxTime(): bigint {
    return this.#source.rows.chunk.maxTime;
  }

  get times(): BigInt64Array {
    if (this.#times !== undefined) return this.#times;
    const { segment, rows, counters } = this.#source;
    const { chunk } = rows;
    let cached = segment.cachedTimes(chunk);
    if (cached === undefined) {
      counters.chunksRead++;
      counters.bytesRead += chunk.timeBytes;
      cached = segment.cacheTimes(chunk);
    }
    this.#times = this.#source.segment.columnCache.times(cached, rows);
    return this.#times;
  }

  run(): Run {
    const { times } = this;
    return { times, columns: this.#columns().map((meta) => meta && this.#column(meta)) };
  }

  /** Columns only tell which rows have a value that converts to the field's type. */
  presence(wanted: readonly WantedField[]): Run {
    const { times } = this;
    const { stored } = this.#source;
    const columns = this.#columns().map((meta, i) => {
      const type = meta && stored.fields[meta.field]?.type;
      if (meta === undefined || type === undefined) return undefined;
      if (!converts(type, wanted[i]?.type ?? type)) return undefined;
      const valid = meta.validBytes === 0 ? undefined : this.#column(meta).valid;
      return presenceColumn(times.length, valid);
    });
    return { times, columns };
  }

  #columns(): (ColumnMeta | undefined)[] {
    const { fields, rows } = this.#source;
    return columnsAt(rows.chunk, fields);
  }

  #column(meta: ColumnMeta): Column {
    const { segment, stored, rows, counters } = this.#source;
    const type = stored.fields[meta.field]!.type;
    if (type === 'string' || meta.validBytes > 0) {
      return segment.sharedColumn(stored, rows, meta);
    }
    let cached = segment.cachedValues(meta);
    if (cached === undefined) {
      counters.bytesRead += meta.valueBytes;
      const times = segment.cachedTimes(rows.chunk) ?? segment.cacheTimes(rows.chunk);
      cached = segment.cacheValues(meta, { type, beside: times, whole: undefined });
    }
    return this.#source.segment.columnCache.column(cached, rows);
  }
}
