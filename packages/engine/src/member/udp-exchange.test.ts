// Points that an instance receives over UDP, on their way to the leader, and who may tell it what
// to listen for.
import { systemClock } from '@tidemark/core';
import { TestServer } from '@tidemark/testkit';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UdpInputs } from '../ingest/udp-inputs.ts';
import { BadLine } from '../ingest/write-path.ts';
import { UdpExchange, UdpRelay } from './udp-exchange.ts';

const SECRET = 'of the cluster';
const TARGET = { database: 'd', retentionPolicy: 'r', precision: 'ns' } as const;

describe('an instance that listens', () => {
  let instance: Server;
  let inputs: UdpInputs;
  let leaders: { readonly url: string; readonly isOwn: boolean }[];
  const told: unknown[] = [];
  const answers: { readonly status: number; readonly body?: string }[] = [];
  const leader = new TestServer(() => answers.shift() ?? { status: 204 });
  const relay = new UdpRelay({
    leader: () => (leaders.length > 1 ? leaders.shift() : leaders[0]),
    secret: () => SECRET,
    clock: systemClock(),
    waitMs: 500,
    bindOf: () => '127.0.0.1',
  });
  beforeEach(async () => {
    told.length = 0;
    await leader.open();
    leaders = [{ url: leader.url, isOwn: false }];
    inputs = new UdpInputs({ write: (body, to) => relay.write(body, to), log: () => undefined });
    instance = createServer((request, response) => {
      void relay.answer(request, response, inputs).then((isAnswered) => {
        if (!isAnswered) response.writeHead(404).end('no such place');
      });
    });
    await new Promise<void>((resolve) => instance.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await inputs.close();
    await new Promise((resolve) => instance.close(resolve));
    await leader.close();
  });

  const exchange = (secret: string): UdpExchange => {
    const url = `http://127.0.0.1:${(instance.address() as AddressInfo).port}`;
    const member = { id: 'a', url, hostname: 'one', pid: 1, version: '1', level: 1 };
    const alive = { isAlive: true, isLeader: false, isDraining: false, replica: 0 };
    const members = () => [{ ...member, ...alive }];
    const log = (level: string, message: string): void => void told.push([level, message]);
    return new UdpExchange({ self: 'a', secret, members, token: 'of-subscriber', log });
  };
  const input = { ...TARGET, host: '', readBufferBytes: 0, packetsMax: 10 };

  test('stays where it listens, and gives on what comes until it is taken', async () => {
    const [first] = await exchange(SECRET).listen('main', [input]);
    const [again, other] = await exchange(SECRET).listen('main', [
      input,
      { ...input, database: 'e' },
    ]);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    // One leader is gone, and the next one does not lead yet.
    leaders.unshift({ url: 'http://127.0.0.1:1', isOwn: false });
    answers.push({ status: 503 });

    await relay.write(Buffer.from('m v=1\n'), TARGET);

    expect(leader.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/engine/v1/write?db=d&rp=r&precision=ns', 'm v=1\n'],
      ['/engine/v1/write?db=d&rp=r&precision=ns', 'm v=1\n'],
    ]);
    const basic = Buffer.from('~subscriber:of-subscriber').toString('base64');
    expect(leader.requests[0]?.headers['authorization']).toBe(`Basic ${basic}`);
    expect(leader.requests[0]?.headers['x-tidemark-page-key']).toBeUndefined();
  });

  test('says what nobody takes', async () => {
    answers.push({ status: 400, body: 'no field' });
    await expect(relay.write(Buffer.from('m'), TARGET)).rejects.toThrow(new BadLine('no field'));
    answers.push({ status: 401, body: 'authorization failed' });
    await expect(relay.write(Buffer.from('m v=1'), TARGET)).rejects.toThrow(
      `${leader.url} answers 401: authorization failed`,
    );
    answers.push(...Array.from({ length: 20 }, () => ({ status: 503, body: 'wait' })));
    await expect(relay.write(Buffer.from('m v=1'), TARGET)).rejects.toThrow('answers 503: wait');
    answers.length = 0;
  });

  test('listens for nobody who does not know the secret of the cluster', async () => {
    await expect(exchange('guessed').listen('main', [input])).rejects.toThrow(
      'no instance of the cluster listens for udp',
    );
    expect(told).toEqual([['warn', 'an instance does not listen for subscriptions over udp']]);
  });
});
