// A cluster that is impaired: who can take no write says so soon and by name, and a write that was
// refused never replaces one that was acknowledged later.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ALL_TIME, Unavailable } from '@tidemark/core';
import type { PolicyRef, StorageEngine } from '@tidemark/storage';
import { CuttableLink, eventually, hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { NodeStatus } from './index.ts';
import { configurationOf } from './local-cluster/configuration.ts';
import { findPrograms } from './local-cluster/programs.ts';
import { scanned } from './testing/compare-sources.ts';
import { CLUSTER_PROGRAMS, useCluster } from './testing/test-cluster.ts';
import { TEST_SETTINGS, testPolicy, writeLines } from './testing/test-storage.ts';

const SLOW_MS = 180_000;

/** A way to a server, on which requests can be held back; they go on when they are released. */
type Gate = {
  readonly url: string;
  /** Holds back the requests of this kind from now on. */
  hold(isHeld: (sql: string) => boolean): void;
  /** Sends what was held back, also when nobody waits for it any more. */
  release(): Promise<void>;
  readonly heldCount: number;
  close(): Promise<void>;
};

async function openGate(target: string): Promise<Gate> {
  let isHeld: (sql: string) => boolean = () => false;
  let held: (() => Promise<void>)[] = [];
  const forward = (path: string, method: string, body: Buffer, response: ServerResponse) =>
    new Promise<void>((resolve) => {
      const call = sendRequest(`${target}${path}`, { method }, (answer: IncomingMessage) => {
        answer.on('end', resolve);
        if (response.destroyed) answer.resume();
        else answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
      });
      call.on('error', () => {
        response.destroy();
        resolve();
      });
      call.end(body);
    });
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const path = request.url ?? '/';
      const { searchParams } = new URL(path, target);
      const sql = searchParams.get('query') ?? body.toString();
      const send = () => forward(path, request.method ?? 'POST', body, response);
      if (isHeld(sql)) held.push(send);
      else await send();
    })().catch(() => response.destroy()); // The client has gone.
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (which) => (isHeld = which),
    release: async () => {
      isHeld = () => false;
      const all = held;
      held = [];
      for (const one of all) await one();
    },
    get heldCount() {
      return held.length;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Starts a server of the cluster anew, with another way to ZooKeeper. */
async function restartOn(directory: string, node: NodeStatus, port: number) {
  process.kill(node.pid, 'SIGKILL');
  const path = configurationOf(directory, node.node);
  const text = readFileSync(path, 'utf8');
  const way = /(<zookeeper>\s*<node><host>[^<]*<\/host><port>)\d+/;
  writeFileSync(path, text.replace(way, `$1${port}`));
  const { clickhouseServer } = findPrograms(process.env);
  const isUp = (): Promise<true | undefined> =>
    fetch(`${node.url}/ping`).then(
      () => true as const,
      () => undefined,
    );
  await eventually('its end', async () => ((await isUp()) === undefined ? true : undefined));
  const server = spawn(clickhouseServer, [`--config-file=${path}`], { stdio: 'ignore' });
  await eventually('its start', isUp, SLOW_MS / 3);
  return {
    stop: async () => {
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
  };
}

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('an impaired cluster', () => {
  const cluster = useCluster({ shards: 1, replicas: 2 });
  let gates: readonly Gate[];

  beforeAll(async () => {
    gates = await Promise.all(cluster.urls.map(openGate));
  });
  afterAll(async () => {
    for (const gate of gates ?? []) await gate.close();
  });

  const rows = (storage: StorageEngine, { database, retentionPolicy }: PolicyRef) =>
    scanned(storage.source, {
      source: { database, retentionPolicy, measurement: 'm' },
      timeRange: ALL_TIME,
      descending: false,
      groupBy: [],
      fields: [{ name: 'v', type: 'float' }],
    });

  const isInsert = (table: string) => (sql: string) =>
    sql.startsWith('INSERT INTO') && sql.includes(table);

  /** Until servers have found ZooKeeper again. */
  const isTaken = (engine: StorageEngine, policy: PolicyRef, line: string) =>
    eventually(
      'a write',
      () =>
        writeLines(engine, policy, [line]).then(
          () => true as const,
          () => undefined,
        ),
      SLOW_MS / 3,
    );

  test(
    'a write that was refused loses against one that was acknowledged later',
    async () => {
      const policy = testPolicy(1);
      const one = await cluster.open({ urls: gates.map(({ url }) => url), writeTimeoutMs: 2000 });
      const two = await cluster.open();
      await writeLines(one, policy, ['m v=1 1']);
      for (const gate of gates) gate.hold(isInsert('points_1'));

      const refused = await writeLines(one, policy, ['m v=2 1']).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Unavailable);
      expect(gates.reduce((sum, { heldCount }) => sum + heldCount, 0)).toBeGreaterThan(0);
      await writeLines(two, policy, ['m v=3 1']);
      for (const gate of gates) await gate.release();

      expect(await rows(two, policy)).toEqual(['m 1 3']);
      expect(await rows(one, policy)).toEqual(['m 1 3']);
      await writeLines(one, policy, ['m v=4 1']);
      expect(await rows(two, policy)).toEqual(['m 1 4']);
      await one.close();
      await two.close();
    },
    SLOW_MS,
  );

  test(
    'an insert that lands behind a delete is hidden by it',
    async () => {
      const policy = testPolicy(2);
      const one = await cluster.open({ urls: gates.map(({ url }) => url), writeTimeoutMs: 2000 });
      const two = await cluster.open();
      await writeLines(one, policy, ['m v=1 1']);
      for (const gate of gates) gate.hold(isInsert('points_2'));
      await expect(writeLines(one, policy, ['m v=2 1', 'm v=2 2'])).rejects.toThrow(Unavailable);
      await two.delete({ database: policy.database, measurements: ['m'] });
      await writeLines(two, policy, ['m v=3 3']);
      for (const gate of gates) await gate.release();

      expect(await rows(two, policy)).toEqual(['m 3 3']);
      await one.close();
      await two.close();
    },
    SLOW_MS,
  );

  test(
    'a delete that was refused deletes nothing later',
    async () => {
      const policy = testPolicy(5);
      const { database } = policy;
      const one = await cluster.open({ urls: gates.map(({ url }) => url) });
      const two = await cluster.open();
      await writeLines(one, policy, ['m v=1 1']);
      for (const gate of gates) gate.hold((sql) => sql.includes('CREATE TABLE'));
      const refused = one.delete({ database, measurements: ['m'] });
      await expect(refused).rejects.toThrow(Unavailable);
      for (const gate of gates) gate.hold(() => false);
      // This front end settles what becomes of it before it writes again.
      await isTaken(one, policy, 'm v=2 2');
      for (const gate of gates) await gate.release();
      await writeLines(two, policy, ['m v=3 3']);

      expect(await rows(two, policy)).toEqual(['m 1 1', 'm 2 2', 'm 3 3']);
      await one.close();
      await two.close();
    },
    SLOW_MS,
  );

  test(
    'requests that wait behind a write that hangs are refused with it, and never stored',
    async () => {
      const policy = testPolicy(3);
      const one = await cluster.open({ urls: gates.map(({ url }) => url), writeTimeoutMs: 2000 });
      await writeLines(one, policy, ['m v=1 1']);
      for (const gate of gates) gate.hold((sql) => sql.includes('DROP PARTITION ID'));

      const writes = [2, 3, 4].map((v) => writeLines(one, policy, [`m v=${v} ${v}`]));
      // Timers end in their order: this is when the service would answer with 500.
      const late = TEST_SETTINGS.clock.sleep(2000).then(() => []);
      const outcomes = await Promise.race([Promise.allSettled(writes), late]);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      for (const gate of gates) await gate.release();
      await writeLines(one, policy, ['m v=5 5']);

      expect(await rows(one, policy)).toEqual(['m 1 1', 'm 5 5']);
      await one.close();
    },
    SLOW_MS,
  );

  test(
    'a replica that answers and has lost ZooKeeper is named when it has been silent for too long',
    async () => {
      const policy = testPolicy(4);
      const [first] = cluster.status.nodes;
      const { port } = new URL(`http://${cluster.status.zookeeper.address}`);
      const link = await CuttableLink.open(Number(port));
      const server = await restartOn(cluster.directory, first!, link.port);
      const engine = await cluster.open({ pingTimeoutMs: 2000 });
      try {
        await isTaken(engine, policy, 'm v=1 1');
        link.cut();

        const refused = await writeLines(engine, policy, ['m v=2 2']).catch(
          (error: unknown) => error,
        );
        expect(refused).toBeInstanceOf(Unavailable);
        // What only the probe of this replica says: time was not over yet.
        expect(String(refused)).toContain(
          `shard 1 of the cluster does not take writes: ClickHouse does not take writes. url=\`${first?.url}\``,
        );
        expect(await rows(engine, policy)).toContain('m 1 1');
        expect(await engine.replicas()).toMatchObject([
          { url: first?.url, isUp: true, takesWrites: false },
          { isUp: true, takesWrites: true },
        ]);

        link.restore();
        await isTaken(engine, policy, 'm v=3 3');
        expect(await rows(engine, policy)).toEqual(expect.arrayContaining(['m 1 1', 'm 3 3']));
        await eventually('both replicas', async () =>
          (await engine.replicas()).every(({ takesWrites }) => takesWrites) ? true : undefined,
        );
      } finally {
        await engine.close();
        await server.stop();
        await link.close();
      }
    },
    SLOW_MS,
  );
});
