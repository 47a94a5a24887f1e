// The lease of an instance while its own thread works on something else.
import { systemClock } from '@tidemark/core';
import { eventually, hasPrograms, TestCoordinator } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { MemberThread } from './member-thread.ts';

const LEASE_MS = 600;

/** Nothing else happens in this thread meanwhile. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe.runIf(hasPrograms('nats-server'))('the thread of a lease', () => {
  let coordinator: TestCoordinator;
  let member: MemberThread;
  const told: string[] = [];
  beforeEach(async () => {
    told.length = 0;
    coordinator = await TestCoordinator.start();
    member = new MemberThread({
      coordinator: { urls: [coordinator.url], login: '', name: 'tidemark', replicas: 1 },
      clock: systemClock(),
      leaseMs: LEASE_MS,
      self: { id: 'a', url: 'http://a', hostname: 'a', pid: 1, version: '1', level: 1 },
      report: () => ({ replica: 0 }),
      events: {
        elected: (term) => void told.push(`elected ${term}`),
        lost: (reason) => {
          told.push(`lost: ${reason}`);
          void member.abdicate(); // Its term is over.
        },
        drained: () => void told.push('drained'),
        looked: () => undefined,
        log: () => undefined,
      },
    });
    await member.start();
    await eventually('the lead', async () => (member.isLeading ? true : undefined));
  });
  afterEach(async () => {
    await member.close();
    await coordinator.close();
  });

  test('keeps the lead while the instance is busy for longer than its lease', async () => {
    block(1.5 * LEASE_MS);

    expect(member.isLeading).toBe(true);
    await member.serve();
    expect(told).toEqual(['elected 1']);
    expect(member.leader).toMatchObject({ id: 'a', term: 1, isServing: true });
  });

  test('gives the lead up when the instance does not answer any more, and leads again when it does', async () => {
    block(5 * LEASE_MS);

    expect(member.isLeading).toBe(false);
    await eventually('the lead again', async () => (member.isLeading ? true : undefined));
    expect(told.slice(0, 3)).toEqual(['elected 1', 'lost: its lease has ended', 'elected 2']);
  });

  test('lets others lead at once when it abdicates', async () => {
    await member.abdicate();

    expect(member.isLeading).toBe(false);
    await eventually('the next term', async () => (told.includes('elected 2') ? true : undefined));
  });
});
