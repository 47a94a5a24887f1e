// Writes while no instance leads.
import { eventually, hasPrograms, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { COUNTING, countedBy } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import type { TestInstance } from '@tidemark/testkit/engine-cluster';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const WRITE = '/engine/v1/write?db=d&rp=r';

/** Wrong or missing credentials are distinguished from an unreachable coordinator. */
const ADMIN = `Basic ${Buffer.from('admin:secret').toString('base64')}`;
const WRONG = `Basic ${Buffer.from('admin:wrong').toString('base64')}`;

describe.runIf(hasPrograms('nats-server'))('a cluster that nobody leads', () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await TestCluster.open();
  });
  afterEach(() => cluster.close());

  /** Its only instance leads no more, and still answers. */
  async function leaderless({ engine }: TestInstance): Promise<void> {
    const members = '/engine/v1/cluster/members';
    const path = `${members}/${encodeURIComponent(engine.url)}/drain`;
    expect((await engine.call('POST', path, undefined, { authorization: ADMIN })).status).toBe(204);
    await cluster.withCoordinator((own) =>
      eventually('nobody', async () => {
        const { text = '{}' } = (await own.register.get('leader')) ?? {};
        return (JSON.parse(text) as { readonly id: string }).id === '' ? true : undefined;
      }),
    );
  }

  test('takes writes, refuses wrong ones, and gives them to the tasks when one leads', async () => {
    const a = await cluster.start();
    await a.engine.startTask('counting', COUNTING);
    await leaderless(a);

    expect((await a.engine.call('POST', WRITE, 'm v=1 1000000000')).status).toBe(204);
    expect((await a.engine.call('POST', '/kapacitor/v1/write?db=d&rp=r', 'm v=2')).status).toBe(
      204,
    );
    const refused = await a.engine.call('POST', WRITE, 'm v=1\nnonsense');
    expect([refused.status, refused.json.error]).toEqual([
      400,
      expect.stringContaining('nonsense'),
    ]);
    expect((await a.engine.call('POST', '/engine/v1/write?rp=r', 'm v=1')).status).toBe(400);

    const b = await cluster.start();
    await eventually('the points', async () =>
      (await countedBy(b.engine, 'counting')) >= 2 ? true : undefined,
    );
    expect(await countedBy(b.engine, 'counting')).toBe(2);
  });

  describe('where users have to say who they are', () => {
    let database: Tidemark;
    beforeEach(async () => {
      database = await startTidemark({ command: 'tsdb', args: ['--http-auth-enabled', 'true'] });
      const q = encodeURIComponent(`CREATE USER admin WITH PASSWORD 'secret' WITH ALL PRIVILEGES`);
      await fetch(`${database.tsdb}/query?q=${q}`, { method: 'POST' });
    });
    afterEach(() => database.stop());

    test('takes writes of those who may write', async () => {
      const section = { name: 'main', default: true, urls: [database.tsdb] };
      const a = await cluster.start({ http: { 'auth-enabled': true }, tsdb: [section] });
      await leaderless(a);

      const asked = async (authorization?: string): Promise<number> => {
        const headers = authorization === undefined ? {} : { authorization };
        return (await a.engine.call('POST', WRITE, 'm v=1', headers)).status;
      };
      expect(await asked()).toBe(401);
      expect(await asked(WRONG)).toBe(401);
      expect(await asked(ADMIN)).toBe(204);
    });
  });
});
