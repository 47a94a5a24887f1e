// Resources of the machine that scripts and handlers may access: programs, files to write, folders
// to read, secrets by reference. Every kind of server with and without patterns, each started once.
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { isTrusted } from '../config/exposure.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../engine-service.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const SHARED_SECRET = 'signs-tokens';

const LOOPBACK = { 'bind-address': '127.0.0.1:0' };
const AUTHENTICATED = {
  'bind-address': '0.0.0.0:0',
  'auth-enabled': true,
  'shared-secret': SHARED_SECRET,
  'token-admins': ['u'],
};
const OPEN = { 'bind-address': '0.0.0.0:0', 'insecure-no-auth': true };

let directory = '';
let engine: EngineService | undefined;

beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'engine-access-')));
  for (const name of ['in', 'out', 'in/side']) mkdirSync(join(directory, name));
  for (const name of ['in/side/a.yml', 'out/a.yml']) writeFileSync(join(directory, name), 'x: 1\n');
  for (const name of ['in/secret', 'out/secret']) writeFileSync(join(directory, name), 'x');
  symlinkSync(join(directory, 'out'), join(directory, 'in/link'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** One server for the tests of a block. */
function serve(http: object, alert: () => object = () => ({})): void {
  beforeAll(async () => {
    const values = {
      data_dir: join(directory, 'data'),
      stats: { enabled: false },
      task: { hosts: '0' },
      alerta: { enabled: true, url: 'http://127.0.0.1:9', token: 't', environment: 'e' },
      http,
      alert: alert(),
    };
    const { config, problems } = resolveEngineConfig([{ source: 'test', values }]);
    expect(problems).toEqual([]);
    const environment = { ALERT_TOKEN: 'a', OTHER: 'b' };
    engine = await startEngine(config, { log: quiet, environment });
  });
  afterAll(async () => {
    await engine?.close();
    rmSync(join(directory, 'data'), { recursive: true, force: true });
  });
}

function token(username = 'u'): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const text = `${encode({ alg: 'HS256' })}.${encode({ username, exp })}`;
  return `${text}.${createHmac('sha256', SHARED_SECRET).update(text).digest('base64url')}`;
}

async function send(
  path: string,
  body: object,
  authorization = `Bearer ${token()}`,
): Promise<Response> {
  const port = new URL(engine?.url ?? '').port;
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { Authorization: authorization },
    body: JSON.stringify(body),
  });
}

/** Why a definition is refused; `undefined` when it is accepted. */
async function post(path: string, body: object): Promise<string | undefined> {
  const response = await send(path, body);
  const { error } = (await response.json()) as { error?: string };
  if (response.status === 200) return undefined;
  expect(error).toMatch(/^[^\n]+$/);
  return error;
}

let count = 0;
const handler = (kind: string, options: object): Promise<string | undefined> =>
  post('/engine/v1preview/alerts/topics/t/handlers', { id: `h${count++}`, kind, options });

/** Defined only, not enabled. */
const script = (text: string): Promise<string | undefined> =>
  post('/engine/v1/tasks', { dbrps: [{ db: 'd', rp: 'r' }], script: `stream|from()${text}` });

type Reach = {
  readonly program: string;
  readonly file: string;
  readonly folder: string;
  readonly secrets: readonly string[];
};

/**
 * Every way to reach something: by a handler of a topic, of a script, by a node, by a change of the
 * configuration.
 */
async function refusals({
  program,
  file,
  folder,
  secrets,
}: Reach): Promise<(string | undefined)[]> {
  const alert = '|alert().crit(lambda: TRUE)';
  const sideload = `|sideload().source('file://${folder}').order('a.yml').field('x', 0)`;
  const reasons = [
    await script(`${alert}.exec('${program}')`),
    await script(`${alert}.log('${file}')`),
    await script(sideload),
    await handler('exec', { prog: program }),
    await handler('log', { path: file }),
    await post('/engine/v1/config/httppost/example', {
      set: { 'alert-template-file': join(folder, 'a.yml') },
    }),
  ];
  for (const reference of secrets) {
    reasons.push(
      await script(`${alert}.alerta().resource('r').event('e').token('${reference}')`),
      await script(`|httpPost('http://127.0.0.1:9').header('Authorization', '${reference}')`),
      await handler('alerta', { resource: 'r', event: 'e', token: reference }),
      await post('/engine/v1/config/alerta/', { set: { token: reference } }),
    );
  }
  return reasons;
}

const reach = (folder: string, program = '/bin/true', variable = 'ALERT_TOKEN'): Reach => ({
  program,
  file: join(directory, folder, 'alerts.log'),
  folder: join(directory, folder, folder === 'in' ? 'side' : ''),
  secrets: [`env:${variable}`, `file:${join(directory, folder, 'secret')}`],
});

describe.each([
  ['loopback', LOOPBACK],
  ['authenticated', AUTHENTICATED],
  ['open', OPEN],
])('a server that is %s, without patterns', (_kind, http) => {
  serve(http);

  test('reaches nothing, and refusals say what to write', async () => {
    const reasons = await refusals(reach('in'));

    expect(reasons).toHaveLength(14);
    for (const reason of reasons) expect(reason).toMatch(/not allowed to use (\/|env:|file:)/);
    const { file, folder } = reach('in');
    const section = "write into the section [alert] of the engine's configuration: ";
    expect(reasons[0]).toContain(`${section}allowed-programs = ["/bin/true"]`);
    expect(reasons[1]).toContain(`${section}allowed-files = ["${file}"]`);
    expect(reasons[2]).toContain(`${section}allowed-files = ["${folder}"]`);
    expect(reasons[6]).toContain(`${section}allowed-secrets = ["env:ALERT_TOKEN"]`);
  });

  test('takes functions from its configuration only', async () => {
    expect(await script('@anything()')).toContain('anything');
    const functions = await post('/engine/v1/config/udf-functions', { add: { name: 'anything' } });
    expect(functions).toContain('udf-functions');
  });
});

describe('an authenticated server without a database', () => {
  serve(AUTHENTICATED);

  test('knows nobody but the users whom its configuration names', async () => {
    const path = '/engine/v1preview/alerts/topics/t/handlers';
    const body = { id: 'x', kind: 'post', options: { url: 'http://127.0.0.1:9' } };

    expect((await send(path, body, `Bearer ${token('other')}`)).status).toBe(401);
    expect((await send(path, body, 'Token tmk_any')).status).toBe(401);
    expect((await send(path, body, 'Token u:u')).status).toBe(401);
    expect((await send(path, body, `Bearer ${token()}`)).status).toBe(200);
  });
});

describe('a server whose configuration has the lines that refusals told', () => {
  serve(LOOPBACK, () => {
    const here = reach('in');
    return {
      'allowed-programs': ['/bin/other', '/bin/true'],
      'allowed-files': [here.file, here.folder, join(here.folder, 'a.yml')],
      'allowed-secrets': here.secrets,
    };
  });

  test('reaches just that', async () => {
    expect(await refusals(reach('in'))).toEqual(Array(14).fill(undefined));
    expect(await handler('exec', { prog: '/bin/sh' })).toContain(
      'allowed-programs = ["/bin/other", "/bin/true", "/bin/sh"]',
    );
  });
});

describe.each([
  ['loopback', LOOPBACK],
  ['authenticated', AUTHENTICATED],
  ['open', OPEN],
])('a server that is %s, with patterns', (kind, http) => {
  serve(http, () => ({
    'allowed-programs': ['/bin/t*', `${directory}/in/**`],
    'allowed-files': [`${directory}/in/**`],
    'allowed-secrets': ['env:ALERT_*', `file:${directory}/in/**`],
  }));

  test('reaches what fits', async () => {
    expect(await refusals(reach('in'))).toEqual(Array(14).fill(undefined));
  });

  test('and nothing else, neither by links nor by dots', async () => {
    const dots = `${directory}/in/nowhere/../../out`;
    const ways = [
      reach('out', '/bin/sh', 'OTHER'),
      reach('in/link', `${directory}/in/../out/run`, 'alert_token'),
      {
        program: '/bin/t/../sh',
        file: `${dots}/alerts.log`,
        folder: dots,
        secrets: [`file:${dots}/secret`],
      },
    ];

    for (const way of ways) {
      const reasons = await refusals(way);
      for (const reason of reasons) expect(reason, way.file).toContain('not allowed to use ');
    }
  });

  test('asks who it is that defines something when it knows its users', async () => {
    const path = '/engine/v1preview/alerts/topics/t/handlers';
    const answer = await send(path, { id: 'x', kind: 'exec', options: { prog: '/bin/true' } }, '');

    expect(answer.status).toBe(kind === 'authenticated' ? 401 : 200);
  });
});

test.each([
  [AUTHENTICATED, true],
  [{ 'bind-address': '[::1]:0' }, true],
  [OPEN, false],
  [{ 'bind-address': ':9092' }, false],
])('%j counts as closed to strangers: %s', (http, expected) => {
  const { config } = resolveEngineConfig([{ source: 'test', values: { http } }]);

  expect(isTrusted(config)).toBe(expected);
});
