// What crosses together, over a port that only records messages.
import { setImmediate } from 'node:timers/promises';

import { Unavailable } from '@tidemark/core';
import { BodyBuffers } from '@tidemark/storage-api';
import { beforeEach, expect, test } from 'vitest';

import { POLICY } from '../testing/fixtures.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import { Connection } from './connection.ts';
import type { BatchesMessage, ToThread } from './protocol.ts';
import { RingReader, ringMemory, SMALL_BODY_BYTES } from './write-ring.ts';

let posted: (readonly ToThread[])[];
let connection: Connection;
let ring: RingReader;

beforeEach(() => {
  posted = [];
  const port = {
    postMessage: (messages: readonly ToThread[]) => void posted.push(messages),
  };
  const versions = new SchemaVersions();
  const memory = ringMemory();
  ring = new RingReader(memory);
  ring.sleep();
  connection = new Connection(port, { versions, bodies: new BodyBuffers(), ring: memory });
});

const SOURCE = { database: 'db', retentionPolicy: 'autogen', measurement: 'm' };

type Ended = { batches: BatchesMessage[]; errors: Error[] };

function read(ended: Ended): number {
  return connection.read(
    {
      onBatches: (message) => ended.batches.push(message),
      onAsk: () => undefined,
      onError: (error) => ended.errors.push(error),
    },
    { name: 'cost', request: { source: SOURCE }, takesPartial: false },
  );
}

const none = (): Ended => ({ batches: [], errors: [] });
const kinds = (): readonly (readonly string[])[] =>
  posted.map((messages) => messages.map(({ kind }) => kind));

const WRITE = { policy: POLICY, body: Buffer.from('m v=1'), precision: 'ns', now: 1n } as const;

test('a request alone crosses at once; those of one turn cross together behind it', async () => {
  const call = connection.call('flush', []);
  expect(kinds()).toEqual([['call']]);

  const id = read(none());
  connection.signal({ id, name: 'pull' });
  const writes = [connection.call('writeLines', [WRITE]), connection.call('writeLines', [WRITE])];
  expect(posted).toHaveLength(1);
  await setImmediate();

  expect(kinds()).toEqual([['call'], ['read', 'signal', 'writes']]);
  expect(ring.take()).toHaveLength(2);
  connection.end(new Error('over'));
  for (const each of [call, ...writes]) await expect(each).rejects.toThrow(Unavailable);
});

test('a thread that looks by itself is not woken for small writes; large ones are sent', async () => {
  const large = { ...WRITE, body: new Uint8Array(SMALL_BODY_BYTES + 1) };
  const small = [connection.call('writeLines', [WRITE])];
  expect(kinds()).toEqual([['writes']]);
  small.push(connection.call('writeLines', [WRITE]), connection.call('writeLines', [large]));
  await setImmediate();

  expect(kinds()).toEqual([['writes'], ['call']]);
  expect(ring.take().map(({ id }) => id)).toEqual([1, 2]);
  expect(ring.sleep()).toBe(true);
  small.push(connection.call('writeLines', [WRITE]));
  await setImmediate();
  expect(kinds()).toEqual([['writes'], ['call'], ['writes']]);

  connection.end(new Error('over'));
  for (const each of small) await expect(each).rejects.toThrow(Unavailable);
});

test('writes that find no room in the ring are sent as other calls are', async () => {
  const body = new Uint8Array(SMALL_BODY_BYTES);
  const writes = Array.from({ length: 300 }, () =>
    connection.call('writeLines', [{ ...WRITE, body }]),
  );
  await setImmediate();

  const taken = ring.take();
  const sent = posted.flat().filter(({ kind }) => kind === 'call');
  expect(taken.length).toBeGreaterThan(200);
  expect(sent.length).toBeGreaterThan(0);
  expect(taken.length + sent.length).toBe(300);
  connection.end(new Error('over'));
  for (const each of writes) await expect(each).rejects.toThrow(Unavailable);
});

test('a read that is cancelled gets nothing more, and what is over is told nothing', () => {
  const ended = none();
  const id = read(ended);
  connection.cancel(id);
  connection.cancel(id);
  connection.signal({ id, name: 'pull' });
  const message = { kind: 'batches', id, batches: [{}], sizeBytes: 0, isLast: true } as const;
  connection.handle(message);

  expect(kinds()).toEqual([['read'], ['signal']]);
  expect(ended).toEqual(none());

  const other = none();
  const last = { ...message, id: read(other) };
  connection.handle(last);
  connection.end(new Error('over'));
  expect(other).toEqual({ batches: [last], errors: [] });
});

test('when the thread ends, everything fails, also what comes later', async () => {
  const open = none();
  const later = none();
  read(open);
  connection.end(new Error('over'));
  read(later);

  expect(open.errors).toEqual([expect.any(Unavailable)]);
  expect(later.errors).toEqual([expect.any(Unavailable)]);
  await expect(connection.call('flush', [])).rejects.toThrow(Unavailable);
  expect(posted).toHaveLength(1);
});
