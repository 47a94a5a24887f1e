// Detects writes whose timestamps can hardly be nanoseconds because `precision=s` was forgotten:
// their points would be in 1970. They are accepted, with a warning.
import { unitOfDigits } from '@tidemark/core';
import type { Logger } from 'pino';

/** Maximum number of databases that are remembered; further ones are not logged. */
const DATABASES_MAX = 1000;

const NEWLINE = 10;
const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 48 && byte <= 57;

export type PrecisionDoubt = { readonly time: string; readonly precision: string };

/**
 * The doubt about nanoseconds that the first line of a body raises; `undefined` if there is none.
 */
export function precisionDoubt(body: Uint8Array): PrecisionDoubt | undefined {
  const newline = body.indexOf(NEWLINE);
  let end = newline < 0 ? body.length : newline;
  while (end > 0 && (body[end - 1] === 32 || body[end - 1] === 13)) end--;
  let start = end;
  while (start > 0 && isDigit(body[start - 1])) start--;
  const precision = unitOfDigits(end - start);
  // A field's value ends with a letter or has `=` before it; a time follows a blank.
  if (precision === undefined || body[start - 1] !== 32) return undefined;
  return { time: String.fromCharCode(...body.subarray(start, end)), precision };
}

/** Logs a doubt once for each database. */
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

/** The text for the header `X-Tsdb-Diagnostics`. */
export function precisionFinding({ time, precision }: PrecisionDoubt): string {
  const hint = `${time} is taken as nanoseconds since 1970; is precision=${precision} missing?`;
  return JSON.stringify([{ code: 'WRITE_PRECISION', hint }]);
}
