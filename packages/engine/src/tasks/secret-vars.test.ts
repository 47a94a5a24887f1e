// Vars of the type `secret`: usable like strings, never shown, kept when the marker is sent back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { EVERYTHING_ALLOWED, TestServer } from '@tidemark/testkit';
import type { ReceivedRequest, ServerAnswer } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../engine-service.ts';

const SECRET = `hush-"7Zq'+/x`;
const OTHER = 'second-hush-81c';
const MARKER = '[REDACTED]';
const DBRPS = [{ db: 'd', rp: 'r' }];

let directory = '';
let engine: EngineService;
let lines: string[] = [];
let answers: string[] = [];
let received: string[] = [];
let receiver: TestServer;
let url = '';

/** Answers every request with what it was sent, as careless services do. */
function echo({ path }: ReceivedRequest): ServerAnswer {
  received.push(decodeURIComponent(path));
  return {
    status: 400,
    headers: { 'Content-Type': 'text/plain' },
    body: `cannot ${path} ${decodeURIComponent(path)}`,
  };
}

beforeEach(async () => {
  [lines, answers, received] = [[], [], []];
  receiver = new TestServer(echo);
  await receiver.open();
  url = receiver.url;
  directory = mkdtempSync(join(tmpdir(), 'engine-secret-vars-'));
  await start();
});

afterEach(async () => {
  await engine.close();
  await receiver.close();
  rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const keep = (fields: object, message: string): void => {
    lines.push(`${message} ${inspect(fields, { depth: 9 })}`);
  };
  const { config, problems } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: join(directory, 'data'),
        alert: EVERYTHING_ALLOWED,
        stats: { enabled: false },
        task: { hosts: '0' },
        logging: { level: 'debug' },
        http: { 'bind-address': '127.0.0.1:0' },
      },
    },
  ]);
  expect(problems).toEqual([]);
  engine = await startEngine(config, { log: { debug: keep, info: keep, warn: keep, error: keep } });
}

async function call(method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(engine.url + path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = await response.text();
  answers.push(`${method} ${path}: ${answer}`);
  return answer.startsWith('{') ? JSON.parse(answer) : answer;
}

/** Which texts hold a secret, as it is or in a form in which it travels. */
function leaks(texts: readonly string[]): readonly string[] {
  const forms = [SECRET, OTHER].flatMap((value) => [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
  ]);
  return texts.filter((text) => forms.some((form) => text.includes(form)));
}

const TASK = '/engine/v1/tasks/t';
const secretVar = (value: string): object => ({ type: 'secret', value, description: 'of it' });
const script = (declared: string): string =>
  `var base = ''\nvar token ${declared}\n` +
  `stream|from()|httpPost(base + '/' + token).captureResponse()`;

function define(more: object = {}): Promise<any> {
  const vars = { base: { type: 'string', value: url }, token: secretVar(SECRET) };
  const task = { id: 't', dbrps: DBRPS, script: script("= ''"), vars, status: 'enabled', ...more };
  return call('POST', '/engine/v1/tasks', task);
}

const soon = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 20_000 });

async function lookEverywhere(): Promise<void> {
  for (const path of [
    TASK,
    `${TASK}?script-format=raw`,
    `${TASK}?dot-view=labels&diagnostics=true`,
    '/engine/v1/tasks',
    '/engine/v1/tasks?fields=vars&fields=script&fields=dot&fields=error',
    '/engine/v1/templates',
    '/engine/v1/templates?fields=vars',
    '/engine/v1/replays',
    '/engine/v1/debug/vars',
    '/engine/v1/config',
    '/metrics',
  ]) {
    await call('GET', path);
  }
}

/** The secret is sent when a point comes, and what the receiver says about it is logged. */
async function sent(secret: string): Promise<void> {
  received = [];
  const logged = lines.length;
  await call('POST', '/write?db=d&rp=r', 'm v=1 1');
  await soon(() => expect(received).toContain(`/${secret}`));
  await soon(() => expect(lines.slice(logged).join('\n')).toContain(`cannot /${MARKER}`));
}

test('a secret var is used as a text and shown nowhere, also after a restart', async () => {
  expect((await define()).vars).toEqual({
    base: { type: 'string', value: url, description: '' },
    token: { type: 'secret', value: MARKER, description: 'of it' },
  });
  await sent(SECRET);
  await call('PATCH', TASK, { status: 'disabled' });
  await call('PATCH', TASK, { status: 'enabled' });
  await lookEverywhere();
  await engine.close();
  await start();
  await lookEverywhere();
  await sent(SECRET);
  expect(leaks(answers)).toEqual([]);
  expect(leaks(lines)).toEqual([]);
});

test('a typed var and one of a template take a secret too', async () => {
  await call('POST', '/engine/v1/templates', { id: 'p', script: script('string') });
  const created = await define({ script: undefined, 'template-id': 'p' });
  expect(created).toMatchObject({ error: '', vars: { token: { value: MARKER } } });
  await sent(SECRET);
  const changed = { script: `${script('string')}\nstream|from()|log()` };
  expect(await call('PATCH', '/engine/v1/templates/p', changed)).toMatchObject({ error: '' });
  await sent(SECRET);
  await lookEverywhere();
  expect(leaks([...answers, ...lines])).toEqual([]);
});

test('a shown definition keeps its secret when it is sent back, and a new value replaces it', async () => {
  const { vars } = await define();
  expect(await call('PATCH', TASK, { vars, status: 'disabled' })).toMatchObject({ vars });
  await call('PATCH', TASK, { status: 'enabled' });
  await sent(SECRET);
  const changed = { ...vars, token: secretVar(OTHER) };
  expect(await call('PATCH', TASK, { vars: changed })).toMatchObject({ vars });
  // The task runs with the earlier value until its next start; neither is shown.
  await sent(SECRET);
  await call('PATCH', TASK, { status: 'disabled' });
  await call('PATCH', TASK, { id: 'u', status: 'enabled' });
  await sent(OTHER);
  await lookEverywhere();
  expect(leaks([...answers, ...lines])).toEqual([]);
});

test('a marker that stands for nothing is refused', async () => {
  const refusal = `invalid var token: ${MARKER} replaces a secret that is not shown; write the secret`;
  const base = { type: 'string', value: url };
  expect(await define({ vars: { base, token: secretVar(MARKER) } })).toEqual({ error: refusal });
  await define({ vars: { base, token: { type: 'string', value: 'an open text' } } });
  const vars = { base, token: secretVar(MARKER) };
  expect(await call('PATCH', TASK, { vars })).toEqual({ error: refusal });
});

test.each(['short', 'x'.repeat(16_385)])('a secret has 6 to 16384 characters', async (value) => {
  const answer = await define({ vars: { token: secretVar(value) } });
  expect(answer).toEqual({
    error: 'invalid var token: a secret has 6 to 16384 characters, others cannot be hidden',
  });
});

test.each([
  ['a type', "var token = 5\nstream|from()|httpPost('x').header('a', token)"],
  ['a query', "var token = ''\nbatch|query(token).period(1s).every(1s)"],
  ['a method', "var token = ''\nstream|from()|window().period(token)"],
  ['a join', "var token = ''\nstream|from()|eval(lambda: token + 1.0).as('b')"],
  ['a program', "var token = ''\nstream|from()|alert().crit(lambda: TRUE).exec('/' + token)|nix()"],
  ['a list', "var token = ''\nstream|from().where(token)"],
])('errors do not quote a secret: %s', async (_, refused) => {
  for (const value of [SECRET, OTHER, "SELECT hush-other FROM 'x"]) {
    const task = { id: 't', dbrps: DBRPS, script: refused, vars: { token: secretVar(value) } };
    const answer = await call('POST', '/engine/v1/tasks?diagnostics=true', {
      ...task,
      status: 'enabled',
    });
    await lookEverywhere();
    await call('DELETE', TASK);
    expect(answer.error).not.toBe('');
  }
  expect(leaks([...answers, ...lines])).toEqual([]);
  expect([...answers, ...lines].filter((text) => text.includes('hush'))).toEqual([]);
});
