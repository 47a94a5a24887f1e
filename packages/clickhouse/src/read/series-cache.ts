// Caches the result of series look-ups. A scan reads the rows of the cached series in parallel with
// the look-up, and uses them if the look-up finds the same series again.
import { ByteLru } from '@tidemark/core';

import type { FoundSeries } from './find-series.ts';

/** Cached look-ups; the least recently used is evicted. */
const MOST_QUESTIONS = 1000;

/** Look-ups with more series are not cached, because reading their rows takes most of the time. */
const MOST_SERIES = 100;

/** Series by the text of the look-up. */
export class SeriesCache {
  readonly #questions = new ByteLru<string, readonly FoundSeries[]>(MOST_QUESTIONS);

  get(statement: string): readonly FoundSeries[] | undefined {
    return this.#questions.get(statement);
  }

  set(statement: string, series: readonly FoundSeries[]): void {
    if (series.length === 0 || series.length > MOST_SERIES) this.#questions.delete(statement);
    else this.#questions.set(statement, series, 1);
  }

  delete(statement: string): void {
    this.#questions.delete(statement);
  }
}

/** Whether both lists have the same series, in any order. */
export function areSame(a: readonly FoundSeries[], b: readonly FoundSeries[]): boolean {
  const ids = new Set(a.map(({ id }) => id));
  return a.length === b.length && b.every(({ id }) => ids.has(id));
}
