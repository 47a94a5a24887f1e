// An alert inhibits events of a category, whichever task raises them and whichever topic they go
// to, in one thread and across threads.
import { eventually } from '@tidemark/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();

afterEach(() => engine.close());

const alert = (measurement: string, tags: string, more: string): string =>
  `stream|from().measurement('${measurement}').groupBy(${tags})|alert().id('${measurement} {{ .Group }}').crit(lambda: "v" > 0)${more}`;

const HOST = alert('host', "'dc'", ".topic('hosts').inhibit('apps', 'dc')");
const APP = alert('app', "'dc', 'name'", ".topic('apps').category('apps')");

const write = (lines: string): ReturnType<TestEngine['call']> =>
  engine.call('POST', '/engine/v1/write?db=d&rp=r', lines);

async function events(topic: string): Promise<readonly string[]> {
  const { json } = await engine.call('GET', `/engine/v1preview/alerts/topics/${topic}/events`);
  return (json.events ?? []).map(({ id, state }: any) => `${id} ${state.level}`);
}

async function nodeStat(task: string, name: string): Promise<number> {
  const { json } = await engine.call('GET', `/engine/v1/tasks/${task}`);
  return json.stats['node-stats'].alert2[name];
}

const seen = (task: string, count: number): Promise<true> =>
  eventually(`${task} has seen ${count}`, async () => {
    const found =
      (await nodeStat(task, 'alerts_triggered')) + (await nodeStat(task, 'alerts_inhibited'));
    return found >= count ? true : undefined;
  });

describe.each(['0', '2'])('with task hosts: %s', (hosts) => {
  const start = (): Promise<void> => engine.start({ task: { hosts } });

  test('events of another task are held back while the alert is not OK', async () => {
    await start();
    await engine.startTask('hosts', HOST);
    await engine.startTask('apps', APP);
    await write('host,dc=e v=1 1');
    await seen('hosts', 1);
    await write('app,dc=e,name=a v=1 2\napp,dc=f,name=b v=1 2');
    await seen('apps', 2);
    expect(await events('apps')).toEqual(['app dc=f,name=b CRITICAL']);
    expect(await nodeStat('apps', 'alerts_inhibited')).toBe(1);

    await write('host,dc=e v=0 3');
    await seen('hosts', 2);
    await write('app,dc=e,name=a v=1 4');
    await seen('apps', 3);
    expect(await events('apps')).toEqual(['app dc=e,name=a CRITICAL', 'app dc=f,name=b CRITICAL']);
  });

  test('a restart of the engine keeps them back, the end of the task does not', async () => {
    await start();
    await engine.startTask('hosts', HOST);
    await engine.startTask('apps', APP);
    await write('host,dc=e v=1 1');
    await seen('hosts', 1);

    await engine.stop();
    await start();
    await write('app,dc=e,name=a v=1 2');
    await seen('apps', 1);
    expect(await events('apps')).toEqual([]);

    await engine.call('PATCH', '/engine/v1/tasks/hosts', { status: 'disabled' });
    await write('app,dc=e,name=a v=1 3');
    await seen('apps', 2);
    expect(await events('apps')).toEqual(['app dc=e,name=a CRITICAL']);
  });

  test('a replay holds back nothing of the tasks that run', async () => {
    await start();
    await engine.startTask('hosts', HOST);
    await engine.startTask('apps', APP);
    const recording = { id: 'rec', task: 'hosts', stop: '2000-01-01T00:00:00Z' };
    await engine.call('POST', '/engine/v1/recordings/stream', recording);
    await write('host,dc=e v=1 1\nhost,dc=e v=0 2\nhost,dc=e v=0 1000000000000000000');
    const ended = (path: string): Promise<unknown> =>
      eventually(path, async () =>
        (await engine.call('GET', path)).status === 200 ? true : undefined,
      );
    await ended('/engine/v1/recordings/rec');
    await write('host,dc=f v=1 1');
    await seen('hosts', 3);
    const replay = { id: 'rep', task: 'hosts', recording: 'rec' };
    await engine.call('POST', '/engine/v1/replays', replay);
    await ended('/engine/v1/replays/rep');
    await write('app,dc=e,name=a v=1 2\napp,dc=f,name=b v=1 2');
    await seen('apps', 2);
    expect(await events('apps')).toEqual(['app dc=e,name=a CRITICAL']);
  });
});
