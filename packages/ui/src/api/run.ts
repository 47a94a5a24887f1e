// Runs a statement text for a page: one at a time, cancelled by the next, more rows on demand.
import { signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';

import { readFitted } from '../query/fit.ts';
import type { Cut, Fit } from '../query/fit.ts';
import { isAbort, problemOf } from './problem.ts';
import type { Problem } from './problem.ts';
import { QueryCursor } from './query-stream.ts';
import type { QueryAnswer, QueryRequest } from './query-stream.ts';

/** A request, and the text with macros from which texts are made that fit the chart. */
export type RunRequest = Omit<QueryRequest, 'text'> & {
  /** The text that was sent; known with the answer. */
  readonly text?: string | undefined;
  readonly fit: Omit<Fit, 'rowsMax'>;
};

/** The last answer to a page's request. */
export class QueryRun {
  readonly #answer = signal<QueryAnswer | undefined>(undefined);
  readonly #request = signal<RunRequest | undefined>(undefined);
  readonly #problem = signal<Problem | undefined>(undefined);
  readonly #isRunning = signal(false);
  readonly #cut = signal<Cut | undefined>(undefined);
  readonly #isReducible = signal(false);
  #cursors: QueryCursor[] = [];
  /** The latest run; what an earlier one loads is not shown. */
  #run: object | undefined;

  /** The answer shown: it stays until the next one arrives. */
  get answer(): ReadonlySignal<QueryAnswer | undefined> {
    return this.#answer;
  }

  /** The request that was answered. */
  get request(): ReadonlySignal<RunRequest | undefined> {
    return this.#request;
  }

  /** Why there is no answer. */
  get problem(): Signal<Problem | undefined> {
    return this.#problem;
  }

  get isRunning(): ReadonlySignal<boolean> {
    return this.#isRunning;
  }

  /** What each series of the answer lacks. */
  get cut(): ReadonlySignal<Cut | undefined> {
    return this.#cut;
  }

  /** Whether the smallest and largest values of intervals would show all of the answer. */
  get isReducible(): ReadonlySignal<boolean> {
    return this.#isReducible;
  }

  /** Sends a request; rows beyond `rowsMax` wait. */
  async start(request: RunRequest, rowsMax: number): Promise<void> {
    this.cancel();
    const run = {};
    this.#run = run;
    await this.#load(run, async () => {
      const fitted = await readFitted({ ...request.fit, rowsMax }, (text) => {
        if (this.#run !== run) throw new DOMException('cancelled', 'AbortError');
        const cursor = new QueryCursor({ ...request, text });
        this.#cursors.push(cursor);
        return cursor;
      });
      return () => {
        this.#request.value = { ...request, text: fitted.text };
        this.#answer.value = fitted.answer;
        this.#cursors = [fitted.cursor];
        this.#cut.value = fitted.cut;
        this.#isReducible.value = fitted.isReducible;
      };
    });
  }

  /** Shows a refusal instead of sending a request. Cancels a running request. */
  refuse(message: string): void {
    this.cancel();
    this.#problem.value = { message };
  }

  /** Reads more rows: of each series where they are limited. */
  async more(rowCount: number): Promise<void> {
    const cursor = this.#cursors.at(-1);
    const request = this.#request.peek();
    const shownCount = this.#answer.peek()?.rowCount ?? 0;
    if (this.#cut.peek() !== undefined && request !== undefined) {
      await this.start(request, shownCount + rowCount);
    } else if (cursor !== undefined) {
      await this.#load(this.#run, async () => {
        const answer = await cursor.read(rowCount);
        return () => (this.#answer.value = answer);
      });
    }
  }

  /** Cancels the running request; rows already read stay. */
  cancel(): void {
    for (const cursor of this.#cursors) cursor.cancel();
    this.#cursors = [];
    this.#run = undefined;
    this.#isRunning.value = false;
  }

  /** Loads, and shows what was loaded unless another run has begun. */
  async #load(run: object | undefined, load: () => Promise<() => void>): Promise<void> {
    this.#isRunning.value = true;
    try {
      const show = await load();
      if (this.#run !== run) return;
      show();
      this.#problem.value = undefined;
    } catch (error) {
      if (this.#run !== run || isAbort(error)) return;
      this.#problem.value = problemOf(error);
    }
    this.#isRunning.value = false;
  }
}
