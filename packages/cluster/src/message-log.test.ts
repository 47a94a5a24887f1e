// Reading a part of a log that changes at the same time, and appending to a subject of it.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { hasPrograms, TestCoordinator } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { Superseded } from './coordinator.ts';
import { NatsCoordinator } from './nats-coordinator.ts';
import type { MessageLog } from './message-log.ts';

describe.runIf(hasPrograms('nats-server'))('a part of a log', () => {
  let server: TestCoordinator;
  let coordinator: NatsCoordinator;
  let log: MessageLog;
  const { signal } = new AbortController();
  beforeEach(async () => {
    server = await TestCoordinator.start();
    const urls = [server.url];
    coordinator = await NatsCoordinator.open({ urls, login: '', name: 'c', replicas: 1 });
    log = coordinator.points;
    for (let i = 1; i <= 3; i++) await log.append(Buffer.from(`record ${i}`), { signal });
  });
  afterEach(async () => {
    await coordinator.close();
    await server.close();
  });

  async function read(first: number, through: number): Promise<readonly string[]> {
    const texts: string[] = [];
    for await (const { bytes } of log.read({ first, through, signal }))
      texts.push(Buffer.from(bytes).toString());
    return texts;
  }

  test('is what of it is there', async () => {
    await log.purge(3);

    expect(await read(1, 3)).toEqual(['record 3']);
  });

  test('ends when all of it is forgotten before it was read', async () => {
    await log.purge(4);

    expect(await read(2, 3)).toEqual([]);
  });

  test('ends when the rest of it is forgotten while it is read', async () => {
    const texts: string[] = [];
    for await (const { bytes } of log.read({ first: 1, through: 3, signal })) {
      texts.push(Buffer.from(bytes).toString());
      await log.purge(4);
    }

    expect(texts[0]).toBe('record 1');
  });

  test('is one message, unless its writer is the only one', async () => {
    const long = new Uint8Array(log.bytesMax + 1);
    await expect(log.append(long, { signal })).rejects.toThrow('a record is too long');

    const last = await log.append(long, { signal, after: 3 });

    const sizes: number[] = [];
    for await (const { bytes } of log.read({ first: 4, through: last, signal }))
      sizes.push(bytes.length);
    expect(sizes).toEqual([long.length]);
  });

  test('is refused behind a record of its subject that its writer does not know', async () => {
    const append = (text: string, after?: number): Promise<number> =>
      log.append(Buffer.from(text), { signal, subject: 'looped', after });
    const first = await append('a');
    await log.append(Buffer.from('of another subject'), { signal });

    const second = await append('b', first);
    await expect(append('c', first)).rejects.toThrow(Superseded);
    await log.purge(second + 1);
    await expect(append('d', second)).rejects.toThrow(Superseded);
    const third = await append('e');
    await append('f', third);

    expect(await read(1, third + 1)).toEqual(['e', 'f']);
  });

  test('has subjects when an earlier version has begun it', async () => {
    const connection = await connect({ servers: server.url });
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: 'TIDEMARK_old_points', subjects: ['tidemark.old.points'] });
    await jetstream(connection).publish('tidemark.old.points', 'earlier');
    await connection.close();

    const urls = [server.url];
    const newer = await NatsCoordinator.open({ urls, login: '', name: 'old', replicas: 1 });
    const last = await newer.points.append(Buffer.from('later'), { signal, subject: 'looped' });

    const found: string[] = [];
    for await (const { bytes } of newer.points.read({ first: 1, through: last, signal }))
      found.push(Buffer.from(bytes).toString());
    expect(found).toEqual(['earlier', 'later']);
    await newer.close();
  });

  test('is not taken for read when the connection ends', async () => {
    // There is a fourth one only when the third was read.
    const reading = (async () => {
      for await (const { sequence } of log.read({ first: 1, through: 4, signal }))
        if (sequence === 3) await coordinator.close();
    })();

    await expect(reading).rejects.toThrow(
      'the connection has ended while TIDEMARK_c_points was read',
    );
  });
});
