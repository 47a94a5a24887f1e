// Leaves out the rows of a group that are not among its best (`BestRows` of a scan).
import { BestValues } from '@tidemark/query';
import type { BestRows } from '@tidemark/query';

import { filterRun, sliceRun } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { WantedField } from './convert.ts';
import type { Selection } from './groups.ts';

export class BestOfGroup {
  readonly #wanted: BestRows;
  readonly #best: BestValues;
  readonly #index: Selection['database']['index'];
  /** Symbols of the tags by the ordinal of the series; `undefined` for one that no series has. */
  readonly #tags: readonly (ArrayLike<number> | undefined)[];
  #rows = 0;

  constructor(wanted: BestRows, { database, measurement }: Selection) {
    this.#wanted = wanted;
    this.#best = new BestValues(wanted.order, wanted.count);
    this.#index = database.index;
    this.#tags = wanted.tags.map((name) => measurement.column(name)?.values);
  }

  /** Whether no row of a chunk can be among the best, according to its statistics. */
  areHopeless(chunk: ChunkReader, fields: readonly WantedField[]): boolean {
    const { order, field } = this.#wanted;
    const statistics = chunk.statistics(field, fields[field]?.type);
    if (statistics === undefined) return false;
    return this.#best.isHopeless(order === 'top' ? statistics.max : statistics.min);
  }

  /** The rows of a series that may be among the best. */
  keep(run: Run, series: SeriesId): Run {
    const column = run.columns[this.#wanted.field];
    if (column === undefined || column.type === 'string') return sliceRun(run, 0, 0);
    const { values, valid } = column;
    const combination = this.#combinationOf(series);
    const keep = new Uint8Array(run.times.length);
    for (let row = 0; row < keep.length; row++) {
      if (valid !== undefined && valid[row] !== 1) continue;
      if (this.#best.add(combination ?? this.#rows++, values[row]!)) keep[row] = 1;
    }
    return filterRun(run, keep);
  }

  /** What distinguishes series with other values of the tags; without tags, rows are counted. */
  #combinationOf(series: SeriesId): string | undefined {
    if (this.#tags.length === 0) return undefined;
    const ordinal = this.#index.ordinalOf(series);
    return this.#tags.map((symbols) => symbols?.[ordinal] ?? 0).join();
  }
}
