// The web application in a real browser: what is up, what is in it, a query, a wrong query, a
// service that died.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import {
  BROWSER_ARGUMENTS,
  eventually,
  hasPrograms,
  programPath,
  query,
  removeDirectory,
  send,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const SCRIPT = `stream
    |from()
        .measurement('cpu')
    |alert()
        .id('{{ index .Tags "host" }}')
        .crit(lambda: "usage" > 90)
        .topic('hot')
`;

/** The page as its sources are: other tests need no page, so that nothing else builds it. */
function buildPage(): void {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const folder = join(root, 'packages/ui');
  execFileSync(process.execPath, [vite, 'build', folder, '--logLevel', 'warn']);
}

describe.skipIf(!hasPrograms('chromium'))('the web application', () => {
  let server: Tidemark;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    buildPage();
    server = await startTidemark();
    await query(server.tsdb, 'CREATE DATABASE house');
    await write(server.tsdb, 'house', 'room,name=kitchen celsius=21.5 1700000000000000000');
    const defined = await send(`${server.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'too_hot',
        type: 'stream',
        status: 'enabled',
        dbrps: [{ db: 'house', rp: 'autogen' }],
        script: SCRIPT,
      }),
    });
    expect(defined.status, defined.text).toBe(200);
    const unheard = await send(`${server.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'unheard',
        status: 'enabled',
        dbrps: [{ db: 'house', rp: 'autogen' }],
        script: "stream|from()|alert().crit(lambda: TRUE).email('ops@example.org')",
      }),
    });
    expect(unheard.status, unheard.text).toBe(200);
    await write(server.engine, 'house', 'cpu,host=a usage=97', { rp: 'autogen' });
    await eventually('the topic', async () =>
      (await send(`${server.engine}/engine/v1preview/alerts/topics/hot`)).text.includes('CRITICAL')
        ? true
        : undefined,
    );
    browser = await chromium.launch({
      executablePath: programPath('chromium') ?? '',
      args: [...BROWSER_ARGUMENTS],
    });
    page = await browser.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(server.ui);
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await server.stop();
    await removeDirectory(server.directory);
  });

  const card = (name: string) =>
    page.getByRole('article').filter({ has: page.getByRole('heading', { name }) });

  test('shows both services, databases, tasks and the level of topics', async () => {
    await card('Database').getByText('house', { exact: true }).waitFor();

    expect(await card('Database').getByRole('heading').textContent()).toMatch(/up, \S/);
    expect(await card('Task engine').getByRole('heading').textContent()).toMatch(/up, \S/);
    expect(await card('Task engine').getByText('too_hot').textContent()).toContain('enabled');
    await card('Task engine').getByText('hot: CRITICAL').waitFor();
  });

  test('shows what could not be delivered, and why', async () => {
    await card('Task engine').getByText('1 events could not be delivered').waitFor();
    await card('Task engine').getByText('handler smtp: the service is not enabled').waitFor();
  });

  test('a query gives a table', async () => {
    await page.getByLabel('Database').selectOption('house');
    await page.getByLabel('Statement').fill('SELECT celsius FROM room GROUP BY "name"');
    await page.getByLabel('Statement').press('Control+Enter');

    const table = page.getByRole('table');
    await table.waitFor();
    expect(await table.getByRole('columnheader').allTextContents()).toEqual(['time', 'celsius']);
    expect(await table.getByRole('cell').allTextContents()).toEqual([
      '2023-11-14T22:13:20Z',
      '21.5',
    ]);
    expect(await page.locator('figcaption').textContent()).toBe('room name=kitchen');
  });

  test('a wrong query shows where it is wrong', async () => {
    await page.getByLabel('Statement').fill('SELECT celsius FORM room');
    await page.getByRole('button', { name: /^Run/ }).click();

    const caret = page.locator('pre.caret');
    await caret.waitFor();
    const [line, mark = ''] = ((await caret.textContent()) ?? '').split('\n');
    expect(line).toBe('SELECT celsius FORM room');
    expect(mark.indexOf('^')).toBe('SELECT celsius '.length);
    expect(await page.getByRole('table').count()).toBe(0);
  });

  test('a name that is nearly right comes with a suggestion, in an error and beside an answer', async () => {
    const run = async (text: string): Promise<string> => {
      await page.getByLabel('Statement').fill(text);
      await page.getByRole('button', { name: /^Run/ }).click();
      const finding = page.locator('pre.caret', { hasText: text });
      await finding.waitFor();
      return (await finding.textContent()) ?? '';
    };

    expect(await run('SELECT maen(celsius) FROM room')).toContain('did you mean mean()?');
    expect(await run('SELECT celsius, celsiu FROM room')).toContain('did you mean celsius?');
    expect(await page.getByRole('table').count()).toBe(1);
  });

  test('a service that does not answer is shown as such, and again when it is back', async () => {
    await page.route('**/api/engine/**', (route) => route.abort());
    await page.reload();
    await card('Task engine').getByText('not answering').waitFor();
    expect(await card('Database').getByRole('heading').textContent()).toMatch(/up, \S/);

    await page.unroute('**/api/engine/**');
    await card('Task engine').getByText('too_hot').waitFor();
    expect(faults).toEqual([]);
  });
});
