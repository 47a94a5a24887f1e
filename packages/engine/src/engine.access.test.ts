// What scripts and handlers may reach on the machine: programs, files to write, folders to read.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from './config.ts';
import { isTrusted } from './engine.ts';
import { startEngine } from './start-engine.ts';
import type { EngineService } from './start-engine.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let directory = '';
let engine: EngineService | undefined;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'engine-access-')));
  for (const name of ['in', 'out', 'in/side']) mkdirSync(join(directory, name));
  writeFileSync(join(directory, 'in/side/a.yml'), 'x: 1\n');
  symlinkSync(join(directory, 'out'), join(directory, 'in/link'));
});

afterEach(async () => {
  await engine?.close();
  engine = undefined;
  rmSync(directory, { recursive: true, force: true });
});

async function start(
  http: Record<string, unknown>,
  alert: Record<string, unknown> = {},
): Promise<void> {
  const values = {
    data_dir: join(directory, 'data'),
    stats: { enabled: false },
    task: { hosts: '0' },
    http,
    alert,
  };
  const { config, problems } = resolveEngineConfig([{ source: 'test', values }]);
  expect(problems).toEqual([]);
  engine = await startEngine(config, { log: quiet });
}

/** Why a definition is refused; `undefined` when it is accepted. */
async function post(path: string, body: object): Promise<string | undefined> {
  const port = new URL(engine?.url ?? '').port;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error?: string };
  if (response.status === 200) return undefined;
  expect(error).toMatch(/^[^\n]+$/);
  return error;
}

const handler = (kind: string, options: object): Promise<string | undefined> =>
  post('/engine/v1preview/alerts/topics/t/handlers', { id: 'h', kind, options });

/** Defined only, not enabled. */
const script = (text: string): Promise<string | undefined> =>
  post('/engine/v1/tasks', { dbrps: [{ db: 'd', rp: 'r' }], script: `stream|from()${text}` });

type Reach = { readonly program: string; readonly file: string; readonly folder: string };

/** Every way to reach something: by a handler of a topic, of a script, and by a node. */
async function refusals({ program, file, folder }: Reach): Promise<(string | undefined)[]> {
  const alert = '|alert().crit(lambda: TRUE)';
  const sideload = `|sideload().source('file://${folder}').order('a.yml').field('x', 0)`;
  return [
    await script(`${alert}.exec('${program}')`),
    await script(`${alert}.log('${file}')`),
    await script(sideload),
    await handler('exec', { prog: program }),
    await handler('log', { path: file }),
  ];
}

const LOOPBACK = { 'bind-address': '127.0.0.1:0' };
const OPEN = { 'bind-address': '0.0.0.0:0', 'insecure-no-auth': true };
const reach = (folder: string, program = '/bin/true'): Reach => ({
  program,
  file: join(directory, folder, 'alerts.log'),
  folder: join(directory, folder, folder === 'in' ? 'side' : ''),
});

describe('without patterns', () => {
  test('everything is reached on a loopback address', async () => {
    await start(LOOPBACK);

    const [exec, log, sideload, topicExec] = await refusals(reach('in'));

    expect([exec, log, sideload, topicExec]).toEqual(Array(4).fill(undefined));
  });

  test('nothing is reached on an open address, and definitions say why', async () => {
    await start(OPEN);

    const reasons = await refusals(reach('in'));

    expect(reasons).toHaveLength(5);
    for (const reason of reasons) expect(reason).toContain('not allowed to use /');
    expect(reasons[0]).toContain('setting=`alert.allowed-programs`');
    expect(reasons[2]).toContain('setting=`alert.allowed-files`');
  });

  test.each([
    [{ 'bind-address': '0.0.0.0:0', 'auth-enabled': true }, true],
    [{ 'bind-address': '[::1]:0' }, true],
    [OPEN, false],
    [{ 'bind-address': ':9092' }, false],
  ])('%j counts as closed to strangers: %s', (http, expected) => {
    const { config } = resolveEngineConfig([{ source: 'test', values: { http } }]);

    expect(isTrusted(config)).toBe(expected);
  });

  test('an open address takes functions from its configuration only', async () => {
    await start(OPEN);

    expect(await script('@anything()')).toContain('anything');
    const functions = await post('/engine/v1/config/udf-functions', { add: { name: 'anything' } });
    expect(functions).toContain('udf-functions');
  });
});

describe('with patterns', () => {
  const patterns = (): Record<string, unknown> => ({
    'allowed-programs': ['/bin/t*', `${directory}/in/**`],
    'allowed-files': [`${directory}/in/**`],
  });

  test.each([
    ['loopback', LOOPBACK],
    ['open', OPEN],
  ])('a server at a %s address reaches what fits', async (_kind, http) => {
    await start(http, patterns());

    const [exec, log, sideload, topicExec] = await refusals(reach('in'));

    expect([exec, log, sideload, topicExec]).toEqual(Array(4).fill(undefined));
  });

  test('and nothing else, neither by links nor by dots', async () => {
    await start(LOOPBACK, patterns());
    const dots = `${directory}/in/nowhere/../../out`;
    const ways = [
      reach('out', '/bin/sh'),
      reach('in/link', `${directory}/in/../out/run`),
      { program: '/bin/t/../sh', file: `${dots}/alerts.log`, folder: dots },
    ];

    for (const way of ways) {
      const reasons = await refusals(way);
      for (const reason of reasons) expect(reason, way.file).toContain('not allowed to use /');
    }
  });
});
