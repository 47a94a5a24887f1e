// The last rejected lines by source, so that somebody can find out who sends what nobody can store.
import type { RejectedLine } from '@tidemark/storage';

/** Entries that are kept; the oldest goes first. */
export const MAX_REJECTED_ENTRIES = 1000;

export type RejectedEntry = {
  readonly time: string;
  /** `user@address`, or the name of a listener. */
  readonly source: string;
  readonly database: string;
  readonly lineNumber: number;
  readonly text: string;
  readonly reason: string;
};

// A line may be megabytes long; the log is for reading.
const MAX_TEXT_CHARACTERS = 500;

export class RejectedLog {
  readonly #entries: RejectedEntry[] = [];
  readonly #counts = new Map<string, number>();

  add(
    place: { readonly time: string; readonly source: string; readonly database: string },
    lines: readonly RejectedLine[],
  ): void {
    this.#counts.set(place.source, (this.#counts.get(place.source) ?? 0) + lines.length);
    for (const line of lines.slice(-MAX_REJECTED_ENTRIES)) {
      this.#entries.push({
        ...place,
        lineNumber: line.lineNumber,
        text: line.text.slice(0, MAX_TEXT_CHARACTERS),
        reason: line.reason,
      });
    }
    if (this.#entries.length > MAX_REJECTED_ENTRIES) {
      this.#entries.splice(0, this.#entries.length - MAX_REJECTED_ENTRIES);
    }
  }

  /** Newest last. */
  entries(): readonly RejectedEntry[] {
    return this.#entries;
  }

  /** Rejected lines since the start, by source. */
  counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
