// Actions on the chain itself: what a throttle passes, and handlers that every alert node gets.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { InvalidRequest } from '@tidemark/core';
import { expect, test } from 'vitest';
import { decodeOptions } from '@tidemark/settings';
import { sectionsOf, TestClock } from '@tidemark/testkit';
import { AlertService } from './alert-service.ts';
import { AlertStore } from './alert-store.ts';
import { makeStep } from './chain.ts';
import type { Delivery } from './delivery.ts';
import type { TopicEvent } from './event.ts';
import type { HandlerContext } from './handler.ts';
import { findHandlerKind } from './registry.ts';
import { handlerContext } from './testing/handler-context.ts';
import { lmdbEntries } from './testing/lmdb-entries.ts';

const EVENT: TopicEvent = {
  id: 'a',
  message: 'm',
  details: '',
  time: 1n,
  durationNanos: 0n,
  level: 'CRITICAL',
  previousLevel: 'OK',
  isRecoverable: true,
  data: [],
  topic: 't',
  hops: 0,
  context: { name: 'm', taskName: 'task', group: '', category: '', tags: {}, fields: {} },
};

const clock = new TestClock();

function context(urls: string[] = []): Omit<HandlerContext, 'signal'> {
  const configured = {
    enabled: true,
    'channel-url': 'http://everywhere/',
    global: true,
    'state-changes-only': true,
  };
  return handlerContext({
    section: sectionsOf({ teams: [configured] }).section,
    http: {
      send: ({ url }) => {
        urls.push(url);
        return Promise.resolve({ status: 200, headers: {}, body: '' });
      },
      close: () => Promise.resolve(),
    },
    clock,
    connections: {
      use: () => Promise.reject(new InvalidRequest('not used')),
      discard: () => Promise.resolve(),
    },
  });
}

test('a throttle lets so many events of an id pass in an interval', async () => {
  const kind = findHandlerKind('throttle');
  const decoded = decodeOptions(kind?.options ?? {}, 'throttle', { interval: '10s', count: 2 });
  if (kind === undefined || !decoded.ok) throw new Error('throttle takes these options');
  // A throttle holds nothing, so it never speaks to its delivery.
  const step = makeStep(
    { kind, options: decoded.options },
    { index: 0, delivery: {} as Delivery, context: context() },
  );
  const passes = async (id: string, seconds: number): Promise<boolean> => {
    clock.advance(seconds * 1000 - clock.monotonicMs());
    const entry = { sequence: 1, handlerKey: 'k', event: { ...EVENT, id }, step: 0 };
    return (await step.run(entry, AbortSignal.abort())).kind === 'pass';
  };

  const seen = [
    await passes('a', 0),
    await passes('a', 1),
    await passes('a', 2),
    await passes('b', 2),
    await passes('a', 9),
    await passes('a', 10),
  ];

  expect(seen).toEqual([true, true, false, true, false, true]);
});

test.each([
  ['every alert node gets a global handler', [], [], ['http://everywhere/']],
  [
    'an alert node that names the kind gets its own only',
    [{ kind: 'teams', options: { 'channel-url': 'http://own/' } }],
    [],
    ['http://own/'],
  ],
  ['a kind that is disabled is accepted and inert', [], ['teams'], []],
])('%s', async (_what, handlers, disabled, expected) => {
  const directory = mkdtempSync(join(tmpdir(), 'chain-'));
  const root = open({ path: join(directory, 'a.mdb'), noSubdir: true, overlappingSync: false });
  const urls: string[] = [];
  const alerts = new AlertService({
    store: new AlertStore(lmdbEntries(root), { clock, log: () => undefined }),
    context: context(urls),
    clock,
    log: () => undefined,
    random: () => 0.5,
    isPersistent: true,
    disabledKinds: new Set(disabled),
  });
  const span = { start: 0, end: 0 };
  const specs = handlers.map((one) => ({ ...one, arguments: [], properties: [], span }));

  alerts.openAnonymousTopic('main:task:alert2', specs);
  alerts.publish('main:task:alert2', EVENT);
  await alerts.drained();
  const { defaults } = alerts;
  await alerts.close(1000);
  await root.close();
  rmSync(directory, { recursive: true, force: true });

  expect(urls).toEqual(expected);
  expect(defaults).toEqual({ hasGlobalHandlers: true, isStateChangesOnly: true });
});
