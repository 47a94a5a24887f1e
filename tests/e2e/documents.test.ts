// Documents of the web application: the same API in both services, durable over a crash.
import { Conflict, NotFound } from '@tidemark/core';
import { EngineClient, TsdbClient } from '@tidemark/client';
import { removeDirectory, send, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let server: Tidemark;
beforeAll(async () => {
  server = await startTidemark();
}, 60_000);
afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

const SERVICES = [
  ['the database', () => new TsdbClient({ url: server.tsdb }).documents, '/api/documents'],
  ['the engine', () => new EngineClient({ url: server.engine }).documents, '/engine/v1/documents'],
] as const;

const content = { cells: [{ text: 'größer < 3 & "so"' }] };

describe.each(SERVICES)('in %s', (service, documents, path) => {
  const base = () => (service === 'the database' ? server.tsdb : server.engine) + path;

  test('a document is stored, changed, listed and removed', async () => {
    const made = await documents().put('dashboards', 'a/b', {
      replaces: 0,
      title: 'First',
      content,
    });
    expect(made).toMatchObject({ kind: 'dashboards', id: 'a/b', version: 1, by: '' });
    await documents().put('dashboards', 'a/b', { replaces: 1, title: 'Second', content: null });

    expect(await documents().list('dashboards')).toMatchObject([{ title: 'Second', version: 2 }]);
    expect(await documents().list('queries')).toEqual([]);
    const before = await documents().get('dashboards', 'a/b', { version: 1 });
    expect(before).toMatchObject({ title: 'First', content, versions: [{ version: 2 }, {}] });

    const late = documents().put('dashboards', 'a/b', { replaces: 1, title: 'x', content });
    await expect(late).rejects.toThrow(Conflict);
    await documents().remove('dashboards', 'a/b', 2);
    await expect(documents().get('dashboards', 'a/b')).rejects.toThrow(NotFound);
  });

  test.each([
    ['GET', '?kind=unknown', '', 400, 'kind has to be one of dashboards, queries'],
    ['PUT', '?kind=queries&id=x', '{}', 400, 'version has to be'],
    ['PUT', '?kind=queries&version=0', '{}', 400, 'id has to be a text'],
    ['PUT', '?kind=queries&id=x&version=0', '{', 400, 'the body must be JSON'],
    ['PUT', '?kind=queries&id=x&version=0', '{"title":"x"}', 400, 'content is missing'],
    ['PUT', '?kind=queries&id=x&version=0', '{"content":1}', 400, 'title has to be a text'],
    ['PUT', '?kind=queries&id=x&version=0', `"${'x'.repeat(1 << 20)}"`, 400, 'at most 1048576'],
    ['PUT', '?kind=queries&id=x&version=7', '{"title":"x","content":1}', 409, 'deleted meanwhile'],
    ['DELETE', '?kind=queries&id=x&version=1', '', 404, 'does not exist'],
    ['GET', '?kind=queries&id=__proto__', '', 404, 'does not exist'],
  ])('%s %s with %j is refused', async (method, search, body, status, reason) => {
    const init = { method, ...(method === 'PUT' ? { body } : {}) };
    const answer = await send(base() + search, init);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(reason)]);
  });
});

test('acknowledged documents survive a crash', async () => {
  for (const [, documents] of SERVICES) {
    await documents().put('dashboards', 'kept', { replaces: 0, title: 'Kept', content });
    await documents().put('queries', 'kept', { replaces: 0, title: 'Kept', content });
  }
  await server.kill();
  server = await startTidemark({ directory: server.directory });
  for (const [, documents] of SERVICES) {
    expect(await documents().get('dashboards', 'kept')).toMatchObject({ version: 1, content });
    expect(await documents().list('queries')).toMatchObject([{ id: 'kept' }]);
  }
}, 60_000);
