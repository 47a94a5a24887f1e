// Requests over reused connections.
import { TestServer } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { httpSender } from './http-sender.ts';
import type { HttpSender } from './http-sender.ts';

let server: TestServer;
let sender: HttpSender;

beforeEach(async () => {
  server = new TestServer();
  await server.open();
  sender = httpSender();
});

afterEach(async () => {
  await sender.close();
  await server.close();
});

test('an answer may take longer than the server lets a connection be idle', async () => {
  const { signal } = new AbortController();
  const request = { method: 'GET', url: server.url };
  server.answer = () => ({ headers: { 'Keep-Alive': 'timeout=2' } });
  await sender.send(request, signal);
  let isTold = false;
  server.answer = async () => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    isTold = true;
    return { body: 'late' };
  };

  const { body } = await sender.send(request, signal);

  expect([isTold, body]).toEqual([true, 'late']);
});

test('a request that is not answered in time says in what time', async () => {
  const { signal } = new AbortController();
  server.answer = () => new Promise(() => undefined);

  const sending = sender.send({ method: 'GET', url: server.url, timeoutMs: 20 }, signal);

  await expect(sending).rejects.toThrow('no answer within 20 ms');
});
