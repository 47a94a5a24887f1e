// Ids that clients choose.
import { randomUUID } from 'node:crypto';
import { InvalidRequest } from '@tidemark/core';
import { ID_BYTES_MAX } from '@tidemark/alerting';

const ID = /^[-._\p{L}0-9]+$/u;

/** The id, a random one if it is empty. Throws `InvalidRequest` naming the `kind` of id. */
export function idOrRandom(id: string, kind: 'task' | 'template' | 'recording' | 'replay'): string {
  if (id === '') return randomUUID();
  if (ID.test(id)) {
    if (Buffer.byteLength(id) <= ID_BYTES_MAX) return id;
    throw new InvalidRequest(`${kind} ID must not be longer than ${ID_BYTES_MAX} bytes`);
  }
  throw new InvalidRequest(
    `${kind} ID must contain only letters, numbers, '-', '.' and '_'. ${JSON.stringify(id)}`,
  );
}
