// The Instances page with a cluster of two engines.
import { hasPrograms, removeDirectory, startTidemark, TestCoordinator } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.runIf(hasPrograms('chromium', 'nats-server'))('the page of instances', () => {
  let coordinator: TestCoordinator;
  let visit: Visit;
  let other: Tidemark;
  beforeAll(async () => {
    coordinator = await TestCoordinator.start();
    const environment = {
      TIDEMARK_SECRETS_KEY: 'env:CLUSTER_KEY',
      CLUSTER_KEY: 'k'.repeat(32),
      TIDEMARK_CLUSTER_ENABLED: 'true',
      TIDEMARK_CLUSTER_COORDINATOR: coordinator.url,
    };
    visit = await Visit.open({
      command: 'engine',
      args: ['--ui-bind', '127.0.0.1:0'],
      environment,
    });
    other = await startTidemark({ command: 'engine', environment });
    const script = `stream|from().measurement('m').groupBy('host')|count('v')`;
    const made = await fetch(`${other.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'warm',
        type: 'stream',
        dbrps: [{ db: 'd', rp: 'r' }],
        script,
        split: 2,
        status: 'enabled',
      }),
    });
    expect(made.status).toBe(200);
  }, 60_000);
  afterAll(async () => {
    await visit.close();
    await other.kill();
    await removeDirectory(other.directory);
    await coordinator.close();
  });

  test('shows who leads, what runs where and how far each is behind, and drains one', async () => {
    const { page, server } = visit;
    const members = page.getByRole('group', { name: 'Instances' });
    const row = (url: string) => members.getByRole('row').filter({ hasText: url });
    await visit.show('tasks');
    await page.getByRole('link', { name: 'Instances' }).click();

    const leading = row(server.engine);
    await leading.getByText('leader').waitFor();
    await row(other.engine).getByText('follower').waitFor();
    const places = page.getByRole('group', { name: 'Where tasks run' });
    await places.getByRole('link', { name: 'warm' }).first().click();
    await expect.poll(() => page.getByLabel('Split into parts').inputValue()).toBe('2');
    await page.getByText('which run on several instances').waitFor();
    await page.getByRole('tab', { name: 'Where it runs' }).click();
    const parts = page.getByRole('group', { name: 'Where warm runs' }).getByRole('row');
    for (const part of ['part 1 of 2', 'part 2 of 2'])
      await parts.filter({ hasText: part }).getByText('running', { exact: true }).waitFor();
    await expect
      .poll(async () => (await parts.allTextContents()).join(' '))
      .toMatch(new RegExp(`(?=.*${server.engine}).*${other.engine}`));
    await visit.inspect('task-parts');
    await page.getByRole('link', { name: 'Instances of the task engine' }).click();
    expect(await visit.accessibilityFaults()).toEqual([]);

    await page.getByRole('button', { name: `Drain ${server.engine}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await row(other.engine).getByText('leader').waitFor();
    await leading.getByText('draining').waitFor();

    expect(visit.faults).toEqual([]);
  });
});
