import type { WriteLinesRequest, WriteOutcome } from '@tidemark/storage-api';

// Small writes and their outcomes, packed: an object or a buffer in a message costs more than a
// line of a body does. So those of one turn of the event loop cross as one object, and their bodies
// lie in one buffer.

/** A longer body is sent in its own buffer. */
const SMALL_BODY_BYTES = 4 << 10;

export type SmallWrite = {
  readonly kind: 'small-write';
  readonly id: number;
  readonly request: WriteLinesRequest;
};

export type PackedWrites = {
  readonly kind: 'small-writes';
  readonly ids: readonly number[];
  readonly requests: readonly Omit<WriteLinesRequest, 'body'>[];
  /** Where each body ends in `bodies`. */
  readonly ends: readonly number[];
  readonly bodies: Uint8Array<ArrayBuffer>;
};

/** A write that was accepted whole. */
export type SmallOutcome = {
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

export function isSmall({ body }: WriteLinesRequest): boolean {
  return body.byteLength <= SMALL_BODY_BYTES;
}

/** Whether the outcome says nothing but how much was written. */
export function isPlain({ dropped, parseErrors, unlistedCount }: WriteOutcome): boolean {
  return dropped === undefined && parseErrors.length === 0 && unlistedCount === undefined;
}

/** The small writes of a list as one message, behind the others. */
export function packWrites<T extends { readonly kind: string }>(
  messages: readonly (T | SmallWrite)[],
): (T | PackedWrites)[] {
  const { small, others } = partition<T, SmallWrite>(messages, 'small-write');
  if (small.length === 0) return others;
  const ends: number[] = [];
  let end = 0;
  for (const { request } of small) ends.push((end += request.body.length));
  const bodies = new Uint8Array(end);
  for (const [i, { request }] of small.entries()) bodies.set(request.body, ends[i - 1] ?? 0);
  const packed: PackedWrites = {
    kind: 'small-writes',
    ids: small.map(({ id }) => id),
    requests: small.map(({ request: { body: _body, ...request } }) => request),
    ends,
    bodies,
  };
  return [...others, packed];
}

export function* unpackWrites({
  ids,
  requests,
  ends,
  bodies,
}: PackedWrites): Generator<Omit<SmallWrite, 'kind'>> {
  for (const [i, id] of ids.entries()) {
    yield { id, request: { ...requests[i]!, body: bodies.subarray(ends[i - 1] ?? 0, ends[i]) } };
  }
}

/** The outcomes of a list as one message, behind the others. */
export function packOutcomes<T extends { readonly kind: string }>(
  messages: readonly (T | SmallOutcome)[],
): (T | PackedOutcomes)[] {
  const { small, others } = partition<T, SmallOutcome>(messages, 'written');
  if (small.length === 0) return others;
  const packed: PackedOutcomes = {
    kind: 'all-written',
    ids: small.map(({ id }) => id),
    points: small.map(({ outcome }) => outcome.pointsWritten),
    values: small.map(({ outcome }) => outcome.valuesWritten),
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

function partition<T extends { readonly kind: string }, S extends { readonly kind: string }>(
  messages: readonly (T | S)[],
  kind: S['kind'],
): { readonly small: readonly S[]; readonly others: T[] } {
  const small: S[] = [];
  const others: T[] = [];
  for (const message of messages) {
    if (message.kind === kind) small.push(message as S);
    else others.push(message as T);
  }
  return { small, others };
}
