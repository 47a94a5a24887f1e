// What crosses together, over a port that only records messages.
import { setImmediate } from 'node:timers/promises';

import { Unavailable } from '@tidemark/core';
import { BodyBuffers } from '@tidemark/storage-api';
import { beforeEach, expect, test } from 'vitest';

import { POLICY } from '../testing/fixtures.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import { Connection } from './connection.ts';
import type { BatchesMessage, ToThread } from './protocol.ts';

let posted: (readonly ToThread[])[];
let connection: Connection;

beforeEach(() => {
  posted = [];
  const port = {
    postMessage: (messages: readonly ToThread[]) => void posted.push(messages),
  };
  const versions = new SchemaVersions();
  connection = new Connection(port, { versions, bodies: new BodyBuffers() });
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

test('a request alone crosses at once; those of one turn cross together behind it', async () => {
  const write = { policy: POLICY, body: Buffer.from('m v=1'), precision: 'ns', now: 1n } as const;
  const call = connection.call('flush', []);
  expect(kinds()).toEqual([['call']]);

  const id = read(none());
  connection.signal({ id, name: 'pull' });
  const writes = [connection.call('writeLines', [write]), connection.call('writeLines', [write])];
  expect(posted).toHaveLength(1);
  await setImmediate();

  expect(kinds()).toEqual([['call'], ['read', 'signal', 'small-writes']]);
  connection.end(new Error('over'));
  for (const each of [call, ...writes]) await expect(each).rejects.toThrow(Unavailable);
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
