// Tasks that are split over the instances of a cluster: parts are started, moved and ended together
// or not at all.
import { eventually, hasPrograms, TestServer } from '@tidemark/testkit';
import type { Answer } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const HOSTS = Array.from({ length: 40 }, (_, i) => `h${i}`);

describe.runIf(hasPrograms('nats-server'))('a split task', () => {
  let cluster: TestCluster;
  const receiver = new TestServer();

  beforeAll(async () => {
    cluster = await TestCluster.open();
    await receiver.open();
    for (let i = 0; i < 2; i++)
      await cluster.start({ task: { hosts: '1' }, cluster: { 'split-tasks': 3 } });
    await eventually('an instance that runs tasks', () =>
      Promise.resolve(
        cluster.log.some((line) => line.startsWith('an instance runs tasks ')) ? true : undefined,
      ),
    );
  });

  afterAll(async () => {
    await cluster.close();
    await receiver.close();
  });

  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    (cluster.running[0] as (typeof cluster.running)[number]).engine.call(method, path, body);
  const define = (id: string, script: string, more: object = {}): Promise<Answer> =>
    call('POST', '/engine/v1/tasks', {
      id,
      type: 'stream',
      dbrps: [{ db: id, rp: 'r' }],
      script,
      status: 'enabled',
      ...more,
    });
  const partsOf = async (id: string): Promise<readonly any[]> =>
    (await call('GET', '/engine/v1/cluster/tasks')).json.tasks.filter(
      (task: any) => task.id === id,
    );
  const write = async (db: string, v: number, hosts = HOSTS): Promise<void> => {
    const lines = hosts.map((host) => `m,host=${host} v=${v}i`).join('\n');
    expect((await call('POST', `/engine/v1/write?db=${db}&rp=r`, lines)).status).toBe(204);
  };

  test('is one by the configuration when all it keeps belongs to groups', async () => {
    const made = await define('grouped', `stream|from().groupBy('host')|last('v')|httpOut('last')`);
    expect(made).toMatchObject({ status: 200, json: { executing: true } });
    expect(made.json).not.toHaveProperty('split');
    await define('all', `stream|from()|last('v')|httpOut('last')`);
    await define('not', `stream|from().groupBy('host')|last('v')`, { split: 1 });

    expect((await partsOf('grouped')).map(({ part, parts }) => `${part}/${parts}`).sort()).toEqual([
      '1/3',
      '2/3',
      '3/3',
    ]);
    expect(await partsOf('all')).toEqual([{ id: 'all', instance: expect.anything(), lag: 0 }]);
    expect((await partsOf('not')).length).toBe(1);
  });

  test('serves nothing before its first point, then the groups of all parts', async () => {
    const path = '/engine/v1/tasks/grouped/last';
    expect((await call('GET', path)).json).toEqual({ series: null });
    await write('grouped', 1);
    await write('grouped', 2);

    await eventually('all groups', async () => {
      const { json } = await call('GET', path);
      const hosts = (json.series ?? []).map(({ tags }: any) => tags.host);
      return [...hosts].sort().join() === [...HOSTS].sort().join() ? true : undefined;
    });
    expect((await call('GET', '/engine/v1/tasks/grouped/other')).status).toBe(404);

    // Parts are placed by their measured load.
    await eventually('what its parts are given', async () => {
      await write('grouped', 3);
      const { json } = await call('GET', '/engine/v1/cluster/members');
      const running = json.members.filter(({ parts }: any) => parts > 0);
      expect(running.length).toBeGreaterThan(1);
      const isMeasured = (member: any): boolean =>
        member['points-per-second'] > 0 && member['memory-bytes'] > 0;
      return running.every(isMeasured) ? true : undefined;
    });
  });

  test('starts in all its parts or in none', async () => {
    const twice = `stream|from().groupBy('host')|httpOut('o')|httpOut('o')`;
    const refused = await define('twice', twice);

    expect(refused).toMatchObject({ status: 400 });
    expect(refused.json.error).toContain('used twice');
    expect(await partsOf('twice')).toEqual([]);
  });

  test('ends in all its parts when one of them fails', async () => {
    await define(
      'failing',
      `stream|from().groupBy('host')|combine(lambda: TRUE, lambda: TRUE).as('a', 'b').max(1)|httpOut('o')`,
    );
    expect((await partsOf('failing')).length).toBe(3);
    const at = Date.now();
    const lines = [at, at, at, at + 1].map((ms) => `m,host=one v=1i ${ms}000000`).join('\n');
    await call('POST', '/engine/v1/write?db=failing&rp=r', lines);

    await eventually('its end', async () => {
      const { json } = await call('GET', '/engine/v1/tasks/failing');
      return json.executing === false && json.error.startsWith('combine2: ') ? true : undefined;
    });
    expect(await partsOf('failing')).toEqual([]);
    const again = await call('PATCH', '/engine/v1/tasks/failing', { status: 'disabled' });
    expect(again.status).toBe(200);
  });

  test('goes on delivering when an instance with some of its parts is drained', async () => {
    await define(
      'told',
      `stream|from().groupBy('host')|alert().id('{{ index .Tags "host" }}').crit(lambda: "v" > 5).stateChangesOnly().post('${receiver.url}')`,
      { split: 4 },
    );
    await write('told', 9);
    const leader = await cluster.leader(cluster.running[0] as (typeof cluster.running)[number]);
    const other = cluster.running.find((each) => each !== leader)?.engine.url ?? '';
    expect((await cluster.drain(leader, other)).status).toBe(204);
    await eventually('parts on one instance', async () => {
      const places = (await partsOf('told')).map(({ instance }) => instance);
      return places.length === 4 && new Set(places).size === 1 ? true : undefined;
    });
    await write('told', 1);

    // One that comes takes some of what runs; what was measured says which.
    const coming = await cluster.start({ task: { hosts: '1' } });
    const { id: come } = await eventually('the instance that came', async () => {
      const { json } = await call('GET', '/engine/v1/cluster/members');
      return json.members.find(({ url }: any) => url === coming.engine.url);
    });
    await eventually('parts on it', async () => {
      const { json } = await call('GET', '/engine/v1/cluster/tasks');
      return json.tasks.some(({ instance }: any) => instance === come) ? true : undefined;
    });
    expect((await partsOf('told')).length).toBe(4);
    const told = receiver.requests.length;
    await write('told', 1);
    await write('told', 9);
    await receiver.until(() => receiver.requests.length >= told + HOSTS.length);

    await expect
      .poll(() => {
        const events = receiver.requests.map(({ body }) => JSON.parse(body));
        const levels = (host: string) =>
          [...new Set(events.filter(({ id }) => id === host).map(({ level }) => level))].join();
        return HOSTS.filter((host) => levels(host) !== 'CRITICAL,OK');
      })
      .toEqual([]);
  });
});
