// Signing in with a session, and actions that are hidden without rights.
import { hasPrograms, query, run, send } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Visit } from './visit.ts';

describe.skipIf(!hasPrograms('chromium'))('with authentication', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await Visit.open({
      args: ['--database-http-auth-enabled', 'true', '--engine-http-auth-enabled', 'true'],
    });
    const { tsdb } = visit.server;
    await query(tsdb, "CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES");
    for (const statement of [
      'CREATE DATABASE house',
      'CREATE DATABASE hidden',
      "CREATE USER reader WITH PASSWORD 'pw'",
      'GRANT READ ON house TO reader',
      "CREATE USER newcomer WITH PASSWORD 'pw'",
      "CREATE USER writer WITH PASSWORD 'pw'",
      'GRANT WRITE ON house TO writer',
    ]) {
      const answer = await send(`${tsdb}/query`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa('root:pw')}` },
        body: new URLSearchParams({ q: statement }),
      });
      expect(answer.status, answer.text).toBe(200);
    }
  }, 60_000);
  afterAll(() => visit.close());

  const dialog = () => visit.page.getByRole('dialog', { name: 'Sign in' });
  const signIn = async (user: string, password: string): Promise<void> => {
    await dialog().getByLabel('User').fill(user);
    await dialog().getByLabel('Password').fill(password);
    await dialog().getByRole('button', { name: 'Sign in' }).click();
  };

  test('the page asks who it is, says what is wrong, and goes on', async () => {
    const { page } = visit;
    await visit.show('explore?q=SHOW+DATABASES');
    await dialog().waitFor();
    await visit.inspect('sign-in');
    await signIn('root', 'wrong');
    await dialog().getByText('authorization failed').waitFor();
    expect(await visit.accessibilityFaults()).toEqual([]);
    await signIn('root', 'pw');
    await dialog().waitFor({ state: 'detached' });
    await page
      .getByLabel('Database')
      .getByRole('option', { name: 'hidden' })
      .waitFor({ state: 'attached' });
    await page.reload();
    await page.getByRole('button', { name: 'Sign out root' }).waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  test('an admin makes a token for a program that writes, and the snippet works with it', async () => {
    const { page } = visit;
    await visit.show('start');
    await page.getByLabel('Database', { exact: true }).fill('house');
    await page.getByRole('button', { name: 'Create a write-only token' }).click();
    await expect.poll(() => page.getByLabel('API token').inputValue()).not.toBe('');
    await page.getByRole('tab', { name: 'curl' }).click();
    const snippet = (await page.getByRole('tabpanel').locator('pre').textContent()) ?? '';
    const sent = await run('bash', ['-ec', snippet.replace('curl', 'curl --fail')]);
    expect(sent.status, sent.stderr).toBe(0);
    const token = await page.getByLabel('API token').inputValue();
    const read = await send(`${visit.server.tsdb}/query?db=house&q=SELECT+*+FROM+room`, {
      headers: { Authorization: `Token ${token}` },
    });
    expect(read.status).toBe(403);
    await visit.show('explore?q=SHOW+DATABASES');
  });

  test('a session that has expired is renewed over what was typed', async () => {
    const { page } = visit;
    // Pending loads would ask for credentials before the statement does.
    await page.getByRole('cell', { name: 'hidden' }).waitFor();
    await page.waitForLoadState('networkidle');
    const editor = page.getByRole('textbox', { name: 'Statement' });
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('SHOW USERS');
    const [cookie] = await page.context().cookies();
    const csrf = (
      (await (
        await fetch(`${visit.server.ui}/api/session`, {
          headers: { Cookie: `${cookie?.name}=${cookie?.value}` },
        })
      ).json()) as { csrf: string }
    ).csrf;
    await send(`${visit.server.ui}/api/session`, {
      method: 'DELETE',
      headers: { Cookie: `${cookie?.name}=${cookie?.value}`, 'X-CSRF-Token': csrf },
    });
    await page.keyboard.press('Control+Enter');
    await dialog().waitFor();
    await signIn('root', 'pw');
    await page.getByRole('cell', { name: 'reader' }).waitFor();
    await expect.poll(() => editor.textContent()).toBe('SHOW USERS');
  });

  test('users who sign out have to sign in again, and see their own data', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Sign out root' }).click();
    await signIn('reader', 'pw');
    await dialog().waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('button', { name: 'Sign out reader' }).waitFor();
    await page
      .getByLabel('Database')
      .getByRole('option', { name: 'house' })
      .waitFor({ state: 'attached' });
    await expect
      .poll(() => page.getByLabel('Database').getByRole('option').allTextContents())
      .toEqual(['house']);
  });

  test('rights hide what one cannot do', async () => {
    const { page } = visit;
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('listitem');
    await expect.poll(() => links.allTextContents()).not.toContain('Administration');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search commands').fill('admin');
    await page.getByText('No matches.').waitFor();
    await page.keyboard.press('Escape');
    await visit.show('tasks');
    await page.getByText('No tasks').waitFor();
    await page.getByRole('button', { name: 'New task' }).waitFor({ state: 'detached' });
    await visit.show('recordings');
    await page.getByText('No recordings').waitFor();
    expect(await page.getByRole('button', { name: 'Start recording' }).count()).toBe(0);
    await visit.show('start');
    await page.getByText('urls = [').waitFor();
    expect(await page.getByRole('button', { name: 'Load sample data' }).count()).toBe(0);
    await visit.show('admin');
    await page.getByText('Sign in as another user').waitFor();
    await visit.inspect('for-admins');
    expect(visit.faults).toEqual([]);
  });

  test('the output of nodes is not offered to users who may not read it', async () => {
    const { page } = visit;
    const task = {
      id: 'of-hidden',
      script: "stream|from().measurement('m')|httpOut('out')",
      dbrps: [{ db: 'hidden', rp: 'autogen' }],
      status: 'enabled',
    };
    const made = await send(`${visit.server.engine}/engine/v1/tasks`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa('root:pw')}` },
      body: JSON.stringify(task),
    });
    expect(made.status, made.text).toBe(200);
    const refused: string[] = [];
    const listen = (response: { status(): number; url(): string }): void => {
      if (response.status() === 403) refused.push(response.url());
    };
    page.on('response', listen);

    await visit.show('tasks?id=of-hidden&tab=pipeline');
    await page.getByRole('button', { name: /^http_out2/ }).click();

    await page.getByText('You need READ on all databases of the task').waitFor();
    expect(refused).toEqual([]);
    page.off('response', listen);
    expect(visit.faults).toEqual([]);
  });

  test('users without admin rights see dashboards, and keep statements of their own', async () => {
    const { page } = visit;
    const { tsdb } = visit.server;
    const put = (user: string, kind: string, id: string) =>
      send(`${tsdb}/api/documents?kind=${kind}&id=${id}&version=0`, {
        method: 'PUT',
        headers: { Authorization: `Basic ${btoa(`${user}:pw`)}` },
        body: JSON.stringify({
          title: id,
          content: { cells: [{ kind: 'note', note: 'for all' }], text: 'SHOW DATABASES' },
        }),
      });
    expect((await put('root', 'dashboards', 'shared')).status).toBe(201);
    expect((await put('root', 'queries', 'of-root')).status).toBe(201);
    expect((await put('reader', 'queries', 'of-reader')).status).toBe(201);
    await visit.show('dashboards');
    await page.getByText('Only administrators can edit').waitFor();
    await page.getByRole('link', { name: 'shared' }).click();
    await page.getByText('for all').waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await visit.show('explore');
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('button', { name: 'of-reader SHOW DATABASES' }).waitFor();
    expect(await page.getByRole('button', { name: /^of-root/ }).count()).toBe(0);
    expect(visit.faults).toEqual([]);
  });

  /** Pages and their parts, with something on each. */
  const WALKED = [
    '',
    'explore?db=house',
    'dashboards',
    'tasks',
    'tasks?id=hot',
    'tasks?id=hot&tab=versions',
    'tasks?tab=instances',
    'alerts',
    'alerts?tab=history',
    'alerts?tab=handlers',
    'alerts?tab=dead',
    'recordings',
    'start',
  ];

  /** Labels that begin with one of these change something that only admins may change. */
  const CHANGES =
    /^(?:add|back up|create|delete|disable|discard|drop|edit|enable|format|import|load|make|new|put|record|remove|replace|replay|restore|retry|save|start|take|test|try)\b/i;

  /** Refusals of the services while viewing pages, and the actions offered. */
  const walk = async (paths: readonly string[]) => {
    const { page } = visit;
    const refused: string[] = [];
    const listen = (response: { status(): number; url(): string }): void => {
      // Whether a service answers is asked of whoever it is.
      const isPing = response.url().endsWith('/ping');
      if (!isPing && [401, 403].includes(response.status())) refused.push(response.url());
    };
    page.on('response', listen);
    const offered: string[] = [];
    for (const path of paths) {
      await visit.show(path);
      await page.locator('main h1').waitFor();
      await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
      const names = await page
        .locator('main button')
        .evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent ?? ''));
      offered.push(...names.filter((name) => CHANGES.test(name)).map((name) => `${path}: ${name}`));
    }
    page.off('response', listen);
    return { refused, offered };
  };

  const become = async (user: string): Promise<void> => {
    await visit.page.getByRole('button', { name: /^Sign out/ }).click();
    await signIn(user, 'pw');
    await dialog().waitFor({ state: 'detached' });
  };

  test('readers are offered nothing that would be refused, on any page', async () => {
    const { engine } = visit.server;
    const headers = { Authorization: `Basic ${btoa('root:pw')}` };
    const define = async (path: string, json: object): Promise<void> => {
      const body = JSON.stringify(json);
      const answer = await send(`${engine}/engine/${path}`, { method: 'POST', headers, body });
      expect(answer.status, answer.text).toBeLessThan(300);
    };
    await define('v1/tasks', {
      id: 'hot',
      script: "stream|from().measurement('room')|alert().crit(lambda: TRUE).topic('heat')",
      dbrps: [{ db: 'house', rp: 'autogen' }],
    });
    await define('v1preview/alerts/topics/heat/handlers', {
      id: 'note',
      actions: [{ kind: 'publish', options: { topics: ['other'] } }],
    });

    const { refused, offered } = await walk(WALKED);

    expect(refused).toEqual([]);
    // These change nothing on a server, or what is the user's own.
    expect(offered.filter((name) => !/^explore|^start: (?:Copy|Make)/.test(name))).toEqual([]);
  });

  test('writers see the page for writing, with their databases', async () => {
    const { page } = visit;
    await visit.show('write');
    await page.getByRole('heading', { name: 'This page is for users who may write' }).waitFor();
    await become('writer');
    await page.reload();
    await expect
      .poll(() => page.getByLabel('Database').getByRole('option').allTextContents())
      .toEqual(['house']);
    await visit.show('recordings');
    await page.getByRole('heading', { name: 'users who may read a database' }).waitFor();
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('listitem');
    expect(await links.allTextContents()).not.toContain('Recordings');
  });

  test('to whom nothing was granted is told what to do', async () => {
    const { page } = visit;
    await become('newcomer');
    await page.reload();
    await page.getByText('Ask an administrator for a right on a database').waitFor();
    const { refused, offered } = await walk(['', 'tasks', 'alerts', 'dashboards', 'explore']);
    expect([refused, offered]).toEqual([[], []]);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('listitem');
    expect(await links.count()).toBe(0);
    await visit.inspect('no-rights');
    expect(visit.faults).toEqual([]);
  });

  test('before an engine alone, who is no admin there is offered nothing of an admin', async () => {
    const alone = await Visit.open({
      command: 'engine',
      args: ['--ui-bind', '127.0.0.1:0', '--http-auth-enabled', 'true', '--tsdb-url'].concat(
        visit.server.tsdb,
      ),
    });
    try {
      const { page } = alone;
      const asked = page.getByRole('dialog', { name: 'Sign in' });
      const enter = async (user: string): Promise<void> => {
        await asked.getByLabel('User').fill(user);
        await asked.getByLabel('Password').fill('pw');
        await asked.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: `Sign out ${user}` }).waitFor();
      };
      const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('listitem');
      const create = page.getByRole('button', { name: 'New task' });
      await alone.show('tasks');
      await enter('reader');
      await page.getByText('No tasks').waitFor();
      expect(await create.count()).toBe(0);
      expect(await links.allTextContents()).not.toContain('Administration');
      await alone.show('admin');
      await page.getByText('Sign in as another user').waitFor();
      await page.getByRole('button', { name: 'Sign out reader' }).click();
      await enter('root');
      await alone.show('tasks');
      await create.waitFor();
      expect(await links.allTextContents()).toContain('Administration');
      expect(alone.faults).toEqual([]);
    } finally {
      await alone.close();
    }
  });
});
