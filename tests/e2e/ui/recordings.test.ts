// Recordings: data of a task is recorded and replayed.
import { eventually, hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('the page of recordings', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb, engine } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', 'room celsius=21');
    const task = {
      id: 'means',
      type: 'batch',
      status: 'enabled',
      dbrps: [{ db: 'house', rp: 'autogen' }],
      script: "batch|query('SELECT mean(celsius) FROM house.autogen.room').period(1m).every(1m)",
    };
    const defined = await send(`${engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify(task),
    });
    expect(defined.status, defined.text).toBe(200);
    await visit.show('recordings');
  }, 60_000);
  afterAll(() => visit.close());

  test('a recording is made, replayed and deleted', async () => {
    const { page } = visit;
    const { engine } = visit.server;
    await page.getByText('No recordings').waitFor();
    await page.getByLabel('Task', { exact: true }).selectOption('means');
    await page.getByLabel('Past minutes').fill('2');
    await page.getByRole('button', { name: 'Start recording' }).click();
    const recordings = page.getByRole('group', { name: 'Recordings' });
    await recordings.getByText('finished').waitFor();
    await page.getByLabel('Replay with task …').selectOption('means');
    await recordings.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('group', { name: 'Replays' }).getByText('finished').waitFor();
    await visit.inspect('recordings');
    // Short replays end at once: an intermediate response is derived from the last one.
    await page.route('**/engine/v1/replays**', async (route) => {
      const response = await route.fetch();
      const { replays } = (await response.json()) as { readonly replays: readonly object[] };
      const running = replays.map((each) => ({ ...each, status: 'running', progress: 0.4 }));
      await route.fulfill({ response, json: { replays: running } });
    });
    const progress = page.getByRole('progressbar');
    await expect.poll(() => progress.getAttribute('value')).toBe('0.4');
    await page.unroute('**/engine/v1/replays**');
    await progress.waitFor({ state: 'detached' });
    await recordings.getByRole('button', { name: /^Delete/ }).click();
    await eventually('the end of the recording', async () =>
      (await send(`${engine}/engine/v1/recordings`)).text.includes('"recordings":[]')
        ? true
        : undefined,
    );
    expect(visit.faults).toEqual([]);
  });
});
