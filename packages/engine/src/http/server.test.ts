// Clients that do not send what they announced.
import net from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();

beforeAll(() => engine.start({ http: { 'request-timeout': '2s', 'log-enabled': true } }));
afterAll(() => engine.close());

/** Sends a text and nothing more; what came back when the other side has closed the connection. */
function answerTo(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(engine.url);
    let answer = '';
    const socket = net.connect(Number(port), hostname, () => socket.write(text));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}

test.each([
  ['GET /engine/v1/tasks/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
  ['GET /engine/v1/tasks/%ff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
  ['GET /engine/v1/ping HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['what is this\r\n\r\n', 400],
  [
    'GET /engine/v1/ping HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\nConnection: close\r\n\r\n',
    417,
  ],
  ['GET ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
  ['PROPFIND /engine/v1/ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 405],
  [
    `GET /engine/v1/tasks/${'a'.repeat(3000)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    414,
  ],
  ['POST /write HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
  ['GET http://other/none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 404],
  [`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('%j is refused with an error and the version', async (text, status) => {
  const [head = '', body = ''] = (await answerTo(text)).split('\r\n\r\n');

  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/^x-engine-version: \d+\.\d+\.\d+/im);
  expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
});

const HEAD = 'POST /write?db=d HTTP/1.1\r\nHost: localhost\r\n';

test('clients that never end their headers or their body are cut off, and others are served', async () => {
  const cutOff = Promise.all([answerTo(HEAD), answerTo(`${HEAD}Content-Length: 100\r\n\r\nm v=1`)]);
  expect((await engine.call('GET', '/engine/v1/ping')).status).toBe(204);

  for (const answer of await cutOff) expect(answer).toMatch(/^HTTP\/1\.1 408 .*X-Engine-Version/s);
  expect((await engine.call('GET', '/engine/v1/ping')).status).toBe(204);
});

test('a password in a logged URL is not shown, however its name is written', async () => {
  const path = '/engine/v1/tasks?u=ana&p=hush1&%70=hush2&%50=shown&p&limit=%70';
  expect((await engine.call('GET', path)).status).toBe(400);

  const line = engine.log.find((entry) => entry.includes('u=ana')) ?? '';
  expect(line).toContain('?u=ana&p=[REDACTED]&%70=[REDACTED]&%50=shown&p&limit=%70');
});

test.each(['__proto__', 'constructor'])('%s is no store', async (name) => {
  const answer = await engine.call('POST', `/engine/v1/storage/stores/${name}`, {
    action: 'rebuild',
  });
  expect([answer.status, answer.json.error]).toEqual([404, `unknown storage "${name}"`]);
});
