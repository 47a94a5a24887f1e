// The whole API through an instance that does not lead: what runs elsewhere is answered as if it
// ran here, streams included.
import { eventually, hasPrograms } from '@tidemark/testkit';
import { COUNTING } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import type { TestInstance } from '@tidemark/testkit/engine-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const FIRST_SECOND = 1_700_000_000;

describe.runIf(hasPrograms('nats-server'))('an instance that does not lead', () => {
  let cluster: TestCluster;
  let leader: TestInstance;
  let follower: TestInstance;
  let seconds = 0;
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
    // What came before it listens is not told.
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

  test('lists routes that lead to itself', async () => {
    const { json } = await follower.engine.call('GET', '/engine/v1/:routes');
    const paths = Object.keys(json);

    expect(paths).toContain('/engine/v1/tasks');
    expect(paths.every((path) => path.startsWith('/'))).toBe(true);
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
