// Adds up the outcomes of a write's parts.
import type { Batch } from '@tidemark/kernels';

import type { RejectedLine, WriteOutcome } from './writes.ts';

export class OutcomeCollector {
  readonly #isDetailed: boolean;
  readonly #parseErrors: string[] = [];
  readonly #rejected: RejectedLine[] = [];
  #parseErrorCount = 0;
  #points = 0;
  #values = 0;
  #refusedCount = 0;
  #dropped: WriteOutcome['dropped'];

  constructor(options: { readonly isDetailed: boolean }) {
    this.#isDetailed = options.isDetailed;
  }

  add(batch: Batch): void {
    this.#points += batch.pointsWritten;
    this.#values += batch.valuesWritten;
    for (const error of batch.parseErrors) this.#parseErrors.push(error);
    for (const line of batch.rejectedLines) this.#rejected.push(line);
    this.#parseErrorCount += batch.parseErrorCount;
    this.#refusedCount += batch.parseErrorCount + (batch.dropped?.count ?? 0);
    if (batch.dropped === undefined) return;
    const { count, reason } = this.#dropped ?? { count: 0, reason: batch.dropped.reason };
    this.#dropped = { count: count + batch.dropped.count, reason };
  }

  /** Number of lines that could not be parsed so far. */
  get parseErrorCount(): number {
    return this.#parseErrorCount;
  }

  /** Reports that the rest of the body is not parsed, and why. */
  leave(reason: string): void {
    this.#parseErrors.push(reason);
  }

  get outcome(): WriteOutcome {
    const unlistedCount = this.#refusedCount - this.#rejected.length;
    return {
      pointsWritten: this.#points,
      valuesWritten: this.#values,
      parseErrors: this.#parseErrors,
      dropped: this.#dropped,
      ...(this.#isDetailed ? { rejectedLines: this.#rejected } : {}),
      ...(this.#isDetailed && unlistedCount > 0 ? { unlistedCount } : {}),
    };
  }
}
