// The whole API through an instance that does not lead: responses are the same as if the tasks ran
// there, streams included.
import { eventually, hasPrograms } from '@tidemark/testkit';
import { COUNTING } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import type { TestInstance } from '@tidemark/testkit/engine-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { decodeChanges, RecordLabel } from '../shared-log/change-record.ts';

const FIRST_SECOND = 1_700_000_000;

const DOCUMENT = '/engine/v1/documents?kind=dashboards&id=one';

/** One of each kind that is defined. */
const DEFINED = [
  '/engine/v1/templates/of',
  '/engine/v1/tasks/kind?script-format=raw',
  '/engine/v1preview/alerts/topics/kinds/handlers/h',
  '/engine/v1/config/smtp/',
  DOCUMENT,
] as const;

/** Answers of these do not end. */
const ENDLESS = ['/logs', '/taps/:task/:node', '/debug/pprof/profile', '/debug/pprof/trace'];

describe.runIf(hasPrograms('nats-server'))('an instance that does not lead', () => {
  let cluster: TestCluster;
  let leader: TestInstance;
  let follower: TestInstance;
  let seconds = 0;
  let defined: readonly string[] = [];
  beforeAll(async () => {
    cluster = await TestCluster.open();
    const [a, b] = [await cluster.start(), await cluster.start()];
    leader = await cluster.leader(a);
    follower = leader === a ? b : a;
    await define('counting', COUNTING);
  }, 60_000);
  afterAll(() => cluster.close());

  async function define(id: string, script: string): Promise<void> {
    expect((await follower.engine.startTask(id, script)).status).toBe(200);
  }

  const shown = async ({ engine }: TestInstance, path: string): Promise<string> =>
    (await engine.call('GET', path)).bytes.toString();

  /** The changes in each record of the coordinator's log. */
  function changes(): Promise<readonly (readonly string[])[]> {
    return cluster.withCoordinator(async (own) => {
      const { first, last } = await own.changes.ends();
      const { signal } = new AbortController();
      const records: (readonly string[])[] = [];
      for await (const { label, bytes } of own.changes.read({ first, through: last, signal }))
        records.push(
          label === RecordLabel.Changes
            ? decodeChanges(bytes).map(({ table, key }) => `${table} ${String(key)}`)
            : [],
        );
      return records;
    });
  }

  async function write(count: number): Promise<void> {
    const lines = Array.from({ length: count }, () => `m v=1 ${FIRST_SECOND + seconds++}000000000`);
    const { status } = await follower.engine.call(
      'POST',
      '/engine/v1/write?db=d&rp=r',
      lines.join('\n'),
    );
    expect(status).toBe(204);
  }

  /** Text of an endless answer of the follower up to what is wanted, which is caused meanwhile. */
  async function streamed(
    path: string,
    wanted: string,
    cause: () => Promise<void>,
  ): Promise<string> {
    const ended = new AbortController();
    let text = '';
    const reading = (async () => {
      const response = await fetch(follower.engine.url + path, { signal: ended.signal });
      for await (const bytes of response.body ?? []) text += Buffer.from(bytes).toString('utf8');
    })().catch((error: unknown) => {
      if (!ended.signal.aborted) throw error;
    });
    // Changes before it starts to listen are not reported.
    await eventually(wanted, async () => {
      await cause();
      return text.includes(wanted) ? true : undefined;
    });
    ended.abort();
    await reading;
    return text;
  }

  test('answers httpOut, statistics and DOT with counters', async () => {
    await write(3);

    const out = await follower.engine.call('GET', '/engine/v1/tasks/counting/counted');
    const task = await follower.engine.call('GET', '/engine/v1/tasks/counting');

    expect(out.json.series[0].values[0]).toContain(3);
    expect(task.json.executing).toBe(true);
    expect(task.json.stats['node-stats'].from1.collected).toBe(3);
    expect(task.json.dot).toMatch(/stream0 -> from1 \[processed="3"\]/);
  });

  test('passes on what leaves a node, and the log, as they come', async () => {
    const tapped = await streamed('/engine/v1/taps/counting/from1', '"v":1', () => write(1));
    expect(tapped).toContain('"m"');

    await define('talking', `stream|from().measurement('m')|log().level('ERROR')`);
    const logged = await streamed('/engine/v1preview/logs?task=talking', 'v', () => write(1));
    expect(logged).toContain('talking');
  });

  test('lists routes that lead to itself, and answers each of them', async () => {
    const list = async ({ engine }: TestInstance): Promise<Record<string, readonly string[]>> =>
      (await engine.call('GET', '/engine/v1/:routes')).json;
    const routes = await list(follower);

    // Paths of the instance that was asked, none of them twice for having two instances.
    expect(await list(leader)).toEqual(routes);
    expect(routes['/engine/v1/tasks']).toEqual(['GET', 'HEAD', 'POST']);
    const asked = Object.entries(routes).flatMap(([path, methods]) =>
      methods.includes('GET') && !ENDLESS.some((end) => path.endsWith(end)) ? [path] : [],
    );
    expect(asked.length).toBeGreaterThan(40);
    const outcomes = await Promise.all(
      asked.map(async (path) => {
        const filled = path.endsWith('/:routes') ? path : path.replaceAll(/:\w+|\*$/g, 'x');
        const response = await fetch(follower.engine.url + filled, { redirect: 'manual' });
        const text = await response.text();
        const isAnswered = response.status < 300 || [400, 404].includes(response.status);
        const leadsAway = /there is no GET|"href":"http/.test(text);
        return isAnswered && !leadsAway ? [] : [`${path} ${response.status} ${text}`];
      }),
    );
    expect(outcomes.flat()).toEqual([]);
    const listed = await follower.engine.call('GET', '/engine/v1/tasks/counting');
    expect(listed.json.link.href).toBe('/engine/v1/tasks/counting');
  });

  test('knows a change through another instance at once, and refuses its id', async () => {
    const body = { id: 'shared', type: 'stream', script: 'stream|from()' };
    expect((await leader.engine.call('POST', '/engine/v1/templates', body)).status).toBe(200);
    const begun = performance.now();

    const seen = await follower.engine.call('GET', '/engine/v1/templates/shared');
    const again = await follower.engine.call('POST', '/engine/v1/templates', body);

    expect(seen.status).toBe(200);
    expect(again.status).toBe(400);
    expect(performance.now() - begun).toBeLessThan(1000);
    // So does its copy, which it would go on with.
    await eventually('no lag', async () => {
      const { json } = await leader.engine.call('GET', '/engine/v1/cluster/members');
      return json.members.every((member: any) => member['copy-lag'] === 0) ? true : undefined;
    });
  });

  test('shows what is defined through it everywhere at once, of every kind', async () => {
    const dbrps = [{ db: 'd', rp: 'r' }];
    for (const [path, body] of [
      ['/engine/v1/templates', { id: 'of', type: 'stream', script: 'var x = 1\nstream|from()' }],
      ['/engine/v1/tasks', { id: 'kind', 'template-id': 'of', dbrps }],
      [
        '/engine/v1preview/alerts/topics/kinds/handlers',
        { id: 'h', kind: 'log', options: { path: '/dev/null' } },
      ],
      ['/engine/v1/config/smtp/', { set: { from: 'cluster@example.org' } }],
    ] as const)
      expect((await follower.engine.call('POST', path, body)).status, path).toBeLessThan(300);
    const document = { title: 'One', content: {} };
    const put = await follower.engine.call('PUT', `${DOCUMENT}&version=0`, document);
    expect(put.status).toBe(201);

    defined = await Promise.all(DEFINED.map(async (path) => shown(leader, path)));

    expect(defined).toEqual(await Promise.all(DEFINED.map(async (path) => shown(follower, path))));
    expect(defined.filter((text) => /"error":"[^"]/.test(text))).toEqual([]);
  });

  test('takes one of two definitions of the same id that come at once', async () => {
    const made = await Promise.all(
      [leader, follower, leader, follower].map(({ engine }) =>
        engine.call('POST', '/engine/v1/tasks', {
          id: 'raced',
          dbrps: [{ db: 'd', rp: 'r' }],
          script: 'stream|from()',
        }),
      ),
    );

    expect(made.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });

  test('stores a template with all its tasks as one record, or nothing', async () => {
    const template = { id: 'many', type: 'stream', script: `stream|from().measurement('a')` };
    await follower.engine.call('POST', '/engine/v1/templates', template);
    const ids = ['many-1', 'many-2', 'many-3'];
    for (const id of ids)
      await follower.engine.call('POST', '/engine/v1/tasks', {
        id,
        'template-id': 'many',
        dbrps: [{ db: 'd', rp: 'r' }],
        status: 'enabled',
      });
    const scripts = async (): Promise<readonly string[]> => {
      const { json } = await follower.engine.call('GET', '/engine/v1/tasks?pattern=many-*');
      return json.tasks.map(({ script }: any) => script);
    };

    const refused = await follower.engine.call('PATCH', '/engine/v1/templates/many', {
      script: `stream|from().measurement('b')|httpOut('o')|httpOut('o')`,
    });
    expect(refused.status).toBe(400);
    for (const script of await scripts()) expect(script).toContain(`'a'`);

    const before = await changes();
    const changed = await follower.engine.call('PATCH', '/engine/v1/templates/many', {
      script: `stream|from().measurement('c')`,
    });
    expect(changed.status).toBe(200);
    for (const script of await scripts()) expect(script).toContain(`'c'`);
    const written = (await changes()).slice(before.length);
    const stored = written.filter((names) => names.some((name) => name.startsWith('t')));
    expect(stored).toHaveLength(1);
    expect(stored[0]).toEqual(
      expect.arrayContaining(['templates many', ...ids.map((id) => `tasks ${id}`)]),
    );
  });

  test('is counted by metrics and health', async () => {
    // On a busy machine an instance may be silent for a lease.
    const text = await eventually('both are members', async () => {
      const { json } = await follower.engine.call('GET', '/metrics');
      return /^tidemark_engine_cluster_members 2$/m.test(json) ? String(json) : undefined;
    });
    expect(text).toMatch(/^tidemark_engine_cluster_members_gone 0$/m);
    const leads = ({ engine }: TestInstance): RegExp =>
      new RegExp(`^tidemark_engine_cluster_member_leads\\{member="${engine.url}"\\} 1$`, 'm');
    expect(text).toMatch(leads(leader));
    expect(text).not.toMatch(leads(follower));
    for (const name of [
      'cluster_member_tasks',
      'cluster_member_points_per_second',
      'cluster_member_held_bytes',
      'cluster_copy_lag_records',
      'cluster_task_lag_writes',
    ])
      for (const { engine } of [leader, follower])
        expect(text).toContain(`tidemark_engine_${name}{member="${engine.url}"} `);
    const { json } = await follower.engine.call('GET', '/health');
    const check = json.checks.find(({ name }: any) => name === 'cluster');
    expect(check).toMatchObject({ status: 'pass', message: '0 instances gone' });
  });

  test('replays a recording that another instance has made, while that one lives', async () => {
    const record = async (id: string): Promise<void> => {
      const made = await follower.engine.call('POST', '/engine/v1/recordings/stream', {
        id,
        task: 'counting',
        stop: new Date((FIRST_SECOND + seconds) * 1000).toISOString(),
      });
      expect(made.status).toBe(201);
      await write(4);
      await eventually('the recording', async () => {
        const { json } = await follower.engine.call('GET', `/engine/v1/recordings/${id}`);
        return json.status === 'finished' ? true : undefined;
      });
    };
    await record('first');
    await record('second');
    const { json: members } = await follower.engine.call('GET', '/engine/v1/cluster/members');
    const own = members.members.find(({ url }: any) => url === leader.engine.url);
    const { json: list } = await follower.engine.call(
      'GET',
      '/engine/v1/recordings?pattern=first&fields=instance',
    );
    expect(list.recordings.map(({ instance }: any) => instance)).toEqual([own.id]);

    const drained = await follower.engine.call(
      'POST',
      `/engine/v1/cluster/members/${own.id}/drain`,
    );
    expect(drained.status).toBe(204);
    await eventually('the other one', async () =>
      (await cluster.leader(follower)) === follower ? true : undefined,
    );
    // It leads on all that was defined.
    expect(await Promise.all(DEFINED.map(async (path) => shown(follower, path)))).toEqual(defined);
    const replay = async (id: string): Promise<any> => {
      await follower.engine.call('POST', '/engine/v1/replays', {
        id: `replay-${id}`,
        task: 'counting',
        recording: id,
      });
      return eventually('its end', async () => {
        const { json } = await follower.engine.call('GET', `/engine/v1/replays/replay-${id}`);
        return json.status === 'running' ? undefined : json;
      });
    };

    const fetched = await replay('first');
    expect(fetched).toMatchObject({ status: 'finished', error: '' });
    expect(fetched.stats['node-stats'].from1.collected).toBeGreaterThan(0);

    const url = leader.engine.url;
    await leader.engine.stop();
    await eventually('its absence', async () => {
      const { json } = await follower.engine.call('GET', '/engine/v1/cluster/members');
      return json.members.length === 1 ? true : undefined;
    });
    const refused = await replay('second');
    expect(refused.status).toBe('failed');
    expect(refused.error).toContain('recording second lies on instance');
    expect(refused.error).toContain('which is gone: start that one');
    expect(url).not.toBe(follower.engine.url);
  });
});
