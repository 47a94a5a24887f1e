// A page that an operator visits cannot affect the services on the same machine. A real browser, a
// real page of another origin, and names that resolve to loopback.

import {
  BROWSER_ARGUMENTS,
  eventually,
  hasPrograms,
  programPath,
  query,
  removeDirectory,
  send,
  startTidemark,
  TestServer,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

// Every name leads to this machine, as with a name server of the attacker's. Loopback pages may ask
// loopback, so that what stops a request here is not the browser.
const ATTACK_ARGUMENTS = [
  ...BROWSER_ARGUMENTS,
  '--host-resolver-rules=MAP *.example 127.0.0.1',
  // Frames of other sites in the same process, so that one session sees all requests of a page.
  '--disable-site-isolation-trials',
];

const FORM = 'application/x-www-form-urlencoded';
const TASK = JSON.stringify({
  id: 'planted',
  type: 'stream',
  status: 'enabled',
  dbrps: [{ db: 'house', rp: 'autogen' }],
  script: "stream|from()|alert().crit(lambda: TRUE).exec('/bin/true')",
});

const LAUNCH = { executablePath: programPath('chromium') ?? '', args: ATTACK_ARGUMENTS };

/** The possible actions of the attacker's page. */
const SCRIPT = `
  window.isForeign = true;
  function submitForm({ action, method, type, fields }) {
    const form = document.createElement('form');
    Object.assign(form, { action, method, enctype: type });
    for (const [name, value] of Object.entries(fields)) {
      form.append(Object.assign(document.createElement('input'), { name, value }));
    }
    document.body.append(form);
    form.submit();
  }
  function load(tag, src) {
    document.body.append(Object.assign(document.createElement(tag), { src }));
  }
  function follow(url) {
    location.href = url;
  }
`;

/** A page of the attacker's, and what came to its server. */
class ForeignSite {
  readonly requests: string[] = [];
  readonly #server = new TestServer(({ path, headers }) => {
    this.requests.push(`${path} ${headers.authorization ?? ''}`);
    return {
      headers: { 'Content-Type': 'text/html', 'Access-Control-Allow-Origin': '*' },
      body: `<title>kittens</title><script>${SCRIPT}</script>`,
    };
  });

  open(): Promise<void> {
    return this.#server.open();
  }

  get port(): number {
    return this.#server.port;
  }

  url(name = 'evil.example'): string {
    return `http://${name}:${this.port}/`;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** Records everything that crosses the network, including what the page cannot see. */
class Wire {
  readonly #urls = new Map<string, string>();
  readonly #statuses = new Map<string, number>();

  static async of(page: Page): Promise<Wire> {
    const wire = new Wire();
    const session = await page.context().newCDPSession(page);
    session.on('Network.requestWillBeSent', ({ requestId, request }) =>
      wire.#urls.set(requestId, request.url),
    );
    session.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) =>
      wire.#statuses.set(requestId, statusCode),
    );
    await session.send('Network.enable');
    return wire;
  }

  /** Status of the answer to a request, which is forgotten then. */
  status(url: string): Promise<number> {
    return eventually(`an answer of ${url}`, () => {
      for (const [id, asked] of this.#urls) {
        const status = this.#statuses.get(id);
        if (asked !== url || status === undefined) continue;
        this.#urls.delete(id);
        return Promise.resolve(status);
      }
      return Promise.resolve(undefined);
    });
  }
}

/** The request properties that a page's script can set. */
type PageRequest = {
  readonly method?: string;
  readonly mode?: 'no-cors';
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

/** The part of a response visible to a page's script; `unreadable` for most. */
async function fetchIn(page: Page, url: string, init: PageRequest = {}): Promise<string> {
  return page.evaluate(
    async ([target, options]) => {
      try {
        const answer = await fetch(target, options);
        return answer.type === 'opaque' ? 'unreadable' : `${answer.status} ${await answer.text()}`;
      } catch {
        return 'unreadable';
      }
    },
    [url, init] as const,
  );
}

/** Sends a form as the page, into its own window; the status that the browser got. */
async function submitForm(
  page: Page,
  form: {
    readonly action: string;
    readonly method?: 'GET' | 'POST';
    readonly type?: string;
    readonly fields: Readonly<Record<string, string>>;
  },
): Promise<number> {
  const answered = page.waitForResponse((response) => response.url().startsWith(form.action));
  const shown = page.waitForURL((url) => url.href.startsWith(form.action));
  const given = { method: 'POST', type: '', ...form };
  await page.evaluate(`submitForm(${JSON.stringify(given)})`);
  await shown;
  return (await answered).status();
}

describe.skipIf(!hasPrograms('chromium'))('a foreign page', () => {
  const site = new ForeignSite();
  let server: Tidemark;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let wire: Wire;

  beforeAll(async () => {
    await site.open();
    const board = `http://board.example:${site.port}`;
    const allowed = ['--database-http-allowed-origins', board];
    server = await startTidemark({ args: allowed });
    await query(server.tsdb, 'CREATE DATABASE house');
    await write(server.tsdb, 'house', 'room celsius=21.5 1');
    browser = await chromium.launch(LAUNCH);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
    await removeDirectory(server.directory);
    await site.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    wire = await Wire.of(page);
    await page.goto(site.url());
  });
  // Whatever was tried: nothing has changed.
  afterEach(async () => {
    await context.close();
    const rows = await query(server.tsdb, 'SELECT celsius FROM room', 'house');
    expect(rows[0]?.values).toHaveLength(1);
    expect((await send(`${server.engine}/engine/v1/tasks`)).text).toContain('"tasks":[]');
  });

  const local = (name: 'tsdb' | 'engine' | 'ui'): string =>
    server[name].replace('127.0.0.1', 'localhost');

  test('reads nothing', async () => {
    const select = '/query?db=house&q=SELECT+*+FROM+room';
    for (const url of [
      `${server.tsdb}${select}`,
      `${local('tsdb')}${select}`,
      `${server.ui}/api/tsdb${select}`,
      `${server.engine}/engine/v1/tasks`,
      `${server.engine}/engine/v1/debug/vars`,
      `${server.tsdb}/debug/vars`,
    ]) {
      expect(await fetchIn(page, url), url).toBe('unreadable');
      expect(await wire.status(url), url).toBe(403);
    }
  });

  test.each([
    ['as text', 'text/plain'],
    ['as a form', FORM],
  ])('runs no statement by a script, %s', async (_, type) => {
    for (const base of [server.tsdb, local('tsdb'), `${server.ui}/api/tsdb`]) {
      const url = `${base}/query?q=DROP+DATABASE+house`;
      await fetchIn(page, url, {
        method: 'POST',
        mode: 'no-cors',
        headers: { 'Content-Type': type },
        body: 'q=DROP DATABASE house',
      });
      expect(await wire.status(url), url).toBe(403);
    }
  });

  test('runs no statement by an image, a script, a frame or a link', async () => {
    const drop = '/query?q=DROP+DATABASE+house';
    for (const [i, tag] of (['img', 'script', 'iframe'] as const).entries()) {
      for (const base of [server.tsdb, `${server.ui}/api/tsdb`]) {
        const url = `${base}${drop}&i=${i}`;
        await page.evaluate(`load(${JSON.stringify(tag)}, ${JSON.stringify(url)})`);
        expect(await wire.status(url), url).toBe(403);
      }
    }
    const fields = { q: 'DROP DATABASE house' };
    const action = `${server.tsdb}/query`;
    expect(await submitForm(page, { action, method: 'GET', fields })).toBe(403);
    await page.goto(site.url());
    const answered = page.waitForResponse(`${server.tsdb}${drop}`);
    await page.evaluate(`follow(${JSON.stringify(server.tsdb + drop)})`);
    expect((await answered).status()).toBe(403);
  });

  test('runs no statement by an address that was typed', async () => {
    const answer = await page.goto(`${server.tsdb}/query?q=DROP+DATABASE+house`);
    expect([answer?.status(), await answer?.text()]).toEqual([
      400,
      expect.stringContaining('please use a POST request'),
    ]);
  });

  test.each([
    ['a form', FORM],
    ['a form of files', 'multipart/form-data'],
    ['a form of text', 'text/plain'],
  ])('changes nothing by %s', async (_, type) => {
    const fields = { q: 'DROP DATABASE house' };
    expect(await submitForm(page, { action: `${server.tsdb}/query`, type, fields })).toBe(403);
    await page.goto(site.url());
    // `{"id": …, "x": "` and `=` and `"}`: JSON in the shape of a form field.
    const json = { [`${TASK.slice(0, -1)},"x":"`]: '"}' };
    const action = `${server.engine}/engine/v1/tasks`;
    expect(await submitForm(page, { action, type, fields: json })).toBe(403);
    await page.goto(site.url());
    const forwarded = `${server.ui}/api/engine/engine/v1/tasks`;
    expect(await submitForm(page, { action: forwarded, type, fields: json })).toBe(403);
  });

  test('defines no task by a script', async () => {
    for (const base of [server.engine, local('engine'), `${server.ui}/api/engine`]) {
      for (const path of ['/engine/v1/tasks', '/kapacitor/v1/tasks']) {
        const url = base + path;
        await fetchIn(page, url, { method: 'POST', mode: 'no-cors', body: TASK });
        expect(await wire.status(url), url).toBe(403);
        // With a type of its own the browser asks first, and is told no.
        const headers = { 'Content-Type': 'application/json' };
        expect(await fetchIn(page, url, { method: 'POST', headers, body: TASK })).toBe(
          'unreadable',
        );
      }
    }
  });

  test('shows the application in no frame', async () => {
    const url = `${server.ui}/`;
    await page.evaluate(`load('iframe', ${JSON.stringify(url)})`);
    expect(await wire.status(url)).toBe(403);
    // If no header identifies a foreign page, the application's own policy decides.
    const policy = (await send(url)).headers.get('content-security-policy');
    expect(policy).toContain("frame-ancestors 'none'");
  });

  test('is not served under a name that leads to this machine', async () => {
    for (const name of ['tsdb', 'engine', 'ui'] as const) {
      const rebound = server[name].replace('127.0.0.1', 'rebound.example');
      const answer = await page.goto(`${rebound}/query?q=SHOW+DATABASES`);
      expect([name, answer?.status()]).toEqual([name, 421]);
      // From that origin, as after DNS rebinding: everything is same-origin.
      for (const path of ['/query', '/api/tsdb/query', '/engine/v1/tasks']) {
        const told = await fetchIn(page, rebound + path, {
          method: 'POST',
          headers: { 'Content-Type': FORM },
          body: name === 'engine' ? TASK : 'q=DROP DATABASE house',
        });
        expect(told, rebound + path).toMatch(/^421 /);
      }
    }
  });

  test('is not reached through the server of the application', async () => {
    const before = site.requests.length;
    const host = `127.0.0.1:${site.port}`;
    await page.goto(server.ui);
    for (const path of [`//${host}/x`, `/\\\\${host}/x`, `/@${host}/`, `/%5c%5c${host}/x`]) {
      for (const prefix of ['/api/tsdb', '/api/engine']) {
        const told = await fetchIn(page, `${server.ui}${prefix}${path}`, {
          headers: { Authorization: 'Basic c2VjcmV0' },
        });
        expect(told, prefix + path).not.toContain('kittens');
        await page.goto(`${server.ui}${prefix}${path}`);
        expect(await page.evaluate("'isForeign' in window")).toBe(false);
      }
      await page.goto(server.ui);
    }
    expect(site.requests.slice(before).filter((seen) => !seen.includes('favicon'))).toEqual([]);
  });

  test('uses the API when its origin is listed, and only there', async () => {
    await page.goto(site.url('board.example'));
    const read = `${server.tsdb}/query?db=house&q=SELECT+celsius+FROM+room`;
    const headers = { Authorization: 'Token any:thing' };
    expect(await fetchIn(page, read, { headers })).toMatch(/^200 .*21\.5/s);
    expect(await fetchIn(page, `${server.engine}/engine/v1/tasks`)).toBe('unreadable');
  });
});

describe.skipIf(!hasPrograms('chromium'))('with a password that the browser remembers', () => {
  const site = new ForeignSite();
  const admin = { Authorization: `Basic ${Buffer.from('root:pw').toString('base64')}` };
  let server: Tidemark;
  let browser: Browser;

  beforeAll(async () => {
    await site.open();
    server = await startTidemark({
      args: ['--database-http-auth-enabled', 'true', '--engine-http-auth-enabled', 'true'],
    });
    const statement = "CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES";
    await query(server.tsdb, statement);
    browser = await chromium.launch(LAUNCH);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
    await removeDirectory(server.directory);
    await site.close();
  });

  test('a foreign page makes no user and no task, and shuts nobody out', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    for (const [url, path] of [
      [server.tsdb, '/query?q=SHOW+USERS'],
      [server.engine, '/engine/v1/tasks'],
    ] as const) {
      const known = url.replace('http://', 'http://root:pw@');
      expect((await page.goto(known + path))?.status()).toBe(200);
      // Without it in the address the browser sends it by itself.
      expect((await page.goto(url + path))?.status()).toBe(200);
    }

    await page.goto(site.url());
    const fields = { q: "CREATE USER mallory WITH PASSWORD 'x' WITH ALL PRIVILEGES" };
    const action = `${server.tsdb}/query`;
    expect(await submitForm(page, { action, fields })).toBe(403);
    await page.goto(site.url());
    const options = {
      method: 'POST',
      mode: 'no-cors',
      credentials: 'include',
      body: TASK,
    } as const;
    await fetchIn(page, `${server.engine}/engine/v1/tasks`, options);
    for (let i = 0; i < 110; i++) {
      await fetchIn(page, `${server.tsdb}/query?q=SHOW+USERS&u=user${i}&p=x`, {
        mode: 'no-cors',
      });
    }
    await context.close();

    const users = await send(`${server.tsdb}/query?q=SHOW+USERS`, { headers: admin });
    expect([users.status, users.text.includes('mallory')]).toEqual([200, false]);
    const tasks = await send(`${server.engine}/engine/v1/tasks`, { headers: admin });
    expect(tasks.text).toContain('"tasks":[]');
  });
});
