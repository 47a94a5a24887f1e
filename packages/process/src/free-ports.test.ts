import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { freePorts } from './free-ports.ts';

test('ports are different and out of the reach of outgoing connections', async () => {
  const ports = await freePorts(40);

  expect(new Set(ports).size).toBe(40);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: ephemeral } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  expect(Math.max(...ports)).toBeLessThan(ephemeral);
});

test('ports of datagrams can be bound', async () => {
  const [port] = await freePorts(1, 'udp');

  const socket = createSocket('udp4').bind(port, '127.0.0.1');
  await once(socket, 'listening');
  expect(socket.address().port).toBe(port);
  await new Promise<void>((resolve) => socket.close(resolve));
});
