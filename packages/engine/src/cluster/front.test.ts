// Requests that were passed on to an instance that does not lead any more.
import { systemClock } from '@tidemark/core';
import { TestServer } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { opening } from '../opening.ts';
import type { Opening } from '../opening.ts';
import { Front } from './front.ts';
import type { FrontOptions, Target } from './front.ts';

/** As one that was cut off or stopped: takes what it is sent and never answers. */
let before: TestServer;
let next: TestServer;
let front: Front;
let url: string;
let leader: Target;
let arrived: Opening;

beforeEach(async () => {
  arrived = opening();
  before = new TestServer(() => {
    arrived.resolve();
    return new Promise(() => undefined);
  });
  next = new TestServer(() => ({ body: 'next' }));
  await Promise.all([before.open(), next.open()]);
  leader = { url: before.url, isOwn: false };
  front = new Front({
    border: {
      refusal: () => undefined,
      corsHeaders: () => ({}),
      clientAddress: () => '127.0.0.1',
    } as unknown as FrontOptions['border'],
    clock: systemClock(),
    secret: 'secret',
    leader: () => leader,
    own: () => Promise.resolve(false),
    waitMs: 10_000,
    tls: undefined,
    connect: () => undefined,
  });
  url = await front.listen('127.0.0.1', 0);
});

afterEach(async () => {
  await front.close();
  await before.close();
  await next.close();
});

/** Asks, and lets another one lead when the one that leads has the request. */
async function askMeanwhile(init: RequestInit): Promise<Response> {
  const answer = fetch(`${url}/engine/v1/tasks`, init);
  await arrived.promise;
  leader = { url: next.url, isOwn: false };
  front.leaderChanged();
  return answer;
}

test('a question is asked again where it is answered', async () => {
  const answer = await askMeanwhile({});

  expect([answer.status, await answer.text()]).toEqual([200, 'next']);
});

test('what may have been done is not done twice: the client is told at once', async () => {
  const answer = await askMeanwhile({ method: 'POST', body: '{}' });

  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('another instance leads now');
  expect(next.requests).toEqual([]);
});

test('nothing happens to what the present leader is asked', async () => {
  leader = { url: next.url, isOwn: false };
  next.answer = () => {
    front.leaderChanged();
    return { body: 'whole' };
  };

  expect(await (await fetch(`${url}/engine/v1/tasks`)).text()).toBe('whole');
});
