// A task that is split by group over three engines, real processes of which two are killed: its
// state and its alerts equal those of a single engine that received the same points.
import { eventually, hasPrograms, makeDirectory, removeDirectory } from '@tidemark/testkit';
import { runTidemark, startTidemark, TestServer } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

type Member = {
  readonly url: string;
  readonly leader: boolean;
  readonly pid: number;
  readonly tasks: number;
  readonly parts: number;
  readonly 'points-per-second': number;
};
type Assigned = {
  readonly id: string;
  readonly instance: string;
  readonly part?: number;
  readonly parts?: number;
};
type Event = { readonly id: string; readonly level: string; readonly time: string };

const HOSTS = 60;
const PARTS = 6;

const valueOf = (write: number, host: number): number =>
  (Math.floor(write / 4) * 37 + host * 11 + (write % 4)) % 101;
const isCritical = (write: number, host: number): boolean => valueOf(write, host) > 50;

const scriptFor = (
  url: string,
): string => `var data = stream|from().measurement('m').groupBy('host')
data|eval(lambda: count(), lambda: "v").as('n', 'v')|httpOut('counted')
data|window().periodCount(4).everyCount(4)|sum('v')|httpOut('sums')
data|alert().id('{{ index .Tags "host" }}').crit(lambda: "v" > 50).stateChangesOnly().post('${url}')`;

describe.runIf(hasPrograms('nats-server'))('a task that is split over processes', () => {
  const receiver = new TestServer();
  let directory = '';
  let single: Awaited<ReturnType<typeof startTidemark>>;
  let urls: readonly string[] = [];

  beforeAll(async () => {
    directory = await makeDirectory();
    await receiver.open();
    single = await startTidemark({ command: 'engine' });
    const up = await runTidemark(['engine-cluster', 'up', '--dir', directory, '--instances', '3']);
    urls = /engines=(\S+)/.exec(up.stdout)?.[1]?.split(',') ?? [];
  });
  afterAll(async () => {
    await runTidemark(['engine-cluster', 'down', '--dir', directory]);
    await single.stop();
    await receiver.close();
    await removeDirectory(directory);
    await removeDirectory(single.directory);
  });

  const call = async (url: string, method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/engine/v1${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  const members = async (url: string): Promise<readonly Member[]> =>
    (await call(url, 'GET', '/cluster/members')).json.members;
  const assigned = async (url: string): Promise<readonly Assigned[]> =>
    (await call(url, 'GET', '/cluster/tasks')).json.tasks;
  const rows = async (url: string, endpoint: string): Promise<readonly string[]> => {
    const { json } = await call(url, 'GET', `/tasks/hosts/${endpoint}`);
    return ((json.series ?? []) as readonly unknown[]).map((row) => JSON.stringify(row)).sort();
  };

  /** Points older than the task would be another story: their events may be told again. */
  let startMs = 0;

  /** One point of every host, the same for everybody. */
  const lines = (write: number): string =>
    Array.from({ length: HOSTS }, (_, i) => {
      const v = valueOf(write, i);
      return `m,host=h${i} v=${v}i ${startMs + write}000000`;
    }).join('\n');

  /** Given to the single engine, and to the cluster by an instance. */
  const write = async (n: number, url: string): Promise<void> => {
    for (const to of [single.engine ?? '', url])
      expect((await call(to, 'POST', '/write?db=d&rp=r', lines(n))).status).toBe(204);
  };

  /** Levels by event, in the order in which they came, without those that came again. */
  const told = (path: string): Readonly<Record<string, readonly string[]>> => {
    const byId = new Map<string, string[]>();
    for (const { body } of receiver.requests.filter((request) => request.path === path)) {
      const { id, level, time } = JSON.parse(body) as Event;
      const text = `${time} ${level}`;
      const list = byId.get(id) ?? [];
      if (!list.includes(text)) byId.set(id, [...list, text]);
    }
    return Object.fromEntries(byId);
  };

  /** Ids of the events of which the one has told more than the other. */
  const untold = (by: string, to: string): readonly string[] => {
    const other = told(to);
    return Object.entries(told(by)).flatMap(([id, levels]) =>
      levels.length > (other[id]?.length ?? 0) ? [id] : [],
    );
  };

  test('has the states and events of a single engine, whoever is killed', async () => {
    const [first = ''] = urls;
    const define = (url: string, path: string, more: object) =>
      call(url, 'POST', '/tasks', {
        id: 'hosts',
        type: 'stream',
        dbrps: [{ db: 'd', rp: 'r' }],
        script: scriptFor(`${receiver.url}${path}`),
        status: 'enabled',
        ...more,
      });
    expect((await define(single.engine ?? '', '/single', {})).json).not.toHaveProperty('split');
    const made = await define(first, '/cluster', { split: PARTS });
    expect(made).toMatchObject({ status: 200, json: { split: PARTS, executing: true } });

    startMs = Date.now();

    // Its parts are on all instances, also those that the leader did not reach yet, and together
    // they are the task.
    const placed = await eventually('parts on every instance', async () => {
      const tasks = await assigned(first);
      return new Set(tasks.map(({ instance }) => instance)).size === 3 ? tasks : undefined;
    });
    expect(placed.map(({ id, part, parts }) => `${id} ${part}/${parts}`).sort()).toEqual(
      Array.from({ length: PARTS }, (_, i) => `hosts ${i + 1}/${PARTS}`),
    );
    expect((await members(first)).reduce((sum, { parts }) => sum + parts, 0)).toBe(PARTS);

    const abort = new AbortController();
    const tap = await fetch(`${first}/engine/v1/taps/hosts/eval2`, abort);
    for (let n = 1; n <= 15; n++) await write(n, urls[n % 3] ?? '');
    const tapped = new Set<string>();
    for await (const chunk of tap.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      for (const [, host = ''] of chunk.matchAll(/"group":"host=(\w+)"/g)) tapped.add(host);
      if (tapped.size === HOSTS) break;
    }
    abort.abort();
    const { json } = await call(first, 'GET', '/tasks/hosts');
    expect(json.stats['node-stats'].from1).toMatchObject({ emitted: 15 * HOSTS * 3 });
    expect(json.stats['node-stats'].stream0).toMatchObject({ collected: 15 * HOSTS });
    expect(json.dot).toContain(`stream0 -> from1 [processed="${15 * HOSTS}"];`);

    // Handlers of the script belong to the task and not to each part: nothing is told twice.
    const count = (path: string): number =>
      receiver.requests.filter((request) => request.path === path).length;
    let changes = 0;
    for (let host = 0; host < HOSTS; host++)
      for (let n = 1; n <= 15; n++)
        if (isCritical(n, host) !== (n > 1 && isCritical(n - 1, host))) changes++;
    await expect.poll(() => [count('/single'), count('/cluster')]).toEqual([changes, changes]);

    const before = await members(first);
    const killed = before.find(({ leader, parts }) => !leader && parts > 0);
    process.kill(killed?.pid ?? 0, 'SIGKILL');
    const leader = before.find((member) => member.leader);
    const other = before.find(({ url }) => url !== killed?.url && url !== leader?.url)?.url ?? '';
    for (let n = 16; n <= 28; n++) await write(n, n % 2 === 0 ? other : (leader?.url ?? ''));
    const moved = await assigned(other);
    expect(moved.length).toBe(PARTS);
    expect(moved.every(({ instance }) => instance !== '')).toBe(true);

    process.kill(leader?.pid ?? 0, 'SIGKILL');
    for (let n = 29; n <= 40; n++) await write(n, other);

    const alone = single.engine ?? '';
    for (const endpoint of ['counted', 'sums']) {
      const expected = await rows(alone, endpoint);
      expect(expected.length).toBe(HOSTS);
      await eventually(`the rows of ${endpoint}`, async () =>
        JSON.stringify(await rows(other, endpoint)) === JSON.stringify(expected) ? true : undefined,
      );
    }
    await expect.poll(() => untold('/single', '/cluster'), { timeout: 30_000 }).toEqual([]);
    await expect.poll(() => untold('/cluster', '/single'), { timeout: 30_000 }).toEqual([]);
    expect(told('/cluster')).toEqual(told('/single'));
    expect(Object.keys(told('/cluster')).length).toBe(HOSTS);
  });

  test('changes as one: it is refused, stopped and split anew as a whole', async () => {
    const url = (await runningUrls())[0] ?? '';

    const refused = await call(url, 'PATCH', '/tasks/hosts', { script: "stream|from()|last('v')" });
    expect(refused).toMatchObject({
      status: 400,
      json: {
        error:
          'line 1 char 15: the task cannot be split: last2 keeps something of points that are not grouped by tags',
      },
    });
    expect((await assigned(url)).length).toBe(PARTS);

    expect((await call(url, 'PATCH', '/tasks/hosts', { status: 'disabled' })).status).toBe(200);
    expect(await assigned(url)).toEqual([]);
    const again = await call(url, 'PATCH', '/tasks/hosts', { split: 2, status: 'enabled' });
    expect(again).toMatchObject({ status: 200, json: { split: 2 } });
    expect((await assigned(url)).map(({ part }) => part).sort()).toEqual([1, 2]);

    expect((await call(url, 'DELETE', '/tasks/hosts')).status).toBe(204);
    expect(await assigned(url)).toEqual([]);
  });

  async function runningUrls(): Promise<readonly string[]> {
    const answers = await Promise.all(
      urls.map((url) =>
        call(url, 'GET', '/cluster/members').then(
          () => [url],
          // It was killed.
          () => [],
        ),
      ),
    );
    return answers.flat();
  }
});
