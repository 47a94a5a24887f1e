// Counts refused points of a batch and chooses the reason for the response, as InfluxDB does.
import type { Batch, IngestRejectedLine } from './ingest-types.ts';
import { PARSE_ERRORS_MAX } from './limits.ts';

/** Kinds of reasons to refuse a point, in descending order of precedence. */
export type RefusalKind = 'series' | 'time-tag' | 'field' | 'retention';

const ORDER: readonly RefusalKind[] = ['series', 'time-tag', 'field', 'retention'];

/** Where a line is in the body; `undefined` for points that do not come from lines. */
export type LinePlace = { readonly start: number; readonly text: string } | undefined;

/** Collects the refusals of one batch. */
export class Refusals {
  readonly #countNewlines: ((end: number) => number) | undefined;
  readonly #reasons = new Map<RefusalKind, string>();
  readonly #parseErrors: string[] = [];
  readonly #rejectedLines: IngestRejectedLine[] = [];
  #droppedCount = 0;
  #parseErrorCount = 0;

  /**
   * `countNewlines(end)` is the number of newlines before `end`. Only if lines are to be listed.
   */
  constructor(countNewlines?: (end: number) => number) {
    this.#countNewlines = countNewlines;
  }

  /** Whether callers have to pass the place of the line. */
  get wantsLines(): boolean {
    return this.#countNewlines !== undefined;
  }

  drop(kind: RefusalKind, reason: string, line: LinePlace): void {
    this.#droppedCount++;
    if (!this.#reasons.has(kind)) this.#reasons.set(kind, reason);
    this.#list(reason, line);
  }

  get parseErrorCount(): number {
    return this.#parseErrorCount;
  }

  parseError(reason: string, line: NonNullable<LinePlace>): void {
    this.#parseErrorCount++;
    if (this.#parseErrors.length < PARSE_ERRORS_MAX.value) {
      this.#parseErrors.push(`unable to parse '${line.text}': ${reason}`);
    }
    this.#list(reason, line);
  }

  result(): Pick<Batch, 'parseErrors' | 'parseErrorCount' | 'dropped' | 'rejectedLines'> {
    const kind = ORDER.find((k) => this.#reasons.has(k));
    const reason = kind === undefined ? undefined : this.#reasons.get(kind);
    return {
      parseErrors: this.#parseErrors,
      parseErrorCount: this.#parseErrorCount,
      dropped: reason === undefined ? undefined : { count: this.#droppedCount, reason },
      rejectedLines: this.#rejectedLines,
    };
  }

  #list(reason: string, line: LinePlace): void {
    if (this.#countNewlines === undefined || line === undefined) return;
    if (this.#rejectedLines.length >= PARSE_ERRORS_MAX.value) return;
    const lineNumber = this.#countNewlines(line.start) + 1;
    this.#rejectedLines.push({ lineNumber, text: line.text, reason });
  }
}

/**
 * Returns a function that counts the newlines before an offset. Offsets ascend, so each byte is
 * read once.
 */
export function newlineCounter(body: Uint8Array): (end: number) => number {
  let counted = 0;
  let position = 0;
  return (end) => {
    for (;;) {
      const found = body.indexOf(10, position);
      if (found < 0 || found >= end) return counted;
      counted++;
      position = found + 1;
    }
  };
}
