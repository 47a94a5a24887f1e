// `tidemark engine import --from`: the command from its arguments to its exit status, between two
// running engines. The tests of packages/engine/src/import cover the conversion of a Kapacitor's
// responses.

import { removeDirectory, startTidemark, TestServer, write } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runInProcess } from './in-process.ts';

const SCRIPT = `// kept as it is
stream|from().measurement('m').groupBy('h')|alert().id('{{ index .Tags "h" }}').crit(lambda: "v" > 5).topic('cpu')`;
const DBRPS = [{ db: 'd', rp: 'r' }];

async function post(engine: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(engine + path, { method: 'POST', body: JSON.stringify(body) });
  expect(response.status, await response.text()).toBe(200);
}

async function get(engine: string, path: string): Promise<any> {
  return (await fetch(engine + path)).json();
}

/**
 * A server under the older base path with one task, whose script has a node that does not exist.
 */
async function openKapacitor(): Promise<TestServer> {
  const odd = { id: 'odd', type: 'stream', dbrps: DBRPS, vars: {}, status: 'disabled' };
  const answers: Readonly<Record<string, unknown>> = {
    '/kapacitor/v1/ping': {},
    '/kapacitor/v1/templates': { templates: [] },
    '/kapacitor/v1/tasks': { tasks: [{ id: 'odd' }] },
    '/kapacitor/v1/tasks/odd': { ...odd, script: 'stream|unknown()' },
    '/kapacitor/v1preview/alerts/topics': { topics: [] },
  };
  const server = new TestServer(({ path }) => {
    const answer = answers[path.replace(/\?.*/, '')];
    return { status: answer === undefined ? 404 : 200, body: JSON.stringify(answer ?? {}) };
  });
  await server.open();
  return server;
}

describe('tidemark engine import', () => {
  let old: Tidemark;
  let engine: Tidemark;

  beforeAll(async () => {
    [old, engine] = await Promise.all([
      startTidemark({ command: 'engine' }),
      startTidemark({ command: 'engine' }),
    ]);
    await post(old.engine, '/engine/v1/templates', {
      id: 'tpl',
      type: 'stream',
      script: 'var limit = 5\nstream|from().where(lambda: "v" > limit)',
    });
    await post(old.engine, '/engine/v1/tasks', {
      id: 'made',
      'template-id': 'tpl',
      dbrps: DBRPS,
      vars: { limit: { type: 'int', value: 7 } },
    });
    await post(old.engine, '/engine/v1/tasks', {
      id: 'own',
      dbrps: DBRPS,
      script: SCRIPT,
      status: 'enabled',
    });
    await post(old.engine, '/engine/v1preview/alerts/topics/cpu/handlers', {
      id: 'ops',
      kind: 'tcp',
      options: { address: '127.0.0.1:9' },
      match: 'changed() == TRUE',
    });
    await write(old.engine, 'd', 'm,h=a v=9 1704067200000000000', { rp: 'r' });
  }, 120_000);

  afterAll(async () => {
    await Promise.all([old.stop(), engine.stop()]);
    await Promise.all([removeDirectory(old.directory), removeDirectory(engine.directory)]);
  });

  function runImport(...flags: string[]): ReturnType<typeof runInProcess> {
    const from = flags.includes('--from') ? [] : ['--from', old.engine];
    return runInProcess(['engine', 'import', ...from, '--url', engine.engine, ...flags]);
  }

  test('a dry run says what there is and changes nothing', async () => {
    const { status, stdout, stderr } = await runImport('--dry-run');

    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('1 templates, 2 tasks, 1 handlers, 1 events; 0 failed');
    expect((await get(engine.engine, '/engine/v1/tasks')).tasks).toEqual([]);
  }, 60_000);

  test('definitions, handlers and states arrive; the report is a table or JSON', async () => {
    const { status, stdout, stderr } = await runImport();
    const again = await runImport('--json', '--pattern', 'own');

    expect([status, stderr]).toEqual([0, '']);
    const rows = stdout
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([kind]) => ['template', 'task', 'handler'].includes(kind ?? ''));
    expect(rows.map((row) => row.slice(0, 3).join(' ')).toSorted()).toEqual([
      'handler cpu/ops created',
      'task made created',
      'task own created',
      'template tpl created',
    ]);
    expect(stdout).toContain('1 templates, 2 tasks, 1 handlers, 1 events; 0 failed');
    expect(await get(engine.engine, '/engine/v1/tasks/own?script-format=raw')).toMatchObject({
      script: SCRIPT,
      status: 'enabled',
      executing: true,
      dbrps: DBRPS,
    });
    expect(await get(engine.engine, '/engine/v1/tasks/made')).toMatchObject({
      'template-id': 'tpl',
      vars: { limit: { type: 'int', value: 7 } },
    });
    const preview = '/engine/v1preview/alerts/topics/cpu';
    expect(await get(engine.engine, `${preview}/handlers/ops`)).toMatchObject({
      kind: 'tcp',
      match: 'changed() == TRUE',
    });
    const { events } = await get(engine.engine, `${preview}/events`);
    expect(events).toMatchObject([{ id: 'a', state: { level: 'CRITICAL' } }]);
    expect(again.status).toBe(0);
    expect(JSON.parse(again.stdout)).toContainEqual({
      kind: 'task',
      id: 'own',
      outcome: 'unchanged',
      note: '',
    });
  }, 60_000);

  test('a definition that differs is kept and makes the exit status 1, unless it is to be overwritten', async () => {
    const change = { status: 'disabled' };
    await fetch(`${engine.engine}/engine/v1/tasks/own`, {
      method: 'PATCH',
      body: JSON.stringify(change),
    });
    const kept = await runImport();
    const replaced = await runImport('--overwrite');

    expect([kept.status, kept.stderr]).toEqual([1, '']);
    expect(kept.stdout).toMatch(/^task +own +kept +differs in status$/m);
    expect(kept.stdout).toContain('1 templates, 2 tasks (1 kept), 1 handlers, 1 events; 0 failed');
    expect([replaced.status, replaced.stderr]).toEqual([0, '']);
    expect(replaced.stdout).toMatch(/^task +own +replaced +differs in status$/m);
    expect(await get(engine.engine, '/engine/v1/tasks/own')).toMatchObject({ executing: true });
  }, 60_000);

  test('definitions that could not be copied are reported with exit status 1, as is an unreachable server', async () => {
    const kapacitor = await openKapacitor();
    const odd = await runImport('--from', kapacitor.url);
    await kapacitor.close();
    const absent = await runInProcess([
      'engine',
      'import',
      '--from',
      'http://127.0.0.1:1',
      '--url',
      engine.engine,
    ]);

    expect([odd.status, odd.stderr]).toEqual([1, '']);
    expect(odd.stdout).toMatch(/^task\s+odd\s+failed\s.*unknown/m);
    expect(odd.stdout).toContain('0 templates, 0 tasks, 0 handlers, 0 events; 1 failed');
    expect([absent.status, absent.stdout]).toEqual([1, '']);
    expect(absent.stderr).toContain('http://127.0.0.1:1 does not answer');
    const wrong = await runInProcess(['engine', 'import', '--url', engine.engine]);
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toContain('--from');
  }, 60_000);
});
