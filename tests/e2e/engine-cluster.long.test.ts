// Several engines through the executable: real processes, a real coordinator, kill -9.
import { eventually, hasPrograms, makeDirectory, removeDirectory } from '@tidemark/testkit';
import { runTidemark, startTidemark, TestServer } from '@tidemark/testkit';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

type Status = {
  readonly instances: readonly {
    readonly instance: string;
    readonly url: string;
    readonly pid: number;
    readonly isUp: boolean;
    readonly isLeader: boolean;
    readonly tasks: number;
  }[];
};

describe.runIf(hasPrograms('nats-server'))('a local cluster of engines', () => {
  let directory: string;
  let other = '';
  const receiver = new TestServer();
  beforeAll(async () => {
    directory = await makeDirectory();
    await receiver.open();
  });
  afterAll(async () => {
    await cluster('down');
    await receiver.close();
    await removeDirectory(directory);
  });

  const cluster = (verb: string, ...more: readonly string[]) =>
    runTidemark(['engine-cluster', verb, '--dir', directory, ...more]);
  const status = async (): Promise<Status['instances']> =>
    (JSON.parse((await cluster('status', '--json')).stdout) as Status).instances;

  test('starts, answers everywhere, goes on after a kill, and is mended', async () => {
    const up = await cluster('up', '--instances', '3');

    expect(up.stderr).toBe('');
    const ready = /^ready coordinator=nats:\/\/127\.0\.0\.1:\d+ engines=(\S+)\n$/.exec(up.stdout);
    const urls = ready?.[1]?.split(',') ?? [];
    const before = await status();
    expect(before.map(({ url, isUp }) => [url, isUp])).toEqual(urls.map((url) => [url, true]));
    expect(before.map(({ instance }) => instance)).toEqual([
      'instance-1',
      'instance-2',
      'instance-3',
    ]);

    const [first = ''] = urls;
    const leader = before.find(({ isLeader }) => isLeader);
    other = before.find(({ isLeader }) => !isLeader)?.url ?? '';
    const script = `stream|from().measurement('m')|alert().crit(lambda: "v" > 10).post('${receiver.url}')`;
    const defined = await fetch(`${other}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'one',
        type: 'stream',
        dbrps: [{ db: 'd', rp: 'r' }],
        script,
        status: 'enabled',
      }),
    });
    expect(defined.status).toBe(200);
    const write = (line: string, url = ''): Promise<Response> =>
      fetch(`${url}/engine/v1/write?db=d&rp=r`, { method: 'POST', body: line });
    const levels = (): readonly string[] =>
      receiver.requests.map(({ body }) => (JSON.parse(body) as { readonly level: string }).level);

    // The task runs where the leader is not, as soon as another instance has joined it.
    const runs = await eventually('the task runs elsewhere', async () =>
      (await status()).find(({ tasks, isLeader }) => tasks === 1 && !isLeader),
    );
    const asked = before.find(({ url }) => url !== runs.url && url !== leader?.url)?.url ?? '';
    expect(asked).not.toBe('');
    process.kill(runs.pid, 'SIGKILL');
    expect((await write('m v=20 1000000000', leader?.url)).status).toBe(204);
    await receiver.until(() => receiver.requests.length === 1);
    await cluster('up');

    process.kill(leader?.pid ?? 0, 'SIGKILL');
    const written = await write('m v=1 2000000000', asked);

    expect(written.status).toBe(204);
    await receiver.until(() => levels().includes('OK'));
    // A write is taken before the leader that is gone is missed.
    const members = await eventually('that the leader is missed', async () => {
      const shown = await runTidemark(['engine', 'members', '--url', asked, '--json']);
      const all = JSON.parse(shown.stdout) as readonly {
        readonly url: string;
        readonly state: string;
        readonly tasks: number;
      }[];
      return all.find(({ url }) => url === leader?.url)?.state === 'gone' ? all : undefined;
    });
    expect(members.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(1);

    const again = await cluster('up');

    expect(again.stdout).toContain(`engines=${first},`);
    await eventually('all instances', async () => {
      const all = await status();
      return all.every(({ isUp }) => isUp) ? true : undefined;
    });
  });

  test('takes in what a single engine has stored', async () => {
    const single = await startTidemark({ command: 'engine' });
    const template = { id: 'single', type: 'stream', script: 'stream|from()' };
    await fetch(`${single.engine}/engine/v1/templates`, {
      method: 'POST',
      body: JSON.stringify(template),
    });
    await single.stop();
    const config = join(directory, 'instance-1', 'engine.toml');
    const joined = await runTidemark([
      'engine',
      'join',
      '--from',
      single.directory,
      '--config',
      config,
      '--json',
    ]);
    expect(joined.stderr).toContain('an instance goes on with it');
    expect(JSON.parse(joined.stdout)).toMatchObject({ counts: { template: 1 } });
    expect((await fetch(`${other}/engine/v1/templates/single`)).status).toBe(200);
    await removeDirectory(single.directory);
  });

  test('lets another instance lead when one is drained, and ends', async () => {
    const leading = (await status()).find(({ isLeader }) => isLeader)?.url ?? '';
    const drained = await runTidemark(['engine', 'drain', leading, '--url', leading]);
    expect(drained).toMatchObject({ status: 0, stdout: '', stderr: '' });
    await eventually('another leader', async () => {
      const next = (await status()).find(({ isLeader }) => isLeader)?.url;
      return next !== undefined && next !== leading ? true : undefined;
    });

    expect((await cluster('down')).status).toBe(0);
    expect((await cluster('status')).status).toBe(1);
  });
});
