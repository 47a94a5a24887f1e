// Requests over reused connections.
import { eventually, TestServer } from '@tidemark/testkit';
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

test('a request that waits for a connection is not sent when it may not be any more', async () => {
  const { signal } = new AbortController();
  let maySend = true;
  const request = { method: 'GET', url: server.url, maySend: () => maySend };
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  server.answer = () => answered.then(() => ({}));
  // As many as there are connections, and then some.
  const sending = Array.from({ length: 20 }, () => sender.send(request, signal));
  const outcomes = Promise.allSettled(sending);
  await eventually('sixteen requests', async () => server.requests.length === 16 || undefined);

  maySend = false;
  answer();

  const sent = (await outcomes).filter(({ status }) => status === 'fulfilled');
  expect([sent.length, server.requests.length]).toEqual([16, 16]);
  await expect(sending.at(-1)).rejects.toThrow('it may not be sent any more');
});

test('nor over a connection that is open only then', async () => {
  let maySend = true;
  const request = { method: 'GET', url: server.url, maySend: () => maySend };

  const sending = sender.send(request, new AbortController().signal);
  maySend = false;

  await expect(sending).rejects.toThrow('it may not be sent any more');
  expect(server.requests).toEqual([]);
});
