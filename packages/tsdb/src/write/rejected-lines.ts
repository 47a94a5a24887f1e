// The latest rejected lines and points by source, to find senders of invalid data.
import { LIMITS } from '../limits.ts';

const MAX_ENTRIES = LIMITS.rejectedEntries.value;
const MAX_TEXT_CHARACTERS = LIMITS.rejectedTextCharacters.value;
/** The source that counts lines of sources beyond the limit. */
const OTHER_SOURCES = 'others';

/** The origin of rejected data, and its target. */
export type RejectedPlace = {
  /** RFC 3339. */
  readonly time: string;
  /** `address`, `user@address`, or `listener:address`. */
  readonly source: string;
  readonly database: string;
};

export type RejectedEntry = RejectedPlace & {
  /** Number of the line in its body; absent for data without lines. */
  readonly lineNumber?: number | undefined;
  /** The line; empty for points that were not sent as text. */
  readonly text: string;
  readonly reason: string;
  /** Points that the entry stands for. */
  readonly count: number;
};

/** One line, or points without a text of their own. */
export type Rejected = {
  readonly lineNumber?: number | undefined;
  readonly text: string;
  readonly reason: string;
  /** Default 1. */
  readonly count?: number | undefined;
};

export type RejectedFilter = {
  readonly source?: string | undefined;
  readonly database?: string | undefined;
  /** Only this many of the newest. */
  readonly limit?: number | undefined;
};

export class RejectedLog {
  readonly #entries: RejectedEntry[] = [];
  readonly #counts = new Map<string, number>();

  add(place: RejectedPlace, all: readonly Rejected[]): void {
    if (all.length === 0) return;
    const isKnown =
      this.#counts.has(place.source) || this.#counts.size < LIMITS.rejectedSources.value;
    const source = isKnown ? place.source : OTHER_SOURCES;
    const added = all.reduce((sum, { count = 1 }) => sum + count, 0);
    this.#counts.set(source, (this.#counts.get(source) ?? 0) + added);
    for (const { lineNumber, text, reason, count = 1 } of all.slice(-MAX_ENTRIES)) {
      const shown = text.slice(0, MAX_TEXT_CHARACTERS);
      this.#entries.push({ ...place, lineNumber, text: shown, reason, count });
    }
    if (this.#entries.length > MAX_ENTRIES) {
      this.#entries.splice(0, this.#entries.length - MAX_ENTRIES);
    }
  }

  /** Newest last. */
  entries({ source, database, limit }: RejectedFilter = {}): readonly RejectedEntry[] {
    const found = this.#entries.filter(
      (entry) =>
        (source === undefined || entry.source === source) &&
        (database === undefined || entry.database === database),
    );
    return limit === undefined ? found : found.slice(Math.max(0, found.length - limit));
  }

  /** Rejected lines and points since the start, by source. */
  counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
