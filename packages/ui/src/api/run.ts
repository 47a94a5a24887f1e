// Runs a statement text for a page: one at a time, cancelled by the next, more rows on demand.
import { signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';

import { isAbort, problemOf } from './problem.ts';
import type { Problem } from './problem.ts';
import { QueryCursor } from './query-stream.ts';
import type { QueryAnswer, QueryRequest } from './query-stream.ts';

/** The last answer to a page's request. */
export class QueryRun {
  readonly #answer = signal<QueryAnswer | undefined>(undefined);
  readonly #request = signal<QueryRequest | undefined>(undefined);
  readonly #problem = signal<Problem | undefined>(undefined);
  readonly #isRunning = signal(false);
  #cursor: QueryCursor | undefined;

  /** The answer shown: it stays until the next one arrives. */
  get answer(): ReadonlySignal<QueryAnswer | undefined> {
    return this.#answer;
  }

  /** The request that was answered. */
  get request(): ReadonlySignal<QueryRequest | undefined> {
    return this.#request;
  }

  /** Why there is no answer. */
  get problem(): Signal<Problem | undefined> {
    return this.#problem;
  }

  get isRunning(): ReadonlySignal<boolean> {
    return this.#isRunning;
  }

  /** Sends a request; rows beyond `rowCount` wait. */
  async start(request: QueryRequest, rowCount: number): Promise<void> {
    this.cancel();
    const cursor = this.#open(request);
    if (cursor === undefined) return;
    this.#cursor = cursor;
    await this.#read(cursor, rowCount, () => {
      this.#request.value = request;
    });
  }

  #open(request: QueryRequest): QueryCursor | undefined {
    try {
      return new QueryCursor(request);
    } catch (error) {
      this.#problem.value = problemOf(error);
      return undefined;
    }
  }

  /** Shows a refusal instead of sending a request. Cancels a running request. */
  refuse(message: string): void {
    this.cancel();
    this.#problem.value = { message };
  }

  /** Reads more rows. */
  async more(rowCount: number): Promise<void> {
    if (this.#cursor !== undefined) await this.#read(this.#cursor, rowCount, () => undefined);
  }

  /** Cancels the running request; rows already read stay. */
  cancel(): void {
    this.#cursor?.cancel();
    this.#cursor = undefined;
    this.#isRunning.value = false;
  }

  async #read(cursor: QueryCursor, rowCount: number, onAnswer: () => void): Promise<void> {
    this.#isRunning.value = true;
    try {
      const answer = await cursor.read(rowCount);
      if (this.#cursor !== cursor) return;
      onAnswer();
      this.#answer.value = answer;
      this.#problem.value = undefined;
    } catch (error) {
      if (this.#cursor !== cursor || isAbort(error)) return;
      this.#problem.value = problemOf(error);
    }
    this.#isRunning.value = false;
  }
}
