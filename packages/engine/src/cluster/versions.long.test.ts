// Instances of two versions in one cluster: both can read what either writes, and an instance that
// cannot reports it and does not lead.
import { eventually, hasPrograms } from '@tidemark/testkit';
import { countedBy } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import type { TestInstance } from '@tidemark/testkit/engine-cluster';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { THIS_BUILD } from '../shared-log/build.ts';
import type { Build, ChangeFormat } from '../shared-log/build.ts';

const [first] = THIS_BUILD.formats;

/** As the next minor version may write changes: with a byte in front. */
const marked: ChangeFormat = {
  encode: (changes) => Buffer.concat([Buffer.from('+'), first.encode(changes)]),
  decode: (bytes) => first.decode(bytes.subarray(1)),
};
const old: Build = { version: '0.1.0', formats: [first] };
const next: Build = { version: '0.2.0', formats: [first, marked] };

/** As `COUNTING`, whatever the names are. */
const COUNTING_ALL = `stream|from()|stateCount(lambda: TRUE)|httpOut('counted')`;

/** Sends lines to the listener of an instance that leads. */
async function sendLines({ engine }: TestInstance, text: string): Promise<void> {
  const { json } = await engine.call('GET', '/engine/v1/debug/vars');
  const found = Object.values(json.tidemark as Record<string, any>).find(
    ({ name }) => name === 'graphite',
  );
  const port = Number(String(found?.tags.bind).split(':').at(-1));
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(text));
    socket.on('close', () => resolve()).resume();
  });
}

describe.runIf(hasPrograms('nats-server'))('a cluster of two versions', () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await TestCluster.open();
  });
  afterEach(() => cluster.close());

  const template = (id: string): object => ({ id, type: 'stream', script: 'stream|from()' });

  /** Levels of what is in the log of changes, in order. */
  const levels = (): Promise<readonly number[]> =>
    cluster.withCoordinator(async ({ changes }) => {
      const { first, last } = await changes.ends();
      const found: number[] = [];
      const { signal } = new AbortController();
      for await (const { level } of changes.read({ first, through: last, signal }))
        found.push(level);
      return found;
    });

  test('writes what the oldest knows, and more when all have been updated one by one', async () => {
    const older = await cluster.start({ cluster: { lease: '2s' } }, { build: old });
    const newer = await cluster.start({ cluster: { lease: '2s' } }, { build: next });
    await newer.engine.call('POST', '/engine/v1/templates', template('a'));
    const listed = await eventually('both', async () => {
      const { json } = await newer.engine.call('GET', '/engine/v1/cluster/members');
      return json.members.length === 2 ? json.members : undefined;
    });
    expect(listed.map(({ level }: any) => level).sort()).toEqual([1, 2]);

    // The newer one leads, and the older one reads what it writes.
    await older.engine.stop();
    await eventually('the lead of the newer one', async () =>
      (await cluster.leader(newer)) === newer ? true : undefined,
    );
    await cluster.restart(older, { build: old });
    expect(await cluster.leader(older)).toBe(newer);
    await newer.engine.call('POST', '/engine/v1/templates', template('b'));
    expect(new Set(await levels())).toEqual(new Set([1]));

    await cluster.restart(older, { build: next });
    let count = 0;
    await eventually(
      'the next level',
      async () => {
        await newer.engine.call('POST', '/engine/v1/templates', template(`c${count++}`));
        return (await levels()).includes(2) ? true : undefined;
      },
      60_000,
    );

    // The next leader reads what either version has written.
    await newer.engine.stop();
    const { json } = await older.engine.call('GET', '/engine/v1/templates');
    expect(json.templates.map(({ id }: any) => id)).toEqual(
      expect.arrayContaining(['a', 'b', expect.stringMatching(/^c/)]),
    );
    await expect(cluster.start({}, { build: old })).rejects.toThrow(
      'this instance is too old for the cluster: it knows records up to level 1, and the cluster writes level 2',
    );
  });

  test('lets nobody lead who meets a record that it does not know', async () => {
    // Requests wait for so long for a leader, three times.
    const hasty = { cluster: { lease: '1s' } };
    const [a, b] = [await cluster.start(hasty), await cluster.start(hasty)];
    const leader = await cluster.leader(a);
    const other = leader === a ? b : a;
    // Written by a version that this one knows nothing of.
    const { signal } = new AbortController();
    await cluster.withCoordinator(({ changes }) =>
      changes.append(new Uint8Array(0), { label: 'invented', signal }),
    );
    await eventually('a word', async () =>
      other.engine.log.find((line) => line.includes('this instance is too old')),
    );

    await leader.engine.stop();
    const health = await other.engine.call('GET', '/engine/v1/ping');

    expect(health.status).toBe(503);
    expect(health.json.error).toContain('no leader');
  });

  test('keeps points as all versions can read them, and any name when all have been updated', async () => {
    const graphite = [
      { enabled: true, 'bind-address': '127.0.0.1:0', database: 'd', 'batch-timeout': '10ms' },
    ];
    const values = { cluster: { lease: '2s' }, 'default-retention-policy': 'r', graphite };
    const older = await cluster.start(values, { build: old });
    const newer = await cluster.start(values, { build: next });
    await older.engine.startTask('counting', COUNTING_ALL);
    await older.engine.stop();
    const leader = newer;
    await eventually('the lead of the newer one', async () =>
      (await cluster.leader(leader)) === leader ? true : undefined,
    );
    await cluster.restart(older, { build: old });

    // Values that lines cannot carry are left out, and do not delay the rest.
    await sendLines(leader, 'good 1 1704067200\nbad\\ 2 1704067200\n');
    await eventually('one point', async () =>
      (await countedBy(leader.engine, 'counting')) === 1 ? true : undefined,
    );
    expect(leader.engine.log.join('\n')).toContain('knows line protocol only');

    await cluster.restart(older, { build: next });
    let sent = 0;
    await eventually(
      'a point with any name',
      async () => {
        await sendLines(leader, `bad\\ ${++sent} 1704067200\n`);
        return (await countedBy(leader.engine, 'counting')) > 1 ? true : undefined;
      },
      60_000,
    );
    const counted = await countedBy(leader.engine, 'counting');

    // Another leader reads it from the log.
    await leader.engine.stop();
    const { status } = await older.engine.call('POST', '/engine/v1/write?db=d&rp=r', 'm v=1 1');
    expect(status).toBe(204);
    // One more point with a strange name may have been on its way.
    const all = await eventually('all points', async () => {
      const found = await countedBy(older.engine, 'counting');
      return found > counted ? found : undefined;
    });
    expect(all - counted).toBeLessThanOrEqual(2);
    const health = await older.engine.call('GET', '/health');
    const { checks } = health.json as { checks: { name: string; status: string }[] };
    expect(checks.find(({ name }) => name === 'points')?.status).toBe('pass');
  });

  test('follows what is said with fields of a newer version', async () => {
    const a = await cluster.start();
    const member = {
      id: 'newer',
      url: 'http://127.0.0.1:1',
      hostname: 'h',
      pid: 1,
      version: '0.2.0',
      level: 2,
      isDraining: false,
      replica: 7,
      color: 'red',
    };
    await cluster.withCoordinator(({ register }) =>
      register.put('member.newer', JSON.stringify(member)),
    );

    const seen = await eventually('a member', async () => {
      const { json } = await a.engine.call('GET', '/engine/v1/cluster/members');
      return json.members.find(({ id }: any) => id === 'newer');
    });

    expect(seen).toMatchObject({ version: '0.2.0', level: 2, state: 'alive', leader: false });
    const gone = await eventually('its end', async () => {
      const { json } = await a.engine.call('GET', '/engine/v1/cluster/members');
      return json.members.find(({ id, state }: any) => id === 'newer' && state === 'gone');
    });
    expect(gone).toBeDefined();
    const health = await a.engine.call('GET', '/health');
    expect(health.json).toMatchObject({ status: 'warn', message: '1 instances gone' });
    const metrics = await a.engine.call('GET', '/metrics');
    expect(metrics.json).toMatch(/^tidemark_engine_cluster_members 1$/m);
    expect(metrics.json).toMatch(/^tidemark_engine_cluster_members_gone 1$/m);
    const dropped = await a.engine.call('DELETE', '/engine/v1/cluster/members/newer');
    expect(dropped.status).toBe(204);
    const left = await a.engine.call('GET', '/engine/v1/cluster/members');
    expect(left.json.members).toHaveLength(1);
  });
});
