// Tasks on instances that do not lead: they behave as on the leader, and continue elsewhere when
// their instance is gone.
import { eventually, hasPrograms, TestServer } from '@tidemark/testkit';
import { COUNTING, countedBy } from '@tidemark/testkit/engine';
import type { Answer } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import type { TestInstance, TestMember } from '@tidemark/testkit/engine-cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let cluster: TestCluster;
let receiver: TestServer;

/** An instance that runs. */
const anyone = (): TestInstance => cluster.running[0] as TestInstance;

const members = (): Promise<readonly TestMember[]> => cluster.members(anyone());

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  anyone().engine.call(method, path, body);

/** Starts so many, and waits until each that does not lead runs tasks for the one that does. */
async function startAll(
  count: number,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const tsdb = [
    { name: 'main', default: true, urls: [receiver.url], 'disable-subscriptions': true },
  ];
  for (let i = 0; i < count; i++) await cluster.start({ task: { hosts: '1' }, tsdb, ...more });
  await eventually('instances that run tasks', async () => {
    const told = cluster.log.filter((line) => line.startsWith('an instance runs tasks '));
    return told.length >= count - 1 ? true : undefined;
  });
}

async function define(id: string, script: string, db = 'd'): Promise<void> {
  const made = await anyone().engine.startTask(id, script, { db, rp: 'r' });
  expect(made).toMatchObject({ status: 200, json: { id, executing: true, error: '' } });
}

/**
 * Writes a point through one instance after the other: of now, or, as a client that repeats what it
 * has written, of a while ago.
 */
async function write(n: number, agoMs = 0): Promise<number> {
  const { engine } = cluster.running[n % cluster.running.length] as TestInstance;
  const line = `m v=${n} ${Date.now() - agoMs}000000`;
  return (await engine.call('POST', '/engine/v1/write?db=d&rp=r', line)).status;
}

const SCRIPT = (url: string): string =>
  `var data = stream|from().measurement('m')
data|eval(lambda: count()).as('n').keep('n')|httpOut('counted')
data|alert().id('m').message('{{ index .Fields "v" }}').crit(lambda: int("v") % 4 < 2).stateChangesOnly().post('${url}')`;

/** The points whose events were told, those that were told again more than once. */
function allTold(): readonly number[] {
  const events = receiver.requests.filter(({ body }) => body.startsWith('{'));
  return events.map(({ body }) => Number(JSON.parse(body).message));
}

const told = (): readonly number[] => [...new Set(allTold())];

/** The time of a point whose event is published; every second one is older than its predecessor. */
const agoOf = (n: number): number => (n % 4 === 0 ? 7000 : 0);

async function counted(): Promise<number> {
  const { json } = await call('GET', '/engine/v1/tasks/one/counted');
  return json.series?.[0]?.values[0][1] ?? 0;
}

beforeEach(async () => {
  cluster = await TestCluster.open();
  receiver = new TestServer();
  await receiver.open();
});

afterEach(async () => {
  await cluster.close();
  await receiver.close();
});

/** Points written to a database that is not there, as the test's server hears of them. */
const written = (): readonly string[] =>
  receiver.requests.filter(({ path }) => path.startsWith('/write')).map(({ body }) => body.trim());

describe.runIf(hasPrograms('nats-server'))('a task of a cluster', () => {
  test('answers everything where the leader is not as it does on the leader', async () => {
    await startAll(2);
    const log = `stream|from().measurement('m')|log().prefix('seen')`;
    await define(
      'one',
      `var data = stream|from().measurement('m')
data|httpOut('last')
data|eval(lambda: "v" * 2.0).as('w').keep('w')|kapacitorLoopback().database('loop').retentionPolicy('r').measurement('w')
data|influxDBOut().database('o').retentionPolicy('r').measurement('copy').buffer(1)
data|where(lambda: "v" > 100.0)|httpPost('${receiver.url}/posted')
${log}`,
    );
    const where = (await members()).find(({ tasks }) => tasks === 1);
    expect(where?.leader).toBe(false);
    await define('two', `stream|from().measurement('w')|httpOut('looped')`, 'loop');

    const abort = new AbortController();
    const tap = await fetch(`${anyone().engine.url}/engine/v1/taps/one/from1`, abort);
    const reader = tap.body?.getReader();
    for (let second = 1; second <= 3; second++) expect(await write(second)).toBe(204);
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toContain('"v":');
    abort.abort();

    const last = await call('GET', '/engine/v1/tasks/one/last');
    expect(last.json.series[0]).toMatchObject({ name: 'm', values: [[expect.anything(), 3]] });
    await eventually('what came back', async () => {
      const { json } = await call('GET', '/engine/v1/tasks/two/looped');
      return json.series?.[0]?.values[0][1] === 6 ? true : undefined;
    });
    const { json } = await call('GET', '/engine/v1/tasks/one');
    expect(json).toMatchObject({ stats: { 'node-stats': { from1: { emitted: 12 } } } });
    expect(json.dot).toContain('stream0 -> from1 [processed="3"];');
    await eventually('its log lines', () =>
      Promise.resolve(
        cluster.log.filter((line) => line.startsWith('seen ')).length >= 3 ? true : undefined,
      ),
    );
    await eventually('what it writes', () =>
      Promise.resolve(written().some((line) => line.startsWith('copy v=')) ? true : undefined),
    );

    // It can be stopped, and started as it was defined meanwhile.
    const path = '/engine/v1/tasks/one';
    const counting = `stream|from().measurement('m')|eval(lambda: count()).as('n').keep('n')|httpOut('counted')`;
    expect(await call('PATCH', path, { script: counting })).toMatchObject({ status: 200 });
    expect(await call('PATCH', path, { status: 'disabled' })).toMatchObject({ status: 200 });
    expect((await members()).reduce((sum, { tasks }) => sum + tasks, 0)).toBe(1);
    expect(await call('PATCH', path, { status: 'enabled' })).toMatchObject({ status: 200 });
    expect(await write(5)).toBe(204);
    await eventually('its point', async () => ((await counted()) === 1 ? true : undefined));

    // An instance that is drained runs nothing any more, and what it ran goes on.
    const runs = (await members()).find(({ tasks, leader }) => tasks > 0 && !leader);
    expect((await cluster.drain(anyone(), runs?.url ?? '')).status).toBe(204);
    await eventually('no tasks', async () => {
      const left = (await members()).find(({ url }) => url === runs?.url);
      return left?.tasks === 0 ? true : undefined;
    });
    expect(await write(6)).toBe(204);
    await eventually('its points', async () => ((await counted()) === 2 ? true : undefined));

    // A script that a node refuses at its start is refused in the same words.
    const twice = "stream|from()|httpOut('o')|httpOut('o')";
    const refused = await anyone().engine.startTask('bad', twice);
    expect(refused.json).toEqual({ error: 'http_out endpoint "o" is used twice' });
  });

  test('asks databases and functions, and counts its own nodes, where the leader is not', async () => {
    const sum = {
      prog: process.execPath,
      args: [
        fileURLToPath(new URL('../../../runtime/examples/udf-running-sum.mjs', import.meta.url)),
      ],
      timeout: '10s',
    };
    const answer = { name: 'm', columns: ['time', 'mean'], values: [['2026-01-01T00:00:00Z', 7]] };
    receiver.answer = ({ path }) =>
      path.startsWith('/query')
        ? { body: JSON.stringify({ results: [{ series: [answer] }] }) }
        : {};
    await startAll(2, { udf: { functions: { sum } } });
    /** A task alone is run by the instance that does not lead. */
    const tellsElsewhere = async (script: string, value: unknown): Promise<void> => {
      const type = script.startsWith('batch') ? 'batch' : 'stream';
      const dbrps = [{ db: 'd', rp: 'r' }];
      const task = {
        id: 'one',
        type,
        dbrps,
        script: `${script}|httpOut('out')`,
        status: 'enabled',
      };
      // The needs of the previous task may still count for the instance that ran it.
      await eventually('a task that the leader does not run', async () => {
        expect(await call('POST', '/engine/v1/tasks', task)).toMatchObject({
          status: 200,
          json: { executing: true, error: '' },
        });
        const where = (await members()).find(({ tasks }) => tasks === 1);
        if (where?.leader === false) return true;
        expect((await call('DELETE', '/engine/v1/tasks/one')).status).toBe(204);
        return undefined;
      });
      for (const n of [1, 2, 3]) expect(await write(n)).toBe(204);
      await eventually(`${script}: ${String(value)}`, async () => {
        const { json } = await call('GET', '/engine/v1/tasks/one/out');
        return json.series?.[0]?.values[0].includes(value) === true ? true : undefined;
      });
      expect((await call('DELETE', '/engine/v1/tasks/one')).status).toBe(204);
    };

    await tellsElsewhere("batch|query('SELECT mean(v) FROM d.r.m').period(10s).every(200ms)", 7);
    await tellsElsewhere("stream|from().measurement('m')@sum().field('v')", 6);
    await tellsElsewhere("stream|from().measurement('m')|stats(200ms)", 3);
  });

  test('that is slow holds back neither writes, nor other tasks where it runs, nor the next leader', async () => {
    await startAll(2, {
      task: { hosts: '1', 'max-waiting-points': 1000, 'stop-timeout': '200ms' },
    });
    receiver.answer = ({ path }) => (path === '/slow' ? new Promise(() => undefined) : {});
    await define('slow', `stream|from()|httpPost('${receiver.url}/slow')`, 'slow');
    const others = ['fast-1', 'fast-2', 'fast-3'];
    for (const id of others) await define(id, COUNTING, id);
    const { json } = await call('GET', '/engine/v1/cluster/tasks');
    const placeOf = (id: string): string => json.tasks.find((task: any) => task.id === id).instance;
    expect(others.map(placeOf)).toContain(placeOf('slow'));

    const lines = Array.from({ length: 20_000 }, (_, i) => `m v=1 ${i}`).join('\n');
    // More than twice of what a thread is given, and then more than may wait before it.
    for (let i = 0; i < 15; i++)
      expect((await call('POST', '/engine/v1/write?db=slow&rp=r', lines)).status).toBe(204);
    const writeOthers = async (n: number): Promise<void> => {
      for (const db of others) {
        const answer = await call('POST', `/engine/v1/write?db=${db}&rp=r`, `m v=1 ${n}`);
        expect(answer.status).toBe(204);
      }
    };
    const countedAll = async (count: number): Promise<void> => {
      for (const id of others)
        await eventually('its points', async () =>
          (await countedBy(anyone().engine, id)) === count ? true : undefined,
        );
    };
    for (let i = 0; i < 40; i++) await writeOthers(i);
    await countedAll(40);

    // The next leader is behind by everything that waits for the slow task, but still answers.
    const leader = await cluster.leader(anyone());
    leader.link.cut();
    const [next] = cluster.instances.filter((one) => one !== leader) as [TestInstance];
    await eventually('an acknowledgement', async () => {
      const path = `/engine/v1/write?db=slow&rp=r`;
      return (await next.engine.call('POST', path, 'm v=1 1')).status === 204 ? true : undefined;
    });
    expect((await next.engine.call('GET', '/health')).status).toBe(200);
    leader.link.restore();
    await writeOthers(40);
    await countedAll(41);
    // It is given up with what waits for it.
    expect((await call('DELETE', '/engine/v1/tasks/slow')).status).toBe(204);
    expect(cluster.log.join('\n')).not.toContain('undefined ms');
  });

  test('that loops points back has each counted once, whoever goes', async () => {
    await startAll(3, { cluster: { 'snapshot-interval': '1h' } });
    const back = ".database('loop').retentionPolicy('r').measurement('m')";
    await define('loops', `stream|from().measurement('m')|kapacitorLoopback()${back}`);
    await define('counting', COUNTING, 'loop');
    let written = 0;
    const writeSome = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        await eventually('an acknowledgement', async () =>
          (await write(written)) === 204 ? true : undefined,
        );
        written++;
      }
      await eventually('all points', async () =>
        (await countedBy(anyone().engine, 'counting')) === written ? true : undefined,
      );
    };
    await writeSome();

    // It goes on from the state of its beginning, as no other has been saved.
    const placeOf = async (task: string): Promise<string> => {
      const { json } = await call('GET', '/engine/v1/cluster/tasks');
      return json.tasks.find(({ id }: any) => id === task).instance;
    };
    const { json } = await call('GET', '/engine/v1/cluster/members');
    const place = await placeOf('loops');
    const runs = json.members.find(({ id }: any) => id === place);
    const gone = cluster.at(runs?.url);
    gone.link.cut();
    await eventually('another place', async () =>
      (await placeOf('loops')) === place ? undefined : true,
    );
    await writeSome();
    gone.link.restore();
    await (await cluster.leader(anyone())).engine.stop();
    await writeSome();
  });

  test('that is moved posts once what it is posting, and writes what waits to be written', async () => {
    await startAll(2);
    receiver.answer = async ({ path }) => {
      if (path === '/posted') await sleep(500);
      return {};
    };
    await define(
      'one',
      `var data = stream|from().measurement('m')
data|influxDBOut().database('o').retentionPolicy('r').measurement('copy').flushInterval(1h)
data|httpPost('${receiver.url}/posted')`,
    );
    const runs = (await members()).find(({ tasks }) => tasks === 1);
    expect(runs?.leader).toBe(false);
    for (let n = 0; n < 3; n++) expect(await write(n)).toBe(204);
    await receiver.until(() => receiver.requests.some(({ path }) => path === '/posted'));

    expect((await cluster.drain(anyone(), runs?.url ?? '')).status).toBe(204);
    await eventually('no tasks', async () => {
      const left = (await members()).find(({ url }) => url === runs?.url);
      return left?.tasks === 0 ? true : undefined;
    });
    expect(await write(3)).toBe(204);
    const posted = (): readonly unknown[] =>
      receiver.requests
        .filter(({ path }) => path === '/posted')
        .map(({ body }) => JSON.parse(body).series[0].values[0][1]);
    await receiver.until(() => posted().length >= 4);
    const path = '/engine/v1/tasks/one';
    expect(await call('PATCH', path, { status: 'disabled' })).toMatchObject({ status: 200 });

    expect(posted()).toEqual([0, 1, 2, 3]);
    const lines = written().flatMap((body) => body.split('\n'));
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['v=0', 'v=1', 'v=2', 'v=3']);
  });

  test('runs where the leader is not, and goes on elsewhere when that is cut off or stops', async () => {
    await startAll(3);
    await define('one', SCRIPT(receiver.url));
    const runs = async (): Promise<TestMember | undefined> =>
      (await members()).find(({ tasks }) => tasks === 1);
    expect((await members()).map(({ tasks }) => tasks).sort()).toEqual([0, 0, 1]);
    const first = await runs();
    expect(first?.leader).toBe(false);
    const leader = await cluster.leader(anyone());
    for (let n = 0; n < 25; n++) expect(await write(n, agoOf(n))).toBe(204);
    await eventually('all points', async () => ((await counted()) === 25 ? true : undefined));

    // Its instance loses the coordinator, and with it the points that come.
    const cut = cluster.at(first?.url);
    cut.link.cut();
    for (let second = 25; second < 45; second++)
      await eventually('an acknowledgement', async () =>
        (await write(second, agoOf(second))) === 204 ? true : undefined,
      );
    await eventually('all points', async () => ((await counted()) === 45 ? true : undefined));
    const second = await runs();
    expect(second?.url).not.toBe(first?.url);
    cut.link.restore();

    // An instance that stops says so, and the task is moved with its state.
    const stopped = cluster.at(second?.url);
    if (second?.leader !== true) {
      await stopped.engine.stop();
      for (let at = 45; at < 60; at++) expect(await write(at, agoOf(at))).toBe(204);
      await eventually('all points', async () => ((await counted()) === 60 ? true : undefined));
      expect((await runs())?.url).not.toBe(second?.url);
    }
    const changes = Array.from({ length: 20 }, (_, i) => 2 * i);
    await receiver.until(() => changes.every((n) => told().includes(n)));
    expect(told().slice(0, 20)).toEqual(changes);
    // Without a change of leaders nothing is told again.
    if ((await cluster.leader(anyone())) === leader) expect(allTold()).toEqual(told());
    const { json } = await call('GET', '/engine/v1/tasks/one');
    expect(json).toMatchObject({ executing: true, error: '' });
  });
});
