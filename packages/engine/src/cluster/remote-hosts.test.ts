// Instances that close the leader's connection before they run anything.
import type { Member } from '@tidemark/cluster';
import { systemClock } from '@tidemark/core';
import type { HostPool } from '@tidemark/runtime/host';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';

import type { PointLog } from '../shared-log/point-log.ts';
import { RemoteHosts } from './remote-hosts.ts';

test('an instance that accepts the leader and goes away at once is told in the log, and nothing else happens', async () => {
  const server = http.createServer();
  server.on('connect', (_, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const logged: string[] = [];
  const member = {
    id: 'other',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    version: '1',
    isAlive: true,
    isDraining: false,
  } as Member;

  const hosts = await RemoteHosts.open({
    pool: {} as HostPool,
    self: 'self',
    secret: 's',
    term: 1,
    version: '1',
    leaseMs: 30_000,
    server: { hostname: '', clusterId: '', serverId: '' },
    members: () => [member],
    points: { firstNamed: 0 } as PointLog,
    clock: systemClock(),
    logger: (level, message, fields) =>
      void logged.push(`${level}: ${message}: ${String(fields?.['err'])}`),
  });

  expect(logged).toEqual([
    'warn: an instance does not run tasks: the instance has closed the connection',
  ]);
  expect(hosts.instances).toEqual([]);
  await hosts.close();
  server.close();
});
