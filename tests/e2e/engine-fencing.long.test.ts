// A leader that is suspended until another one leads: after it resumes, it delivers nothing that
// was pending.
import { eventually, hasPrograms, removeDirectory, TestServer } from '@tidemark/testkit';
import { startTidemark, TestCoordinator } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { expect, test } from 'vitest';

type Member = { readonly url: string; readonly state: string; readonly leader: boolean };

test.runIf(hasPrograms('nats-server'))(
  'a leader that was suspended for longer than its lease delivers and posts nothing when it goes on',
  async () => {
    const receiver = new TestServer(() => ({ status: 503 }));
    await receiver.open();
    const coordinator = await TestCoordinator.start();
    const start = (): Promise<Tidemark> =>
      startTidemark({
        command: 'engine',
        environment: {
          TIDEMARK_SECRETS_KEY: 'env:CLUSTER_KEY',
          CLUSTER_KEY: 'k'.repeat(32),
          TIDEMARK_CLUSTER_ENABLED: 'true',
          TIDEMARK_CLUSTER_COORDINATOR: coordinator.url,
          TIDEMARK_CLUSTER_LEASE: '2s',
          // All tasks run where the leader is.
          TIDEMARK_TASK_HOSTS: '0',
        },
      });
    const instances = [await start(), await start()];
    try {
      const call = async (
        { engine }: Tidemark,
        method: string,
        path: string,
        body?: string,
      ): Promise<any> => {
        const answer = await fetch(`${engine}/engine/v1${path}`, { method, ...(body && { body }) });
        expect(answer.status, path).toBeLessThan(300);
        const text = await answer.text();
        return text === '' ? undefined : JSON.parse(text);
      };
      const members = async (asked: Tidemark): Promise<readonly Member[]> =>
        (await call(asked, 'GET', '/cluster/members')).members;
      const leading = (await members(instances[0] as Tidemark)).find(({ leader }) => leader)?.url;
      const leader = instances.find(({ engine }) => engine === leading) as Tidemark;
      const other = instances.find((each) => each !== leader) as Tidemark;
      const define = (id: string, script: string): Promise<unknown> =>
        call(
          other,
          'POST',
          '/tasks',
          JSON.stringify({ id, dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' }),
        );
      await define(
        'alerts',
        `stream|from()|alert().crit(lambda: TRUE).stateChangesOnly().post('${receiver.url}/alert')`,
      );
      // By a timer, of which there is always one that waits.
      await define('ticks', `stream|from()|stats(1s)|httpPost('${receiver.url}/tick')`);
      await call(other, 'POST', '/write?db=d&rp=r', 'm v=1 1000000000');
      const sent = (path: string): number =>
        receiver.requests.filter((request) => request.path === path).length;
      await receiver.until(() => sent('/alert') > 0 && sent('/tick') > 0);

      leader.process.kill('SIGSTOP');
      await eventually('another leader', async () =>
        (await members(other)).find(({ url, leader: leads }) => leads && url === other.engine),
      );
      receiver.answer = () => ({});
      const before = sent('/alert');
      await receiver.until(() => sent('/alert') > before);
      // Later events come from the instance that was suspended.
      await call(other, 'PATCH', '/tasks/ticks', JSON.stringify({ status: 'disabled' }));
      const known = receiver.requests.length;
      leader.process.kill('SIGCONT');
      await eventually('an instance that follows', async () =>
        (await members(leader)).find(
          ({ url, state, leader: leads }) => url === leader.engine && state === 'alive' && !leads,
        ),
      );
      await call(leader, 'POST', '/write?db=d&rp=r', 'm v=1 2000000000');

      expect(receiver.requests.slice(known)).toEqual([]);
    } finally {
      for (const instance of instances) {
        await instance.kill();
        await removeDirectory(instance.directory);
      }
      await coordinator.close();
      await receiver.close();
    }
  },
);
