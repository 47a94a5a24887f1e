// The series that a delete covers. They are selected in steps, while writes go on and create series
// that match too: `extend` adds those. Right after it, the selection is what the request selects at
// that moment.
import type { Predicate } from '@tidemark/query';
import { textMatcher } from '@tidemark/query/regex';
import type { DeleteRequest } from '@tidemark/storage-api';

import { firstNotBelow } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import { measurementsInSteps, ordinalsInSteps, residualCondition } from '../series/select.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { DeletedRows } from '../wal/wal-record.ts';

/** Series per part: two milliseconds to select and to encode. */
const PART_SERIES = 1 << 15;

export class DeleteSelection {
  /** A rebuild may replace the index during a pause; ids stay. */
  readonly #database: { readonly index: SeriesIndex };
  readonly #request: DeleteRequest;
  readonly #onPart: (part: DeletedRows) => void;
  /** Measurements all of whose series are selected. */
  readonly #whole = new Set<number>();
  /** Whether the request names a measurement, by its id. */
  readonly #isNamed = new Map<number, boolean>();
  /** Series with smaller ids have been visited. */
  #end: SeriesId = 0;

  /** `onPart` is called for each part. */
  constructor(
    database: { readonly index: SeriesIndex },
    request: DeleteRequest,
    onPart: (part: DeletedRows) => void,
  ) {
    this.#database = database;
    this.#request = request;
    this.#onPart = onPart;
  }

  /** Selects the series that exist now. */
  *select(): Generator<undefined> {
    const { index } = this.#database;
    const { where } = this.#request;
    this.#end = index.seriesEnd;
    // Rows that are being logged come before the delete in the log, so that it covers them.
    const filter = { ...this.#request, includesPending: true };
    for (const measurement of yield* measurementsInSteps(index, filter)) {
      if (where === undefined) this.#addWhole(measurement);
      else yield* this.#addMatching(index, measurement, where);
      yield undefined;
    }
  }

  #addWhole({ id, seriesCount }: MeasurementIndex): void {
    if (seriesCount === 0) return;
    this.#whole.add(id);
    this.#add({ measurementId: id, series: undefined });
  }

  *#addMatching(
    index: SeriesIndex,
    measurement: MeasurementIndex,
    where: Predicate,
  ): Generator<undefined> {
    const ordinals = yield* ordinalsInSteps(index, measurement, where);
    for (let at = 0; at < ordinals.length; at += PART_SERIES) {
      const ids = ordinals
        .subarray(at, at + PART_SERIES)
        .map((ordinal) => measurement.seriesId(ordinal));
      // Series created during a pause are added by `extend`.
      this.#add({
        measurementId: measurement.id,
        series: ids.subarray(0, firstNotBelow(ids, this.#end)),
      });
      yield undefined;
    }
  }

  /** Selects series that were created since. */
  extend(): void {
    const { index } = this.#database;
    const created = new Map<number, SeriesId[]>();
    for (let id = this.#end; id < index.seriesEnd; id++) {
      if (!index.has(id)) continue;
      const measurement = index.measurementOf(id);
      if (this.#whole.has(measurement.id) || !this.#isSelected(index, measurement, id)) continue;
      const ids = created.get(measurement.id);
      if (ids === undefined) created.set(measurement.id, [id]);
      else ids.push(id);
    }
    this.#end = index.seriesEnd;
    for (const [measurementId, ids] of created) {
      this.#add({ measurementId, series: Uint32Array.from(ids) });
    }
  }

  #isSelected(index: SeriesIndex, measurement: MeasurementIndex, id: SeriesId): boolean {
    let isNamed = this.#isNamed.get(measurement.id);
    if (isNamed === undefined) {
      isNamed = this.#names(measurement.name);
      this.#isNamed.set(measurement.id, isNamed);
    }
    if (!isNamed) return false;
    const residual = residualCondition(this.#request.where, new Map(index.tags(id)));
    return residual?.kind !== 'constant' || residual.value;
  }

  #names(name: string): boolean {
    const { measurements, measurementPattern } = this.#request;
    if (measurements?.includes(name) === false) return false;
    return measurementPattern === undefined || textMatcher(measurementPattern)(name);
  }

  #add({ measurementId, series }: DeletedRows): void {
    if (series?.length === 0) return;
    this.#onPart({ measurementId, series });
  }
}
