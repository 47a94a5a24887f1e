// Points stay at the coordinator until states that contain them are synced to its disks; if points
// are lost nevertheless, the tasks that lack them are reported.
import { eventually, hasPrograms } from '@tidemark/testkit';
import { COUNTING, countedBy } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const WRITE = '/engine/v1/write?db=d&rp=r';

describe.runIf(hasPrograms('nats-server'))('the log of points', () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await TestCluster.open();
  });
  afterEach(() => cluster.close());

  const ends = (): Promise<{ readonly first: number; readonly last: number }> =>
    cluster.withCoordinator((own) => own.points.ends());

  /** Resolves when states were saved that contain all that was written. */
  async function savedTwice(): Promise<void> {
    const last = (): Promise<number> =>
      cluster.withCoordinator(async ({ changes }) => (await changes.ends()).last);
    const before = await last();
    await eventually('two more states', async () => (await last()) >= before + 2 || undefined);
  }

  test('keeps what saved states contain until the coordinator has synced these', async () => {
    const { engine } = await cluster.start({ cluster: { 'snapshot-interval': '50ms' } });
    await engine.startTask('counting', COUNTING);

    for (let i = 1; i <= 3; i++) await engine.call('POST', WRITE, `m v=1 ${i}000000000`);
    await savedTwice();

    expect(await ends()).toMatchObject({ first: 1, last: 3 });
  });

  test('forgets it at once where the coordinator syncs every change', async () => {
    const { engine } = await cluster.start({
      cluster: { 'snapshot-interval': '50ms', 'sync-interval': '0s' },
    });
    await engine.startTask('counting', COUNTING);

    for (let i = 1; i <= 3; i++) await engine.call('POST', WRITE, `m v=1 ${i}000000000`);

    await eventually('nothing', async () => ((await ends()).first === 4 ? true : undefined));
  });

  test('goes on behind a record that cannot be read, which health counts', async () => {
    const { engine } = await cluster.start();
    await engine.startTask('counting', COUNTING);
    await cluster.withCoordinator(({ points }) =>
      points.append(Buffer.from('m v=1 1'), {
        label: 'damaged',
        signal: new AbortController().signal,
      }),
    );

    await engine.call('POST', WRITE, 'm v=1 2000000000');

    await eventually('the next write', async () =>
      (await countedBy(engine, 'counting')) === 1 ? true : undefined,
    );
    const health = await engine.call('GET', '/health');
    expect(health.json).toMatchObject({
      status: 'warn',
      message: expect.stringContaining(
        '1 writes that cannot be read were set aside in unreadable-points',
      ),
    });
  });

  test('gives a task its points again whose process has failed without saving a state', async () => {
    const instance = await cluster.start({ cluster: { 'snapshot-interval': '1h' } });
    const { engine } = instance;
    await engine.startTask('counting', COUNTING);
    const changes = (): Promise<number> =>
      cluster.withCoordinator(async (own) => (await own.changes.ends()).last);
    await engine.call('POST', WRITE, 'm v=1 1000000000');
    const before = await changes();

    await engine.fail();

    expect(await changes()).toBe(before);
    await cluster.restart(instance);
    await eventually('its point', async () =>
      (await countedBy(engine, 'counting')) === 1 ? true : undefined,
    );
  });

  test('says which task lacks how much of what is gone', async () => {
    const instance = await cluster.start({ cluster: { 'snapshot-interval': '1h' } });
    const { engine } = instance;
    await engine.startTask('counting', COUNTING);
    await engine.call('POST', WRITE, 'm v=1 1000000000');
    await engine.stop();
    await cluster.withCoordinator(async ({ points }) => {
      const { signal } = new AbortController();
      const label = JSON.stringify({ id: 'x', db: 'd', rp: 'r', precision: 'ns', now: '1' });
      const append = (text: string): Promise<number> =>
        points.append(Buffer.from(text), { label, signal });
      await append('m v=1 2000000000');
      await append('m v=1 3000000000');
      await points.purge(await append('m v=1 4000000000'));
    });

    await cluster.restart(instance);

    await eventually('what is left', async () =>
      (await countedBy(engine, 'counting')) === 2 ? true : undefined,
    );
    const { json } = await engine.call('GET', '/engine/v1/cluster/tasks');
    expect(json.tasks).toMatchObject([{ id: 'counting', missing: 2 }]);
    const health = await engine.call('GET', '/health');
    expect(health.json).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('1 tasks, or parts of them, lack writes'),
    });
    const lines = engine.log.filter((line) => line.includes('lacks records'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('counting');
  });
});
