// The last rejected lines by source, so that somebody can find out who sends what nobody can store.
import type { RejectedLine } from '@tidemark/storage';

import { LIMITS } from '../limits.ts';

const MAX_ENTRIES = LIMITS.rejectedEntries.value;
const MAX_TEXT_CHARACTERS = LIMITS.rejectedTextCharacters.value;
/** Where lines of sources beyond the limit are counted. */
const OTHER_SOURCES = 'others';

export type RejectedEntry = {
  readonly time: string;
  /** `user@address`, or the name of a listener. */
  readonly source: string;
  readonly database: string;
  readonly lineNumber: number;
  readonly text: string;
  readonly reason: string;
};

export class RejectedLog {
  readonly #entries: RejectedEntry[] = [];
  readonly #counts = new Map<string, number>();

  add(
    place: { readonly time: string; readonly source: string; readonly database: string },
    lines: readonly RejectedLine[],
  ): void {
    const isKnown =
      this.#counts.has(place.source) || this.#counts.size < LIMITS.rejectedSources.value;
    const source = isKnown ? place.source : OTHER_SOURCES;
    this.#counts.set(source, (this.#counts.get(source) ?? 0) + lines.length);
    for (const line of lines.slice(-MAX_ENTRIES)) {
      this.#entries.push({
        ...place,
        lineNumber: line.lineNumber,
        text: line.text.slice(0, MAX_TEXT_CHARACTERS),
        reason: line.reason,
      });
    }
    if (this.#entries.length > MAX_ENTRIES) {
      this.#entries.splice(0, this.#entries.length - MAX_ENTRIES);
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
