// Which series a question was about when it was asked last: their rows are asked for together with
// the question, and count when its answer is the same again.
import { ByteLru } from '@tidemark/core';

import type { FoundSeries } from './find-series.ts';

/** Questions that are seriesCache; then the oldest is forgotten. */
const MOST_QUESTIONS = 1000;

/** Of one question: with more series, the look-up is a small part of the wait. */
const MOST_SERIES = 100;

/** By the text of a statement. */
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

/** Whether both lists have the same series, in whatever order. */
export function areSame(a: readonly FoundSeries[], b: readonly FoundSeries[]): boolean {
  const ids = new Set(a.map(({ id }) => id));
  return a.length === b.length && b.every(({ id }) => ids.has(id));
}
