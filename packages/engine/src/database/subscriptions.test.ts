// Subscriptions in real databases: Tidemark's and InfluxDB 1.6. Points that are written there
// arrive at a task here; every point has a unique number, so that missing and duplicate points can
// be counted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  eventually,
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
  TestServer,
  write,
} from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../engine-service.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
// Sorts before the engine's addresses. Nothing is written to its policy, so that it adds no
// failures of its own.
const FOREIGN = 'http://127.0.0.1:1';
const START_TIMEOUT_MS = 60_000;

type Database = { readonly url: string; stop(): Promise<void> };

const DATABASES = [
  {
    name: 'InfluxDB 1.6',
    isThere: hasPrograms('influxd'),
    open: (): Promise<Database> => startInfluxdb(),
  },
  {
    name: 'the database',
    isThere: true,
    open: async (): Promise<Database> => {
      const server = await startTidemark({
        command: 'tsdb',
        args: ['--monitor-store-enabled', 'false'],
      });
      const stop = async (): Promise<void> => {
        await server.stop();
        await removeDirectory(server.directory);
      };
      return { url: server.tsdb, stop };
    },
  },
];

/** Takes what a task posts and keeps the numbers in the points. */
class Receiver {
  readonly numbers: number[] = [];
  readonly #server = new TestServer(({ body }) => {
    for (const { columns, values } of JSON.parse(body).series) {
      const index = columns.indexOf('n');
      for (const row of values) this.numbers.push(row[index]);
    }
    return { status: 204 };
  });

  async open(): Promise<string> {
    await this.#server.open();
    return this.#server.url;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Waits for the number, which is the last one written. */
  async until(last: number): Promise<void> {
    await eventually(`point ${last}`, async () => this.numbers.includes(last) || undefined);
  }

  /** As if the number had not come yet. */
  forget(number: number): void {
    this.numbers.splice(0, Infinity, ...this.numbers.filter((each) => each !== number));
  }

  /** How many of the numbers from `first` to `last` are missing, and how many arrived twice. */
  count(first: number, last: number): { gaps: number; duplicates: number } {
    const inRange = this.numbers.filter((number) => number >= first && number <= last);
    const distinct = new Set(inRange).size;
    return { gaps: last - first + 1 - distinct, duplicates: inRange.length - distinct };
  }
}

for (const { name, isThere, open } of DATABASES) {
  describe.skipIf(!isThere)(`subscriptions at ${name}`, () => {
    let directory = '';
    let database: Database;
    let engine: EngineService | undefined;
    let receiver: Receiver;
    let receiverUrl = '';

    beforeEach(async () => {
      directory = mkdtempSync(join(tmpdir(), 'engine-subscriptions-'));
      receiver = new Receiver();
      receiverUrl = await receiver.open();
      database = await open();
      await query(
        database.url,
        `CREATE DATABASE d; CREATE RETENTION POLICY month ON d DURATION 30d REPLICATION 1;
         CREATE DATABASE other; CREATE SUBSCRIPTION foreign ON other.autogen DESTINATIONS ANY '${FOREIGN}'`,
      );
    }, START_TIMEOUT_MS);

    afterEach(async () => {
      await engine?.close();
      await database.stop();
      await receiver.close();
      rmSync(directory, { recursive: true, force: true });
    }, START_TIMEOUT_MS);

    async function start(
      cluster: Readonly<Record<string, unknown>> = {},
      port = '0',
    ): Promise<void> {
      const { config, problems } = resolveEngineConfig([
        {
          source: 'test',
          values: {
            hostname: '127.0.0.1',
            data_dir: directory,
            stats: { enabled: false },
            task: { hosts: '0' },
            http: { 'bind-address': `127.0.0.1:${port}` },
            tsdb: [{ name: 'default', urls: [database.url], ...cluster }],
          },
        },
      ]);
      expect(problems).toEqual([]);
      engine = await startEngine(config, { log: quiet });
      await post('subscriptions');
    }

    async function post(path: string, body: unknown = {}): Promise<void> {
      const response = await fetch(`${engine?.url}/engine/v1/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      const text = await response.text();
      expect([200, 204], `${path}: ${text}`).toContain(response.status);
    }

    function define(): Promise<void> {
      return post('tasks', {
        id: 't',
        dbrps: [{ db: 'd', rp: 'autogen' }],
        script: `stream|from().measurement('m')|httpPost('${receiverUrl}')`,
        status: 'enabled',
      });
    }

    /**
     * A database begins to send some time after it has answered; number 0 is written until it
     * arrives.
     */
    async function linked(): Promise<void> {
      receiver.forget(0);
      await eventually('the link', async () => {
        await writeNumbers(0, 0, 1);
        return receiver.numbers.includes(0) || undefined;
      });
    }

    /** `db.rp destination` of every subscription of the database, in order. */
    async function subscriptions(): Promise<readonly string[]> {
      const series = await query(database.url, 'SHOW SUBSCRIPTIONS');
      return series
        .flatMap(({ name: db, values = [] }) =>
          values.map(([rp, , , destinations]) => `${db}.${rp} ${String(destinations)}`),
        )
        .filter((subscription) => !subscription.startsWith('_internal'))
        .toSorted();
    }

    /** Sums over all destinations what the database counts of its subscriptions. */
    async function statistic(counter: string): Promise<number> {
      const series = await query(database.url, "SHOW STATS FOR 'subscriber'");
      return series
        .filter(({ tags }) => tags?.['destination'] === undefined)
        .reduce(
          (sum, { columns, values }) => sum + Number(values?.[0]?.[columns.indexOf(counter)] ?? 0),
          0,
        );
    }

    async function writeNumbers(first: number, last: number, perRequest: number): Promise<void> {
      for (let from = first; from <= last; from += perRequest) {
        const to = Math.min(last, from + perRequest - 1);
        const lines = Array.from(
          { length: to - from + 1 },
          (_, i) => `m n=${from + i} ${from + i}`,
        );
        await write(database.url, 'd', lines.join('\n'));
      }
    }

    test('every policy gets one, and the points written there reach a task once each', async () => {
      await start();
      await define();
      await linked();
      const url = engine?.url ?? '';
      expect(await subscriptions()).toEqual([
        `d.autogen ${url}`,
        `d.month ${url}`,
        `other.autogen ${FOREIGN}`,
        `other.autogen ${url}`,
      ]);

      await writeNumbers(1, 400, 20);
      await receiver.until(400);

      expect(receiver.count(1, 400)).toEqual({ gaps: 0, duplicates: 0 });
      // Another policy than the task's.
      const now = String(Math.floor(Date.now() / 1000));
      await write(database.url, 'd', `m n=1000 ${now}`, { rp: 'month', precision: 's' });
      await writeNumbers(401, 401, 1);
      await receiver.until(401);
      expect(receiver.numbers).not.toContain(1000);
    }, 60_000);

    test('those of a new policy are added, of a new address replaced, of an excluded one removed', async () => {
      await start();
      const before = engine?.url ?? '';
      await query(database.url, 'CREATE DATABASE late');
      await post('subscriptions');
      expect(await subscriptions()).toContain(`late.autogen ${before}`);
      await engine?.close();

      await start({ 'excluded-subscriptions': { d: ['month'], other: ['autogen'] } });
      const url = engine?.url ?? '';
      expect(url).not.toBe(before);
      expect(await subscriptions()).toEqual([
        `d.autogen ${url}`,
        `late.autogen ${url}`,
        `other.autogen ${FOREIGN}`,
      ]);

      await post('config/tsdb/default', { set: { 'disable-subscriptions': true } });
      await post('subscriptions');
      expect(await subscriptions()).toEqual([`other.autogen ${FOREIGN}`]);
    }, 60_000);

    test('points of the time without an engine are a gap that both sides can count', async () => {
      await start();
      await define();
      await linked();
      await writeNumbers(1, 50, 10);
      await receiver.until(50);
      expect(receiver.count(1, 50)).toEqual({ gaps: 0, duplicates: 0 });
      const { port } = new URL(engine?.url ?? '');
      const failedBefore = await statistic('writeFailures');
      await engine?.close();

      await writeNumbers(51, 100, 50);
      await eventually(
        'the counted failure',
        async () => (await statistic('writeFailures')) > failedBefore || undefined,
      );
      await start({}, port);
      await linked();
      await writeNumbers(101, 150, 10);
      await receiver.until(150);

      expect(receiver.count(51, 100)).toEqual({ gaps: 50, duplicates: 0 });
      expect(receiver.count(101, 150)).toEqual({ gaps: 0, duplicates: 0 });
    }, 60_000);

    test('over UDP every policy has a listener of its own', async () => {
      await start({ 'subscription-protocol': 'udp', 'udp-bind': '127.0.0.1' });
      await define();
      const own = (await subscriptions()).filter((one) => !one.endsWith(FOREIGN));
      expect(own.map((one) => one.replace(/\d+$/, 'PORT'))).toEqual([
        'd.autogen udp://127.0.0.1:PORT',
        'd.month udp://127.0.0.1:PORT',
        'other.autogen udp://127.0.0.1:PORT',
      ]);
      expect(new Set(own.map((one) => /\d+$/.exec(one)?.[0])).size).toBe(3);

      await linked();
      await writeNumbers(1, 100, 10);
      await receiver.until(100);

      expect(receiver.count(1, 100)).toEqual({ gaps: 0, duplicates: 0 });
    }, 60_000);
  });
}
