// Requests while the leader stops, or while no instance leads.
import { systemClock } from '@tidemark/core';
import { TestServer } from '@tidemark/testkit';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { deferred } from '../deferred.ts';
import type { Deferred } from '../deferred.ts';
import { LeaderProxy } from './leader-proxy.ts';
import type { LeaderProxyOptions, Target } from './leader-proxy.ts';

/** As one that was cut off or stopped: takes what it is sent and never answers. */
let before: TestServer;
let next: TestServer;
let proxy: LeaderProxy;
let url: string;
let leader: Target | undefined;
let standIn: Target | undefined;
let arrived: Deferred;
/** How long a leader may be silent. */
let silenceMs: number;

beforeEach(async () => {
  arrived = deferred();
  before = new TestServer(() => {
    arrived.resolve();
    return new Promise(() => undefined);
  });
  next = new TestServer(() => ({ body: 'next' }));
  await Promise.all([before.open(), next.open()]);
  leader = { url: before.url, isOwn: false };
  standIn = undefined;
  silenceMs = 50;
  proxy = new LeaderProxy({
    hasCompatiblePaths: true,
    border: {
      refusal: () => undefined,
      corsHeaders: () => ({}),
      clientAddress: () => '127.0.0.1',
    } as unknown as LeaderProxyOptions['border'],
    clock: systemClock(),
    secret: 'secret',
    leader: () => leader,
    own: () => Promise.resolve(false),
    standIn: ({ url: path }) => (path === '/write' ? standIn : undefined),
    get silenceMs() {
      return silenceMs;
    },
    waitMs: 10_000,
    tls: undefined,
    connect: () => undefined,
  });
  url = await proxy.listen('127.0.0.1', 0);
});

afterEach(async () => {
  await proxy.close();
  await before.close();
  await next.close();
});

/** Asks, and lets another one lead when the one that leads has the request. */
async function askMeanwhile(init: RequestInit): Promise<Response> {
  const answer = fetch(`${url}/engine/v1/tasks`, init);
  await arrived.promise;
  leader = { url: next.url, isOwn: false };
  proxy.leaderChanged();
  return answer;
}

test('a question is asked again where it is answered', async () => {
  const answer = await askMeanwhile({});

  expect([answer.status, await answer.text()]).toEqual([200, 'next']);
});

test('a request that may have been executed is not repeated: the client gets an error at once', async () => {
  const answer = await askMeanwhile({ method: 'POST', body: '{}' });

  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('another instance leads now');
  expect(next.requests).toEqual([]);
});

test('nothing happens to what the present leader is asked', async () => {
  leader = { url: next.url, isOwn: false };
  next.answer = () => {
    proxy.leaderChanged();
    return { body: 'whole' };
  };

  expect(await (await fetch(`${url}/engine/v1/tasks`)).text()).toBe('whole');
});

/** Writes a line through the proxy. */
const writing = (): Promise<Response> => fetch(`${url}/write`, { method: 'POST', body: 'm v=1' });

test('a write is taken by the stand-in while nobody leads', async () => {
  leader = undefined;
  standIn = { url: next.url, isOwn: true };

  expect(await (await writing()).text()).toBe('next');
  expect(next.requests.map(({ body }) => body)).toEqual(['m v=1']);
});

test('a write is taken by the stand-in when the leader has gone or does not say that it takes it', async () => {
  standIn = { url: next.url, isOwn: true };
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  leader = { url: `http://127.0.0.1:${port}`, isOwn: false };

  expect(await (await writing()).text()).toBe('next');

  await new Promise((resolve) => silent.close(resolve));
  expect(await (await writing()).text()).toBe('next');
  expect(next.requests).toHaveLength(2);
});

test('a write is taken by the stand-in as soon as the leader serves no more', async () => {
  silenceMs = 600_000;
  standIn = { url: next.url, isOwn: true };
  const asked = deferred();
  const silent = createServer((socket) => {
    socket.on('error', () => undefined).resume();
    asked.resolve();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  leader = { url: `http://127.0.0.1:${port}`, isOwn: false };
  const answer = writing();
  await asked.promise;

  leader = undefined;
  proxy.leaderChanged();

  expect(await (await answer).text()).toBe('next');
  await new Promise((resolve) => silent.close(resolve));
});

test('a write is not taken twice: a leader that has it is waited for', async () => {
  standIn = { url: next.url, isOwn: true };
  const answer = writing();
  await arrived.promise;

  leader = standIn;
  proxy.leaderChanged();

  expect((await answer).status).toBe(503);
  expect(next.requests).toEqual([]);
});

test('a write that this process has is answered before it closes', async () => {
  leader = undefined;
  standIn = { url: next.url, isOwn: true };
  const answers = deferred();
  next.answer = async () => {
    arrived.resolve();
    await answers.promise;
    return { body: 'whole' };
  };
  const answer = writing();
  await arrived.promise;

  const closing = proxy.close();
  answers.resolve();

  expect(await (await answer).text()).toBe('whole');
  await closing;
});
