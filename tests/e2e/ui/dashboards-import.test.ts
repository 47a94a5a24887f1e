// Well-known dashboards of other systems, in their formats, imported and shown with data.
import { readFileSync } from 'node:fs';

import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

const fileOf = (name: string): URL => new URL(`foreign/${name}.json`, import.meta.url);

/** Some minutes of the self-monitoring of Telegraf and a database. */
function lines(nowMs: number): string {
  const all: string[] = [];
  for (let i = 0; i < 30; i++) {
    const time = BigInt(nowMs - (30 - i) * 60_000) * 1_000_000n;
    all.push(
      `system,host=web load1=${1 + (i % 5)},load5=1,load15=1,uptime=${1000 + i * 60}i ${time}`,
      `cpu,host=web,cpu=cpu-total usage_idle=${60 + (i % 9)},usage_user=20,usage_system=9 ${time}`,
      `mem,host=web used_percent=${40 + (i % 7)} ${time}`,
      `net,host=web,interface=eth0 bytes_recv=${i * 60_000}i ${time}`,
      `diskio,host=web,name=sda reads=${i * 100}i ${time}`,
      `disk,host=web,path=/ used_percent=71 ${time}`,
      `docker,engine_host=web n_containers_running=4i ${time}`,
      `docker_container_mem,container_name=db usage=${(1 << 20) * i}i,usage_percent=31 ${time}`,
      `docker_container_cpu,container_name=db,cpu=cpu-total usage_percent=12 ${time}`,
      `docker_container_net,container_name=db rx_bytes=${i * 1000}i ${time}`,
      `httpd,hostname=db pointsWrittenOK=${i * 600}i,pointsWrittenFail=0i,queryReq=${i}i,writeReq=${i}i,reqActive=2i ${time}`,
      `runtime,hostname=db Sys=${1 << 28}i,HeapSys=${1 << 27}i,HeapAlloc=${1 << 26}i ${time}`,
      `write,hostname=db writeError=0i ${time}`,
      `database,hostname=db,database=a numSeries=7i ${time}`,
    );
  }
  return all.join('\n');
}

describe.skipIf(!hasPrograms('chromium'))('imported dashboards', () => {
  let visit: Visit;
  const cell = (title: string) =>
    visit.page.getByRole('region', { name: new RegExp(`^${title} \\(`) });

  beforeAll(async () => {
    visit = await Visit.open({ args: ['--database-monitor-store-interval', '1s'] });
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE telegraf');
    await write(tsdb, 'telegraf', lines(Date.now()));
  }, 60_000);
  afterAll(() => visit.close());

  test.each([
    {
      name: 'grafana-telegraf-system',
      found: 'From Grafana: 14 cells, 2 variables.',
      leftOut: [
        'the variable datasource, which chooses a data source',
        'the variable filters (adhoc)',
        'Load average: its alert rule; write a task for it',
        'Syslog: this kind of panel (logs)',
        'Requests: a query that is not InfluxQL',
        'links',
      ],
      shown: [
        ['CPU by mode', 'system'],
        ['Network usage', 'eth0 in'],
        ['Disks', '71 %'],
        ['About', 'Telegraf'],
        ['Syslog', 'this kind of panel (logs)'],
      ],
    },
    {
      name: 'grafana-influxdb-internals',
      found: 'From Grafana: 9 cells, 1 variable.',
      leftOut: [
        'the variable ds, which chooses a data source',
        'Others: this kind of panel (dashlist)',
        'Points written: its alert rule; write a task for it',
      ],
      shown: [
        ['Points written', 'written'],
        ['Memory', 'heap'],
        ['Series', '7'],
      ],
    },
    {
      name: 'chronograf-docker',
      found: 'From Chronograf: 9 cells, 3 variables.',
      leftOut: ['Flux: a query that is not InfluxQL', 'News: this kind of panel (news)'],
      shown: [
        ['Containers', '4'],
        ['CPU by container', 'mean container_name=db'],
        ['Memory by container', 'usage container_name=db'],
      ],
    },
  ])('$name', async ({ name, found, leftOut, shown }) => {
    const { page } = visit;
    await visit.show('dashboards');
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog');
    const content = readFileSync(fileOf(name));
    await dialog
      .getByLabel('From a file')
      .setInputFiles({ name: `${name}.json`, mimeType: 'application/json', buffer: content });
    await dialog.getByText(found).waitFor();
    expect((await dialog.getByRole('listitem').allTextContents()).toSorted()).toEqual(
      leftOut.toSorted(),
    );
    if (name === 'grafana-telegraf-system') await visit.inspect('dashboards-import');
    const take = dialog.getByRole('button', { name: 'Import dashboard' });
    // Cells of Chronograf name their database.
    expect(await take.isDisabled()).toBe(found.startsWith('From Grafana'));
    await dialog.getByLabel('Database').selectOption('telegraf');
    await take.click();
    await page.locator('.dash-grid').waitFor();
    const folded = page.locator('.dash-fold[aria-expanded=false]');
    while ((await folded.count()) > 0) await folded.first().click();
    for (const [title = '', text = ''] of shown) {
      await cell(title).scrollIntoViewIfNeeded();
      await cell(title).getByText(text, { exact: true }).first().waitFor();
    }
    await visit.takePicture(name);
    expect(visit.faults).toEqual([]);
  });

  test('a note that is HTML is shown without what runs, loads or sends', async () => {
    const { page } = visit;
    const content = `<b>bold</b><script>window.ran = 1</script><img src="/ran" onerror="window.ran = 2"><a href="javascript:window.ran=3">link</a><form action="/ran"><input name="a"></form>`;
    const panel = { type: 'text', title: 'Html', options: { mode: 'html', content } };
    await visit.show('dashboards');
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('JSON').fill(JSON.stringify({ title: 'Notes', panels: [panel] }));
    await dialog.getByRole('button', { name: 'Import dashboard' }).click();
    await cell('Html').locator('b', { hasText: 'bold' }).waitFor();
    const note = cell('Html').locator('.note');

    expect(await note.locator('script, img, form, input, [onerror]').count()).toBe(0);
    expect(await note.locator('a').getAttribute('href')).toBeNull();
    await note.locator('a').click();
    expect(await page.evaluate(() => (globalThis as { ran?: number }).ran)).toBeUndefined();
    // The policy of the page has a say in what is read to be cleaned, too.
    expect(visit.faults.splice(0).filter((fault) => !fault.startsWith('refused by'))).toEqual([]);
  });

  test('the axis of a Chronograf cell has its bounds', async () => {
    const { page } = visit;
    const queries = [{ query: 'SELECT usage_user FROM cpu WHERE time > :dashboardTime:' }];
    const axes = { y: { bounds: ['-1500', '2500'], label: '', base: '10', scale: 'linear' } };
    const cells = [{ x: 0, y: 0, w: 12, h: 6, name: 'Bounded', type: 'line', queries, axes }];
    const drawn = await visit.drawnTexts();
    await visit.show('dashboards');
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('JSON').fill(JSON.stringify({ name: 'Bounds', cells }));
    await dialog.getByText('From Chronograf: 1 cell').waitFor();
    await dialog.getByLabel('Database').selectOption('telegraf');
    await dialog.getByRole('button', { name: 'Import dashboard' }).click();
    await cell('Bounded').locator('.u-over').waitFor();
    // Values are between 0 and 100.
    await expect.poll(drawn).toEqual(expect.arrayContaining(['-1500', '2500']));
    expect(visit.faults).toEqual([]);
  });

  test('those that come along show machines, the database and the engine', async () => {
    await visit.show('dashboards?id=hosts');
    await cell('Processor by host').getByText('busy').first().waitFor();
    await cell('Disks').scrollIntoViewIfNeeded();
    await cell('Disks').getByRole('rowheader').first().waitFor();
    await visit.show('dashboards?id=tidemark&from=now-5m');
    await cell('Series').locator('strong').waitFor();
    await cell('Databases').scrollIntoViewIfNeeded();
    await cell('Databases').getByRole('cell', { name: 'telegraf' }).waitFor();
    await visit.show('dashboards?id=engine&from=now-5m');
    await cell('Open events').getByText('No open events.').waitFor();
    expect(visit.faults).toEqual([]);
  });
});
