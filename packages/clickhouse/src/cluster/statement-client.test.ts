// Requests to a server and the handling of its responses, with a server that the test controls.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, expect, test } from 'vitest';

import { StatementClient } from './statement-client.ts';

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

type Answer = (request: IncomingMessage, response: ServerResponse, sql: string) => void;

async function clientFor(answer: Answer, user = ''): Promise<StatementClient> {
  const server = createServer((request, response) => {
    let sql = '';
    request.setEncoding('utf8').on('data', (text: string) => (sql += text));
    request.on('end', () => answer(request, response, sql));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new StatementClient(`http://${user}127.0.0.1:${port}`);
  opened.push(() => {
    client.close();
    server.close();
  });
  return client;
}

const never = new AbortController().signal;

test('a statement, its settings and who asks arrive; the answer comes as a whole', async () => {
  const client = await clientFor(({ url, headers }, response, sql) => {
    response.write(`${url} ${headers.authorization} `);
    setImmediate(() => response.end(sql));
  }, 'me:p%40ss@');
  const parameters = { max_query_size: 10, query_id: 'a&b' };

  const answer = await client.send({ sql: 'SELECT ü', parameters, signal: never });

  const user = Buffer.from('me:p@ss').toString('base64');
  expect(answer.toString()).toBe(`/?max_query_size=10&query_id=a%26b Basic ${user} SELECT ü`);
});

test('a connection that the server has closed meanwhile is replaced', async () => {
  const seen = new Set<unknown>();
  const client = await clientFor(({ socket }, response) => {
    if (seen.has(socket)) socket.destroy();
    else response.end(String(seen.add(socket).size));
  });
  const read = async () =>
    (await client.send({ sql: 'SELECT 1', parameters: {}, signal: never })).toString();

  expect([await read(), await read(), await read()]).toEqual(['1', '2', '3']);
});

test('a server that closes new connections, too, is not asked for ever', async () => {
  let asked = 0;
  const client = await clientFor(({ socket }) => {
    asked++;
    socket.destroy();
  });

  const answer = client.send({ sql: 'SELECT 1', parameters: {}, signal: never });

  await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(asked).toBe(1);
});

test('an error is the text of the server, an end in the middle of an answer is one, too', async () => {
  const client = await clientFor((_, response, sql) => {
    if (sql === 'bad') {
      response.statusCode = 500;
      response.end('Code: 62, e.displayText() = DB::Exception: Syntax error');
      return;
    }
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => response.destroy());
  });
  const read = (sql: string) => client.send({ sql, parameters: {}, signal: never });

  await expect(read('bad')).rejects.toThrow(/^Code: 62, .*Syntax error$/);
  await expect(read('half')).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('callers that stop waiting are released', async () => {
  const abort = new AbortController();
  const client = await clientFor(() => abort.abort());

  const answer = client.send({ sql: 'SELECT 1', parameters: {}, signal: abort.signal });

  await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
});
