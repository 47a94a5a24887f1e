// Requests while the leader stops, or while no instance leads.
import type { Deferred } from '@tidemark/core';
import { deferred, systemClock } from '@tidemark/core';
import { TestServer } from '@tidemark/testkit';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { LeaderProxy } from './leader-proxy.ts';
import type { LeaderProxyOptions, Target } from './leader-proxy.ts';

/** As one that was cut off or stopped: takes what it is sent and never answers. */
let before: TestServer;
let next: TestServer;
let proxy: LeaderProxy;
let url: string;
let leader: Target | undefined;
let standIn: typeof here | undefined;
/** How often the proxy has asked for it. */
let offers = 0;
/** Bodies that this process got, and its answer to them. */
let taken: string[];
let answer: () => string | Promise<string>;
const here = {
  answer: (request: IncomingMessage, response: ServerResponse): void => {
    void text(request).then(async (body) => {
      taken.push(body);
      response.end(await answer());
    });
  },
};
let arrived: Deferred;
/** The proxy has asked who leads. */
let looked: Deferred;
/** How long a leader may be silent. */
let silenceMs: number;

beforeEach(async () => {
  arrived = deferred();
  looked = deferred();
  before = new TestServer(() => {
    arrived.resolve();
    return new Promise(() => undefined);
  });
  next = new TestServer(() => ({ body: 'next' }));
  await Promise.all([before.open(), next.open()]);
  leader = { url: before.url };
  standIn = undefined;
  taken = [];
  answer = () => 'here';
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
    leader: () => {
      looked.resolve();
      return leader;
    },
    own: () => Promise.resolve(false),
    standIn: ({ url: path }) => {
      offers++;
      return path === '/write' ? standIn : undefined;
    },
    get silenceMs() {
      return silenceMs;
    },
    waitMs: 10_000,
    requestTimeoutMs: 10_000,
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
  leader = { url: next.url };
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
  leader = { url: next.url };
  next.answer = () => {
    proxy.leaderChanged();
    return { body: 'whole' };
  };

  expect(await (await fetch(`${url}/engine/v1/tasks`)).text()).toBe('whole');
});

/** Another instance leads that accepts connections and says nothing. */
async function silentLeader(): Promise<Server> {
  const silent = createServer((socket) => {
    socket.on('error', () => undefined).resume();
    arrived.resolve();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  leader = { url: `http://127.0.0.1:${port}` };
  return silent;
}

/** Writes a line through the proxy. */
const writing = (): Promise<Response> => fetch(`${url}/write`, { method: 'POST', body: 'm v=1' });

test('a write is taken by the stand-in while nobody leads', async () => {
  leader = undefined;
  standIn = here;

  expect(await (await writing()).text()).toBe('here');
  expect(taken).toEqual(['m v=1']);
});

test('a write is taken by the stand-in when the leader has gone or does not say that it takes it', async () => {
  standIn = here;
  const silent = await silentLeader();

  expect(await (await writing()).text()).toBe('here');

  await new Promise((resolve) => silent.close(resolve));
  expect(await (await writing()).text()).toBe('here');
  expect(taken).toHaveLength(2);
});

test('a write is taken by the stand-in as soon as the leader serves no more', async () => {
  silenceMs = 600_000;
  standIn = here;
  const silent = await silentLeader();
  const answered = writing();
  await arrived.promise;

  leader = undefined;
  proxy.leaderChanged();

  expect(await (await answered).text()).toBe('here');
  await new Promise((resolve) => silent.close(resolve));
});

test('a write is not taken twice: a leader that has it is waited for', async () => {
  standIn = here;
  const answered = writing();
  await arrived.promise;

  leader = here;
  proxy.leaderChanged();

  expect((await answered).status).toBe(503);
  expect(taken).toEqual([]);
});

test('a write that this process has is answered before it closes', async () => {
  leader = undefined;
  standIn = here;
  const answers = deferred();
  answer = async () => {
    arrived.resolve();
    await answers.promise;
    return 'whole';
  };
  const answered = writing();
  await arrived.promise;

  const closing = proxy.close();
  answers.resolve();

  expect(await (await answered).text()).toBe('whole');
  await closing;
});

test('what arrives before this process leads is answered here, whole', async () => {
  leader = undefined;
  const body = 'm v=1\n'.repeat(100_000);
  const answered = fetch(`${url}/engine/v1/tasks`, { method: 'POST', body });
  await looked.promise;

  leader = here;

  expect(await (await answered).text()).toBe('here');
  expect(taken).toEqual([body]);
});

test('a request that another instance has forwarded is answered here, or not at all', async () => {
  const forwarded = (): Promise<Response> =>
    fetch(`${url}/engine/v1/tasks`, {
      method: 'POST',
      body: '{}',
      headers: { 'x-tidemark-passed-on': '1' },
    });
  leader = { url: next.url };
  expect((await forwarded()).status).toBe(421);

  leader = here;
  expect(await (await forwarded()).text()).toBe('here');
  expect([taken, next.requests]).toEqual([['{}'], []]);
});

test('a client that goes while its write waits is not answered by the stand-in', async () => {
  standIn = here;
  silenceMs = 600_000;
  const silent = await silentLeader();
  const gone = new AbortController();
  const asked = fetch(`${url}/write`, { method: 'POST', body: 'm v=1', signal: gone.signal });
  await arrived.promise;

  const before = offers;
  gone.abort();
  await expect(asked).rejects.toThrow('aborted');
  await expect.poll(() => offers).toBeGreaterThan(before);

  await proxy.close();
  expect(taken).toEqual([]);
  await new Promise((resolve) => silent.close(resolve));
});
