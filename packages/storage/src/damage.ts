// Damage: what cannot be read in a data directory, and the errors of requests that need it.
import { AssertionFailed, Corruption, messageOf } from '@tidemark/core';
import type { Damage } from '@tidemark/storage-api';

/** The setting that lets reads go on without what cannot be read. */
const SERVE_SETTING = 'storage.serve-damaged';

/**
 * The file is sound, but a later version of this program wrote it. That is no damage: nothing of it
 * may be replaced, left out or repaired.
 */
export class NewerFormat extends Corruption {
  constructor(file: string, { version, newest }: { version: number; newest: number }) {
    const versions = `it has format ${version}, this program reads up to ${newest}`;
    // Where files have the version: behind the six characters that name their kind.
    super(`file was written by a newer version: ${versions}`, { file, offset: 6 });
  }
}

/**
 * The damage that an error reports; in `file`, unless the error names its own place. Throws errors
 * that report none: a newer format, and a failed assertion.
 */
export function damageOf(error: unknown, file: string): Damage {
  if (error instanceof NewerFormat || error instanceof AssertionFailed) throw error;
  if (!(error instanceof Corruption)) return { file, offset: 0, message: messageOf(error) };
  return { file: error.file, offset: error.offset, message: error.reason };
}

const REPAIR = 'stop the service and run `tidemark tsdb repair`, which keeps what is readable';

/** The error of a read that needs something damaged. */
export function unreadable({ message, file, offset }: Damage): Corruption {
  const advice = `${REPAIR}, or set ${SERVE_SETTING} = true to be answered without it`;
  return new Corruption(`${message}; ${advice}`, { file, offset });
}

/** Adds to the error of a damaged block what a user can do; returns other errors unchanged. */
export function withAdvice(error: unknown): unknown {
  if (!(error instanceof Corruption) || error instanceof NewerFormat) return error;
  if (error.reason.includes(REPAIR)) return error;
  return new Corruption(`${error.reason}; ${REPAIR}`, error);
}

/**
 * The error of a change to something damaged. A later repair could bring deleted points back, or
 * mix them with new ones.
 */
export function unchangeable({ message, file, offset }: Damage): Corruption {
  const advice = 'nothing in it can be changed until `tidemark tsdb repair` has run';
  return new Corruption(`${message}; ${advice}`, { file, offset });
}

/** The warning on an answer that leaves out what is damaged. */
export function partialAnswer({ message, file }: Damage): string {
  return `the answer is not complete: ${message} (${file})`;
}
