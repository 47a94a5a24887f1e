// Work while no instance leads, and leaders that do not resign at the first request.
import { systemClock } from '@tidemark/core';
import { eventually, hasPrograms, TestCoordinator } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { betweenLeaders } from './between-leaders.ts';
import type { BetweenOptions } from './between-leaders.ts';
import { NatsCoordinator } from './nats-coordinator.ts';
import { FIRST_LEVEL, LEADER, vacant } from './leader-entry.ts';
import type { LeaderRecord } from './leader-entry.ts';
import { DRAIN, Membership } from './membership.ts';

const LEASE_MS = 800;

describe.runIf(hasPrograms('nats-server'))('work between leaders', () => {
  let server: TestCoordinator;
  let coordinator: NatsCoordinator;
  let options: BetweenOptions;
  beforeEach(async () => {
    server = await TestCoordinator.start();
    const urls = [server.url];
    coordinator = await NatsCoordinator.open({ urls, login: '', name: 'c', replicas: 1 });
    options = { coordinator, clock: systemClock(), leaseMs: LEASE_MS, id: 'join' };
  });
  afterEach(async () => {
    await coordinator.close();
    await server.close();
  });

  test('asks an instance again that leads again before it takes the lead', async () => {
    const { register } = coordinator;
    const leader = (term: number): LeaderRecord => ({
      id: 'a',
      url: 'http://a',
      term,
      isServing: true,
      level: FIRST_LEVEL,
    });
    const asked = (): Promise<boolean> =>
      eventually('a request to resign', async () =>
        (await register.get(`${DRAIN}.a`)) === undefined ? undefined : true,
      );
    await register.put(LEADER, JSON.stringify(leader(1)));

    const working = betweenLeaders(options, async () => 'done');
    await asked();
    await register.remove(`${DRAIN}.a`);
    await register.put(LEADER, JSON.stringify(leader(3)));
    await asked();
    await register.put(LEADER, JSON.stringify(vacant(leader(3))));

    expect(await working).toBe('done');
  });

  test('is asked for until the leader has resigned', async () => {
    let heard = 0;
    const leading: Membership = new Membership({
      ...options,
      self: { id: 'a', url: 'http://a', hostname: 'a', pid: 1, version: '1', level: FIRST_LEVEL },
      report: () => ({ replica: 0 }),
      leased: () => undefined,
      events: {
        elected: () => undefined,
        lost: () => undefined,
        // The first time it has just been elected, and does not lead yet.
        drained: () => (++heard > 1 ? void leading.abdicate() : undefined),
        looked: () => undefined,
        log: () => undefined,
      },
    });
    await leading.start();
    await eventually('a leader', async () => (leading.isLeading ? true : undefined));

    expect(await betweenLeaders(options, async () => 'done')).toBe('done');

    await eventually('the lead again', async () => (leading.isLeading ? true : undefined));
    await leading.close();
  });
});
