// UDP packets that arrive faster than they are written.
import { deferred } from '@tidemark/core';
import { createSocket } from 'node:dgram';
import { eventually } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { UdpListener } from './udp-listener.ts';
import { BadLine } from './write-path.ts';

test('writes together what came meanwhile, and a wrong line costs its own packet only', async () => {
  const first = deferred();
  const bodies: string[] = [];
  const told: unknown[] = [];
  const target = { database: 'd', retentionPolicy: 'r', precision: 'ns' } as const;
  const listener = await UdpListener.open({
    host: '127.0.0.1',
    port: 0,
    readBufferBytes: 0,
    packetsMax: 4,
    target,
    write: async (body, to) => {
      expect(to).toBe(target);
      bodies.push(Buffer.from(body).toString());
      if (bodies.length === 1) await first.promise;
      if (bodies.at(-1)?.includes('wrong') === true) throw new BadLine('no field');
    },
    log: (level, message, fields) => void told.push([level, message, fields]),
  });
  const socket = createSocket('udp4');
  const send = async (text: string): Promise<void> => {
    const { received } = listener.counters;
    await new Promise((resolve) => socket.send(text, listener.port, '127.0.0.1', resolve));
    await eventually(text, async () => (listener.counters.received > received ? true : undefined));
  };

  await send('m v=0');
  for (const text of ['m v=1', 'm v=2\n', 'wrong', 'm v=3', 'm v=4']) await send(text);
  first.resolve();
  await listener.close();
  socket.close();

  expect(bodies).toEqual([
    'm v=0\n',
    'm v=1\nm v=2\n\nwrong\nm v=3\n',
    'm v=1\n',
    'm v=2\n\n',
    'wrong\n',
    'm v=3\n',
  ]);
  expect(listener.counters).toEqual({ received: 6, failed: 1, dropped: 1 });
  expect(told).toEqual([
    ['warn', 'failed to accept points from udp', { packets: 1, err: 'no field' }],
    [
      'warn',
      'udp packets were dropped: more came than may wait (udp-buffer)',
      { dropped: 1, 'udp-buffer': 4, database: 'd', retentionPolicy: 'r' },
    ],
  ]);
});
