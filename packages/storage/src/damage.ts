// What can not be read of a directory, and what the requests are told that need it.
import { Corruption, messageOf } from '@tidemark/core';

/** Something that can not be read, or is not known any more. */
export type Damage = { readonly file: string; readonly offset: number; readonly message: string };

/** The setting by which reads go on without what can not be read. */
const SERVE_SETTING = 'storage.serve-damaged';

/** What an error says of `file`, or of the place that it names itself. */
export function damageOf(error: unknown, file: string): Damage {
  if (!(error instanceof Corruption)) return { file, offset: 0, message: messageOf(error) };
  return { file: error.file, offset: error.offset, message: error.reason };
}

const REPAIR = 'stop the service and run `tidemark tsdb repair`, which keeps what is readable';

/** Refuses a read that needs what is damaged. */
export function unreadable({ message, file, offset }: Damage): Corruption {
  const advice = `${REPAIR}, or set ${SERVE_SETTING} = true to be answered without it`;
  return new Corruption(`${message}; ${advice}`, { file, offset });
}

/** The error of a read that has met a damaged block, with what to do; any other error as it is. */
export function withAdvice(error: unknown): unknown {
  if (!(error instanceof Corruption) || error.reason.includes(REPAIR)) return error;
  return new Corruption(`${error.reason}; ${REPAIR}`, error);
}

/**
 * Refuses a change of what is damaged: repair could bring back what was deleted, or mix up what is
 * new.
 */
export function unchangeable({ message, file, offset }: Damage): Corruption {
  const advice = 'nothing in it can be changed until `tidemark tsdb repair` has run';
  return new Corruption(`${message}; ${advice}`, { file, offset });
}

/** Marks an answer that lacks what is damaged. */
export function partialAnswer({ message, file }: Damage): string {
  return `the answer is not complete: ${message} (${file})`;
}
