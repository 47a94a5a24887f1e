// Every verb that talks to the task engine, row by row of command-line-verbs.ts, against a real
// engine and database: table, JSON, globs, exit statuses 0, 1 and 2.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { wholeProgram } from '@tidemark/cli';
import {
  eventually,
  query,
  removeDirectory,
  startTidemark,
  TestServer,
  write,
} from '@tidemark/testkit';
import type { RunResult, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { VERBS } from './command-line-verbs.ts';
import type { VerbRow } from './command-line-verbs.ts';
import { runInProcess } from './in-process.ts';

const STREAM = `stream|from().measurement('cpu')|log()|httpOut('latest')|alert().crit(lambda: "usage" > 90)`;
const BATCH = `batch
    |query('SELECT mean("usage") AS usage FROM "metrics"."autogen"."cpu"').period(10m).every(5m)
    |httpOut('means')
`;
const TEMPLATE = `var measurement string
var limit = 10.0
stream|from().measurement(measurement)|where(lambda: "usage" > limit)`;
const LOG_HANDLER = '"kind":"log","options":{"path":"/dev/null"}';

const TASK_TEST = "script\n    stream|from()|httpOut('o')\nwrite\n    m v=1 1704067200\nemits o\n";
const EMITTED = '{"columns":["time","v"],"name":"m","values":[["2024-01-01T00:00:00Z",1]]}';

/** A port on which nothing listens. */
const NOBODY = 'http://127.0.0.1:2';

const FILES: Readonly<Record<string, string>> = {
  'cpu.tick': STREAM,
  'means.tick': BATCH,
  'above.tick': TEMPLATE,
  'broken.tick': 'stream|from(',
  'verb.yaml': 'dbrps:\n  - metrics.autogen\n  - \'"metrics"."week"\'\n',
  'wrong.yaml': 'templateid: above\n',
  'verb-handler.yaml': 'topic: verbs\nid: noted\nkind: log\noptions:\n  path: /dev/null\n',
  'verb-handler2.json': `{"topic":"verbs","id":"noted2",${LOG_HANDLER}}`,
  'pigeon.json': '{"topic":"verbs","id":"p","kind":"carrierPigeon","options":{}}',
  'nameless.json': `{"topic":"verbs",${LOG_HANDLER}}`,
  'pushed/templates/pushed_above.tick': TEMPLATE,
  'pushed/tasks/means.tick': BATCH,
  'pushed/tasks/pushed.yml':
    'template-id: pushed_above\ndbrps: [metrics.autogen]\nvars:\n  measurement: {type: string, value: cpu}\n',
  'pushed/handlers/pushed.yaml': 'topic: pushed\nkind: log\noptions: {path: /dev/null}\n',
  'pushed_wrong/tasks/broken.tick': 'stream|from(',
  'tests/fine.task-test': `${TASK_TEST}    ${EMITTED}\n`,
  'tests/failing.task-test': TASK_TEST,
};

let server: Tidemark;

const file = (name: string): string => join(server.directory, name);

beforeAll(async () => {
  server = await startTidemark({
    environment: { TIDEMARK_ENGINE_ALERT_ALLOWED_FILES: '/**' },
  });
  vi.stubEnv('TIDEMARK_ENGINE_URL', server.engine);
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(file(name)), { recursive: true });
    await writeFile(file(name), text);
  }
  await query(server.tsdb, 'CREATE DATABASE metrics');
  const now = Date.now();
  const lines = Array.from({ length: 20 }, (_, i) => `cpu usage=${i} ${now - i * 60_000}`);
  await write(server.tsdb, 'metrics', lines.join('\n'), { precision: 'ms' });
  for (const line of [
    'task define cpu_hot --script {cpu.tick} --dbrp metrics.autogen',
    'task define means --script {means.tick} --dbrp metrics.autogen',
    'task enable cpu_hot means',
  ]) {
    await succeed(line);
  }
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
  await removeDirectory(server.directory);
});

/** The words of a line of the table. */
function wordsOf(line: string): readonly string[] {
  return line
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => word.replaceAll('|', ' '))
    .map((word) => word.replace(/^\{([\w./-]+)\}$/, (_, name: string) => pathOf(name)));
}

const pathOf = (name: string): string => (name === 'engine' ? server.engine : file(name));

const tidemark = (line: string, ...more: string[]): Promise<RunResult> =>
  runInProcess([...wordsOf(line), ...more]);

/** Runs a command that must succeed; its output. */
async function succeed(line: string, ...more: string[]): Promise<string> {
  const result = await tidemark(line, ...more);
  expect(result, line).toMatchObject({ status: 0, stderr: '' });
  return result.stdout;
}

/** Like `succeed`; writes points as long as the command follows a log or a tap. */
function succeedWithPoints(line: string, ...more: string[]): Promise<string> {
  const following = succeed(line, ...more);
  return eventually('the end of following', async () => {
    await write(server.engine, 'metrics', 'cpu usage=97', { rp: 'autogen' });
    return Promise.race([following, sleep(20, undefined)]);
  });
}

const firstColumn = (table: string): readonly string[] =>
  table
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/)[0] ?? '');

const idsOf = (json: string): readonly string[] =>
  (JSON.parse(json) as { ids: readonly string[] }).ids;

/**
 * Paths of all commands that have no subcommands and talk to an engine, by their own names.
 * `engine drain`, `engine join` and `engine leave` need a cluster: `engine-cluster.long.test.ts`
 * and `lost-coordinator.long.test.ts` of the engine have them.
 */
async function verbsOfEngine(): Promise<readonly string[]> {
  const { commands } = await wholeProgram();
  const others = ['up', 'tsdb', 'cluster', 'engine-cluster', 'config', 'shell', 'completion'];
  return commands
    .filter((group) => !others.includes(group.name()))
    .flatMap((group) => group.commands.map((verb) => `${group.name()} ${verb.name()}`))
    .filter((verb) => !['engine drain', 'engine join', 'engine leave'].includes(verb));
}

test('the table has every verb, and no others', async () => {
  expect(Object.keys(VERBS).toSorted()).toEqual((await verbsOfEngine()).toSorted());
});

describe.each(Object.entries(VERBS))('%s', (verb, row: VerbRow) => {
  async function prepare(): Promise<void> {
    for (const line of row.before ?? []) await succeed(line);
  }
  const run = row.isFollowing === true ? succeedWithPoints : succeed;

  test('succeeds and prints', async () => {
    await prepare();
    const printed = await run(`${verb} ${row.ok}`);
    if (row.prints === undefined) expect(printed).toBe('');
    else expect(printed).toMatch(row.prints);
  });

  test('prints JSON', async () => {
    await prepare();
    const printed = await run(`${verb} ${row.okForJson ?? row.ok}`, '--json');
    const value: unknown = JSON.parse(printed);
    if (Array.isArray(row.json)) expect(value).toMatchObject(row.json);
    else expect({ value }).toMatchObject({ value: row.json });
  });

  if (row.glob !== undefined) {
    const { args, ids } = row.glob;
    test('takes globs', async () => {
      await prepare();
      const isTable = row.prints !== undefined;
      const printed = await succeed(`${verb} ${args}`, ...(isTable ? [] : ['--json']));
      const found = isTable ? firstColumn(printed) : idsOf(printed);
      expect(found.toSorted()).toEqual(ids.toSorted());
    });
  }

  if (row.emptyGlob !== undefined) {
    test('a glob that matches nothing', async () => {
      const result = await tidemark(`${verb} ${row.emptyGlob}`);
      if (verb.endsWith(' list')) {
        expect(result).toMatchObject({ status: 0, stderr: '' });
        expect(firstColumn(result.stdout)).toEqual([]);
      } else {
        expect(result).toMatchObject({ status: 1, stdout: '' });
        expect(result.stderr).toMatch(/^tidemark: no [\w ]+ matches /);
      }
    });
  }

  if (row.refused !== undefined) {
    test('a refusal is a sentence and status 1', async () => {
      const { status, stderr, stdout } = await tidemark(`${verb} ${row.refused}`);
      expect({ status, stdout }, stderr).toMatchObject({ status: 1 });
      expect(stderr).not.toContain('    at ');
      if (stdout === '') expect(stderr).toMatch(/^tidemark: \S/);
    });
  }

  test('an engine that does not answer is status 1', async () => {
    if (row.isLocal === true) return;
    const { status, stderr } = await tidemark(`${verb} ${row.ok}`, '--url', NOBODY);
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`${NOBODY} does not answer`) as unknown,
    });
  });

  test.each([...row.wrong, `${row.ok} --no-such-option`])('wrong usage: %s', async (args) => {
    const { status, stdout, stderr } = await tidemark(`${verb} ${args}`);
    expect({ status, stdout }, stderr).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^(error|tidemark): \S/);
    expect(stderr).not.toContain('    at ');
  });

  test('--help names every argument and option, and prints to standard output', async () => {
    const help = await succeed(`${verb} --help`);
    expect(help).toContain(`Usage: tidemark ${verb}`);
    expect(help).toContain('--json');
    expect(help).toContain(`Examples:\n  $ tidemark `);
  });
});

describe('what does not exist', () => {
  test.each([
    ['tsak list', "error: unknown command 'tsak'\n(Did you mean task?)\n"],
    ['task lisst', "error: unknown command 'lisst'\n(Did you mean list?)\n"],
    ['engine lgos', "error: unknown command 'lgos'\n(Did you mean logs?)\n"],
    ['tsdb verfy', "error: unknown command 'verfy'\n(Did you mean verify?)\n"],
    ['task list --jsn', "error: unknown option '--jsn'\n(Did you mean --json?)\n"],
    ['engine --bnd', "error: unknown option '--bnd'\n(Did you mean --bind?)\n"],
  ])('%s: status 2 and a suggestion', async (line, stderr) => {
    expect(await tidemark(line)).toEqual({ status: 2, stdout: '', stderr });
  });

  test.each(['task', 'recording', 'handler'])('%s alone shows its verbs', async (line) => {
    const { status, stdout, stderr } = await tidemark(line);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`Usage: tidemark ${line}`);
  });
});

describe('who asks', () => {
  const seen: (string | undefined)[] = [];
  const front = new TestServer(({ headers }) => {
    seen.push(headers.authorization);
    return { body: '{"tasks":[],"templates":[],"topics":[]}' };
  });
  let address = '';

  beforeAll(async () => {
    await front.open();
    address = `127.0.0.1:${front.port}`;
  });

  afterAll(() => front.close());

  const basic = `Basic ${Buffer.from('ann:p:w').toString('base64')}`;

  test.each([
    ['task list', undefined],
    ['task list --token tmk_1', 'Bearer tmk_1'],
    ['-token=tmk_1 list tasks', 'Bearer tmk_1'],
  ])('%s', async (line, authorization) => {
    await succeed(line, '--url', address);
    expect(seen.pop()).toBe(authorization);
  });

  test('user and password of the address, and the token of the environment', async () => {
    await succeed('task list', '--url', `http://ann:p%3Aw@${address}`);
    expect(seen.pop()).toBe(basic);
    vi.stubEnv('TIDEMARK_ENGINE_TOKEN', 'tmk_2');
    await succeed(`engine import --from http://${address} --dry-run`, '--url', address);
    expect(seen).toContain('Bearer tmk_2');
    vi.stubEnv('TIDEMARK_ENGINE_TOKEN', undefined);
  });
});
