// Several engines and a coordinator over real sockets: what one is told all know, and when the one
// that leads is gone another goes on.
import { join } from 'node:path';
import { assert } from '@tidemark/core';
import {
  CuttableLink,
  eventually,
  hasPrograms,
  makeDirectory,
  removeDirectory,
  TestCoordinator,
  TestServer,
} from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../start-engine.ts';

const hasCoordinator = hasPrograms('nats-server');

const KEY = 'k'.repeat(32);
// All instances share the thread of the test with each other, which may be busy for a while.
const LEASE_MS = 3000;

type Instance = { readonly engine: EngineService; readonly link: CuttableLink };

let directory = '';
let coordinator: TestCoordinator;
let instances: Instance[] = [];
let receiver: TestServer;
const logged: string[] = [];

async function start(name: string, more: Record<string, unknown> = {}): Promise<Instance> {
  const link = await CuttableLink.open(coordinator.port);
  const { config, problems } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: join(directory, name),
        'secrets-key': 'env:KEY',
        stats: { enabled: false },
        task: { hosts: '0' },
        http: { 'bind-address': '127.0.0.1:0' },
        cluster: {
          enabled: true,
          coordinator: [`nats://127.0.0.1:${link.port}`],
          lease: `${LEASE_MS}ms`,
        },
        ...more,
      },
    },
  ]);
  expect(problems).toEqual([]);
  const line = (fields: object, message: string): void =>
    void logged.push(`${name} ${message} ${JSON.stringify(fields)}`);
  const log = { debug: () => undefined, info: line, warn: line, error: line };
  const engine = await startEngine(config, { log, environment: { KEY } });
  const instance = { engine, link };
  instances.push(instance);
  return instance;
}

async function call(
  { engine }: Instance,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly json: any }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(engine.url + path, {
    method,
    ...(body === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  return { status: response.status, json: answer === '' ? undefined : JSON.parse(answer) };
}

async function stop(instance: Instance): Promise<void> {
  await instance.engine.close();
  await instance.link.close();
  instances = instances.filter((one) => one !== instance);
}

/** Which instance leads, as that one says. */
async function leaderOf(asked: Instance): Promise<Instance> {
  const { json } = await call(asked, 'GET', '/engine/v1/cluster/members');
  const leader = json.members.find((member: any) => member.leader === true);
  const found = instances.find(({ engine }) => engine.url === leader?.url);
  assert(found !== undefined, `an instance of the test leads: ${JSON.stringify(json)}`);
  return found;
}

/** Levels of the events that were delivered, in their order. */
function levels(): readonly string[] {
  return receiver.requests.map(({ body }) => (JSON.parse(body) as any).level);
}

beforeEach(async () => {
  logged.length = 0;
  directory = await makeDirectory();
  coordinator = await TestCoordinator.start();
  receiver = new TestServer();
  await receiver.open();
});

afterEach(async () => {
  for (const instance of instances) instance.link.restore();
  await Promise.all([...instances].map(stop));
  await receiver.close();
  await coordinator.close();
  await removeDirectory(directory);
});

const COUNT = `stream|from().measurement('m')|alert().id('{{ .Name }}').crit(lambda: "v" > 10).stateChangesOnly()`;

describe.runIf(hasCoordinator)('a cluster of engines', () => {
  test('answers through any instance what another one was told', async () => {
    const [a, b, c] = [await start('a'), await start('b'), await start('c')];
    const script = `${COUNT}.topic('t')`;
    const dbrps = [{ db: 'd', rp: 'r' }];

    const made = await call(a, 'POST', '/engine/v1/tasks', {
      id: 'one',
      type: 'stream',
      dbrps,
      script,
      status: 'enabled',
    });
    const again = await call(b, 'POST', '/engine/v1/tasks', {
      id: 'one',
      type: 'stream',
      dbrps,
      script,
    });
    const seen = await call(c, 'GET', '/engine/v1/tasks/one');

    expect([made.status, again.status, seen.status]).toEqual([200, 400, 200]);
    expect(again.json).toEqual({ error: 'task one already exists' });
    expect(seen.json).toMatchObject({ id: 'one', executing: true });
  });

  test('goes on with definitions, levels and what is not delivered when the leader is cut off', async () => {
    const [a, b, c] = [await start('a'), await start('b'), await start('c')];
    await call(a, 'POST', '/engine/v1/tasks', {
      id: 'one',
      type: 'stream',
      dbrps: [{ db: 'd', rp: 'r' }],
      script: `${COUNT}.topic('t')`,
      status: 'enabled',
    });
    await call(b, 'POST', '/engine/v1preview/alerts/topics/t/handlers', {
      id: 'h',
      kind: 'post',
      options: { url: receiver.url },
    });
    await call(c, 'POST', '/engine/v1/write?db=d&rp=r', 'm v=20 1000000000');
    await receiver.until(() => levels().length === 1);
    const first = await leaderOf(a);
    first.link.cut();
    const others = instances.filter((one) => one !== first);

    const second = await eventually('another leader', async () => {
      const found = await leaderOf(others[0] as Instance);
      return found === first ? undefined : found;
    });
    const topic = await call(others[1] as Instance, 'GET', '/engine/v1preview/alerts/topics/t');
    await call(second, 'POST', '/engine/v1/write?db=d&rp=r', 'm v=30 2000000000\nm v=1 3000000000');
    await receiver.until(() => levels().includes('OK'));

    expect(topic.json).toMatchObject({ level: 'CRITICAL' });
    // That the first one was delivered need not have been stored before the cut.
    expect([
      ['CRITICAL', 'OK'],
      ['CRITICAL', 'CRITICAL', 'OK'],
    ]).toContainEqual(levels());

    // What was cut off follows the others when it is back.
    first.link.restore();
    const made = await call(second, 'POST', '/engine/v1/tasks', {
      id: 'two',
      type: 'stream',
      dbrps: [{ db: 'd', rp: 'r' }],
      script: `${COUNT}.topic('t')`,
    });
    expect(made.status).toBe(200);
    const seen = await call(first, 'GET', '/engine/v1/tasks/two');
    expect(seen.status).toBe(200);
  });

  test('loses no point that was acknowledged, and counts none twice, when the leader is cut off', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const script = `stream|from().measurement('m')|window().period(10s).every(10s)|count('v')|httpPost('${receiver.url}')`;
    await call(a, 'POST', '/engine/v1/tasks', {
      id: 'one',
      type: 'stream',
      dbrps: [{ db: 'd', rp: 'r' }],
      script,
      status: 'enabled',
    });
    const write = (second: number): Promise<{ readonly status: number }> =>
      call(b, 'POST', '/engine/v1/write?db=d&rp=r', `m v=1 ${1_700_000_000 + second}000000000`);
    for (let second = 0; second < 25; second++) expect((await write(second)).status).toBe(204);
    const first = await leaderOf(b);
    first.link.cut();

    // While the leader is cut off nothing is acknowledged, and clients write again.
    for (let second = 25; second < 42; second++)
      await eventually('an acknowledgement', async () =>
        (await write(second)).status === 204 ? true : undefined,
      );
    const counts = (): ReadonlyMap<string, number> =>
      new Map(
        receiver.requests.map(({ body }) => {
          const [time, count] = (JSON.parse(body) as any).series[0].values[0];
          return [time, count];
        }),
      );
    await receiver.until(() => counts().size === 4);

    expect([...counts()].sort()).toEqual([
      ['2023-11-14T22:13:30Z', 10],
      ['2023-11-14T22:13:40Z', 10],
      ['2023-11-14T22:13:50Z', 10],
      ['2023-11-14T22:14:00Z', 10],
    ]);
  });

  test('begins with what a single engine has stored, and refuses another one with its own', async () => {
    const single = { cluster: { enabled: false } };
    for (const name of ['a', 'b']) {
      const alone = await start(name, single);
      await call(alone, 'POST', '/engine/v1/templates', {
        id: name,
        type: 'stream',
        script: 'var x = 1.0\nstream|from()|where(lambda: "v" > x)',
      });
      await stop(alone);
    }

    const a = await start('a');
    const c = await start('c');

    const templates = await call(c, 'GET', '/engine/v1/templates');
    expect(templates.json.templates.map(({ id }: any) => id)).toEqual(['a']);
    await expect(start('b')).rejects.toThrow(
      'the data directory has definitions of its own, and cluster "tidemark" has others',
    );

    // A copy that has missed a leader's changes catches up.
    await stop(c);
    await call(a, 'DELETE', '/engine/v1/templates/a');
    const again = await start('c');
    await stop(a);
    const left = await call(again, 'GET', '/engine/v1/templates');
    expect(left.json.templates).toEqual([]);
  });

  test('refuses an instance that stores secrets with another key', async () => {
    await start('a');
    await expect(start('b', { 'secrets-key': '' })).rejects.toThrow(
      'store definitions with another key: give all of them the same one with secrets-key',
    );
  });

  test('lets another instance lead that one is drained', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const first = await leaderOf(a);
    const other = first === a ? b : a;

    const path = `/engine/v1/cluster/members/${encodeURIComponent(first.engine.url)}/drain`;
    expect((await call(other, 'POST', path)).status).toBe(204);

    await eventually('the other one', async () =>
      (await leaderOf(first)) === other ? true : undefined,
    );
    const drained = await eventually('its own word', async () => {
      const { json } = await call(first, 'GET', '/engine/v1/cluster/members');
      return json.members?.find(
        ({ url, state }: any) => url === first.engine.url && state === 'draining',
      );
    });
    expect(drained).toMatchObject({ leader: false });
  });

  test('stores nothing while the coordinator is away, and goes on with all that was answered', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const define = (id: string): ReturnType<typeof call> =>
      call(b, 'POST', '/engine/v1/tasks', {
        id,
        type: 'stream',
        dbrps: [{ db: 'd', rp: 'r' }],
        script: COUNT,
      });
    expect((await define('before')).status).toBe(200);

    await coordinator.kill();
    const refused = await eventually('a refusal', async () => {
      const { status } = await define('meanwhile');
      return status === 503 ? status : undefined;
    });
    await coordinator.start();
    await eventually('an answer', async () =>
      (await define('after')).status === 200 ? true : undefined,
    );

    expect(refused).toBe(503);
    const { json } = await call(a, 'GET', '/engine/v1/tasks');
    const ids = json.tasks.map(({ id }: any) => id);
    expect(ids).toContain('before');
    expect(ids).toContain('after');
  });
});
