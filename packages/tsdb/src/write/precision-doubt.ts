// Detects writes whose timestamps can hardly be nanoseconds because `precision=s` was forgotten:
// their points would be in 1970. They are accepted, with a warning.
import type { Logger } from 'pino';

/**
 * Digits of our time since 1970 in units that are not nanoseconds, which has 19, and their names in
 * `precision`.
 */
const UNITS: ReadonlyMap<number, string> = new Map([
  [10, 's'],
  [13, 'ms'],
  [16, 'u'],
]);

/** Names of databases that are remembered at most; further ones are not logged. */
const DATABASES_MAX = 1000;

const NEWLINE = 10;
const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 48 && byte <= 57;

export type PrecisionDoubt = { readonly time: string; readonly precision: string };

/**
 * What the first line of a body with nanoseconds says against them; `undefined` when it says
 * nothing.
 */
export function precisionDoubt(body: Uint8Array): PrecisionDoubt | undefined {
  const newline = body.indexOf(NEWLINE);
  let end = newline < 0 ? body.length : newline;
  while (end > 0 && (body[end - 1] === 32 || body[end - 1] === 13)) end--;
  let start = end;
  while (start > 0 && isDigit(body[start - 1])) start--;
  const precision = UNITS.get(end - start);
  // A field's value ends with a letter or has `=` before it; a time stands behind a blank.
  if (precision === undefined || body[start - 1] !== 32) return undefined;
  return { time: String.fromCharCode(...body.subarray(start, end)), precision };
}

/** Tells the log once of each database. */
export class PrecisionDoubts {
  readonly #databases = new Set<string>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  note(database: string, doubt: PrecisionDoubt): void {
    if (this.#databases.size >= DATABASES_MAX || this.#databases.has(database)) return;
    this.#databases.add(database);
    this.#log.warn({ database, ...doubt }, 'times are taken as nanoseconds and lie in 1970');
  }
}

/** As the header `X-Tsdb-Diagnostics` has it. */
export function precisionFinding({ time, precision }: PrecisionDoubt): string {
  const hint = `${time} is taken as nanoseconds since 1970; is precision=${precision} missing?`;
  return JSON.stringify([{ code: 'WRITE_PRECISION', hint }]);
}
