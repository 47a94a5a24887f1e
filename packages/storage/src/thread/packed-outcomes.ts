// Outcomes of writes on their way back, packed as numbers: an object in a message costs more than a
// line of a body does. Those of one turn of the event loop cross as one object.
import type { WriteOutcome } from '@tidemark/storage-api';

/** A write that was accepted whole. */
export type PlainOutcome = {
  readonly kind: 'written';
  readonly id: number;
  readonly outcome: WriteOutcome;
};

export type PackedOutcomes = {
  readonly kind: 'all-written';
  readonly ids: readonly number[];
  readonly points: readonly number[];
  readonly values: readonly number[];
};

/** Whether the outcome says nothing but how much was written. */
export function isPlain({ dropped, parseErrors, unlistedCount }: WriteOutcome): boolean {
  return dropped === undefined && parseErrors.length === 0 && unlistedCount === undefined;
}

/** The outcomes of a list as one message, behind the others. */
export function packOutcomes<T extends { readonly kind: string }>(
  messages: readonly (T | PlainOutcome)[],
): (T | PackedOutcomes)[] {
  const plain: PlainOutcome[] = [];
  const others: T[] = [];
  for (const message of messages) {
    if (message.kind === 'written') plain.push(message as PlainOutcome);
    else others.push(message as T);
  }
  if (plain.length === 0) return others;
  const packed: PackedOutcomes = {
    kind: 'all-written',
    ids: plain.map(({ id }) => id),
    points: plain.map(({ outcome }) => outcome.pointsWritten),
    values: plain.map(({ outcome }) => outcome.valuesWritten),
  };
  return [...others, packed];
}

export function* unpackOutcomes({
  ids,
  points,
  values,
}: PackedOutcomes): Generator<readonly [id: number, outcome: WriteOutcome]> {
  for (const [i, id] of ids.entries()) {
    const outcome = { pointsWritten: points[i]!, valuesWritten: values[i]!, parseErrors: NONE };
    yield [id, { ...outcome, dropped: undefined }];
  }
}

const NONE: readonly string[] = [];
