// Several engines and a coordinator over real sockets: changes on one instance are visible on all,
// and when the leader is gone another takes over.
import { deferred } from '@tidemark/core';
import { eventually, freePort, hasPrograms, TestServer } from '@tidemark/testkit';
import { COUNTING, countedBy } from '@tidemark/testkit/engine';
import type { Answer } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import type { TestInstance } from '@tidemark/testkit/engine-cluster';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let cluster: TestCluster;
let receiver: TestServer;

/** Levels of the events that were delivered, in their order. */
function levels(): readonly string[] {
  return receiver.requests.map(({ body }) => (JSON.parse(body) as any).level);
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

const COUNT = `stream|from().measurement('m')|alert().id('{{ .Name }}').crit(lambda: "v" > 10).stateChangesOnly()`;

describe.runIf(hasPrograms('nats-server'))('a cluster of engines', () => {
  test('answers through any instance what another one was told', async () => {
    const [a, b, c] = [await cluster.start(), await cluster.start(), await cluster.start()];
    const script = `${COUNT}.topic('t')`;
    const dbrps = [{ db: 'd', rp: 'r' }];

    const made = await a.engine.startTask('one', script);
    const again = await b.engine.call('POST', '/engine/v1/tasks', {
      id: 'one',
      type: 'stream',
      dbrps,
      script,
    });
    const seen = await c.engine.call('GET', '/engine/v1/tasks/one');

    expect([made.status, again.status, seen.status]).toEqual([200, 400, 200]);
    expect(again.json).toEqual({ error: 'task "one" already exists' });
    expect(seen.json).toMatchObject({ id: 'one', executing: true });
  });

  test('goes on with definitions, levels and what is not delivered when the leader is cut off', async () => {
    const [a, b, c] = [await cluster.start(), await cluster.start(), await cluster.start()];
    await a.engine.startTask('one', `${COUNT}.topic('t')`);
    await b.engine.call('POST', '/engine/v1preview/alerts/topics/t/handlers', {
      id: 'h',
      kind: 'post',
      options: { url: receiver.url },
    });
    await c.engine.call('POST', '/engine/v1/write?db=d&rp=r', 'm v=20 1000000000');
    await receiver.until(() => levels().length === 1);
    const first = await cluster.leader(a);
    first.link.cut();
    const others = cluster.instances.filter((one) => one !== first);

    const second = await eventually('another leader', async () => {
      const found = await cluster.leader(others[0] as TestInstance);
      return found === first ? undefined : found;
    });
    const topic = await others[1]?.engine.call('GET', '/engine/v1preview/alerts/topics/t');
    await second.engine.call(
      'POST',
      '/engine/v1/write?db=d&rp=r',
      'm v=30 2000000000\nm v=1 3000000000',
    );
    await receiver.until(() => levels().includes('OK'));

    expect(topic?.json).toMatchObject({ level: 'CRITICAL' });
    // That the first one was delivered need not have been stored before the cut.
    expect([
      ['CRITICAL', 'OK'],
      ['CRITICAL', 'CRITICAL', 'OK'],
    ]).toContainEqual(levels());

    // An instance that was cut off follows the others when it returns.
    first.link.restore();
    const made = await second.engine.call('POST', '/engine/v1/tasks', {
      id: 'two',
      type: 'stream',
      dbrps: [{ db: 'd', rp: 'r' }],
      script: `${COUNT}.topic('t')`,
    });
    expect(made.status).toBe(200);
    const seen = await first.engine.call('GET', '/engine/v1/tasks/two');
    expect(seen.status).toBe(200);
  });

  test('loses no point that was acknowledged, and counts none twice, when the leader is cut off', async () => {
    const [a, b] = [await cluster.start(), await cluster.start()];
    const script = `stream|from().measurement('m')|window().period(10s).every(10s)|count('v')|httpPost('${receiver.url}')`;
    await a.engine.startTask('one', script);
    const write = (second: number): Promise<{ readonly status: number }> =>
      b.engine.call(
        'POST',
        '/engine/v1/write?db=d&rp=r',
        `m v=1 ${1_700_000_000 + second}000000000`,
      );
    for (let second = 0; second < 25; second++) expect((await write(second)).status).toBe(204);
    const first = await cluster.leader(b);
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
    const directories: string[] = [];
    for (const name of ['a', 'b']) {
      const alone = await cluster.start(single);
      await alone.engine.call('POST', '/engine/v1/templates', {
        id: name,
        type: 'stream',
        script: 'var x = 1.0\nstream|from()|where(lambda: "v" > x)',
      });
      await alone.engine.stop();
      directories.push(alone.engine.directory);
    }

    const a = await cluster.start({ data_dir: directories[0] });
    const c = await cluster.start();

    const templates = await c.engine.call('GET', '/engine/v1/templates');
    expect(templates.json.templates.map(({ id }: any) => id)).toEqual(['a']);
    await expect(cluster.start({ data_dir: directories[1] })).rejects.toThrow(
      'the data directory has definitions of its own, and cluster "tidemark" has others',
    );

    // A copy that has missed a leader's changes catches up.
    await c.engine.stop();
    await a.engine.call('DELETE', '/engine/v1/templates/a');
    await cluster.restart(c);
    await a.engine.stop();
    const left = await c.engine.call('GET', '/engine/v1/templates');
    expect(left.json.templates).toEqual([]);
  });

  test('is one of those with its name, whichever of the servers of the coordinator answer', async () => {
    const nobody = `nats://127.0.0.1:${await freePort()}`;
    const started = (name: string): Promise<TestInstance> =>
      cluster.start({ cluster: { name, coordinator: [nobody, cluster.coordinator.url] } });
    const [a, b, other] = [await started('one'), await started('one'), await started('other')];
    const template = { id: 'shared', type: 'stream', script: 'stream|from()' };
    expect((await a.engine.call('POST', '/engine/v1/templates', template)).status).toBe(200);

    const statuses = await Promise.all(
      [b, other].map(async ({ engine }) => {
        const { status } = await engine.call('GET', '/engine/v1/templates/shared');
        return status;
      }),
    );
    expect(statuses).toEqual([200, 404]);
    const urls = async (asked: TestInstance): Promise<readonly string[]> =>
      (await cluster.members(asked)).map(({ url }) => url).sort();
    await eventually('both', async () => ((await urls(b)).length === 2 ? true : undefined));
    expect(await urls(b)).toEqual([a.engine.url, b.engine.url].sort());
    expect(await urls(other)).toEqual([other.engine.url]);
    expect((await cluster.members(other))[0]?.leader).toBe(true);
  });

  test('refuses an instance that stores secrets with another key', async () => {
    await cluster.start();
    await expect(cluster.start({ 'secrets-key': '' })).rejects.toThrow(
      'store definitions with another key: give all of them the same one with secrets-key',
    );
  });

  test('lets another instance lead that one is drained', async () => {
    const [a, b] = [await cluster.start(), await cluster.start()];
    const first = await cluster.leader(a);
    const other = first === a ? b : a;

    expect((await cluster.drain(other, first.engine.url)).status).toBe(204);

    await eventually('the other one', async () =>
      (await cluster.leader(first)) === other ? true : undefined,
    );
    const drained = await eventually('its own word', async () => {
      const members = await cluster.members(first);
      return members.find(({ url, state }) => url === first.engine.url && state === 'draining');
    });
    expect(drained).toMatchObject({ leader: false });
  });

  test('knows at once that its leader stops, however long that takes, and takes writes', async () => {
    const [a, b] = [await cluster.start(), await cluster.start()];
    const first = await cluster.leader(a);
    const other = first === a ? b : a;
    const released = deferred();
    receiver.answer = () => released.promise.then(() => ({}));
    const write = (value: number): Promise<Answer> =>
      other.engine.call('POST', '/engine/v1/write?db=d&rp=r', `m v=${value} ${value}000000000`);
    await first.engine.startTask('one', `${COUNT}.post('${receiver.url}')`);
    await write(20);
    await receiver.until(() => receiver.requests.length === 1);
    const { url } = first.engine;

    const stopping = first.engine.stop();
    await cluster.withCoordinator(({ register }) =>
      eventually('its word', async () => {
        const entry = await register.get('leader');
        const leader = JSON.parse(entry?.text ?? '{}') as { url?: string; isServing?: boolean };
        return (leader.url === url && leader.isServing === false) || undefined;
      }),
    );

    expect((await write(1)).status).toBe(204);
    released.resolve();
    await stopping;
    await receiver.until(() => levels().includes('OK'));
    expect(levels()).toEqual(['CRITICAL', 'OK']);
  });

  test('goes on until its lease ends while the coordinator is away, and has all that was answered when that is back', async () => {
    const values = { cluster: { lease: '2s' } };
    const [a, b] = [await cluster.start(values), await cluster.start(values)];
    const leader = await cluster.leader(a);
    const define = (id: string): Promise<Answer> =>
      b.engine.call('POST', '/engine/v1/tasks', {
        id,
        type: 'stream',
        dbrps: [{ db: 'd', rp: 'r' }],
        script: COUNT,
      });
    const write = (second: number): Promise<Answer> =>
      b.engine.call('POST', '/engine/v1/write?db=d&rp=r', `m v=1 ${second}000000000`);
    expect((await define('before')).status).toBe(200);
    await b.engine.startTask('counting', COUNTING);
    await b.engine.startTask('ticks', `stream|from()|stats(50ms)|httpPost('${receiver.url}')`);
    for (let second = 1; second <= 3; second++) expect((await write(second)).status).toBe(204);
    await receiver.until(() => receiver.requests.length > 0);

    await cluster.coordinator.kill();
    const before = receiver.requests.length;
    await receiver.until(() => receiver.requests.length > before + 5);
    const stopped = await eventually('its end', () =>
      Promise.resolve(
        leader.engine.log.find((line) => line.startsWith('this instance leads no more')),
      ),
    );
    expect(stopped).toContain('its lease has ended');
    const ended = receiver.requests.length;
    const refused = await Promise.all([define('meanwhile'), write(4)]);
    expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    expect(receiver.requests.length).toBe(ended);

    await cluster.coordinator.start();
    await eventually('an answer', async () =>
      (await define('after')).status === 200 ? true : undefined,
    );
    await receiver.until(() => receiver.requests.length > ended);
    expect((await write(5)).status).toBe(204);
    const { json } = await a.engine.call('GET', '/engine/v1/tasks');
    const shown = json.tasks.map(({ id, error }: any) => `${id} ${error}`);
    expect(shown).toEqual(['after ', 'before ', 'counting ', 'ticks ']);
    await eventually('all points', async () =>
      (await countedBy(a.engine, 'counting')) === 4 ? true : undefined,
    );
  });
});
