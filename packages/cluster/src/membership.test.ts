// Leader election, in virtual time.
import { TestClock } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { Membership } from './membership.ts';
import { MemoryCoordinator, MemoryServer } from './testing/memory-coordinator.ts';

const LEASE_MS = 1000;

/** Two looks, and what a change takes. */
const NOTICED_MS = 150;

class Instance {
  readonly membership: Membership;
  readonly told: string[] = [];
  readonly #killed = new AbortController();
  isCut = false;
  replica = 1;
  /** Whether the work of a leader ends as soon as it is asked to. */
  isClosing = true;

  constructor(id: string, server: MemoryServer, clock: TestClock) {
    const network = { isCut: () => this.isCut, delayMs: () => 1, isAnswerLost: () => false };
    const { signal } = this.#killed;
    this.membership = new Membership({
      coordinator: new MemoryCoordinator({ server, network, clock, signal }),
      clock,
      leaseMs: LEASE_MS,
      self: { id, url: `http://${id}`, hostname: id, pid: 1, version: '1', level: 1 },
      report: () => ({ replica: this.replica }),
      leased: () => undefined,
      events: {
        elected: (term) => void this.told.push(`elected ${term}`),
        lost: (reason) => {
          this.told.push(`lost: ${reason}`);
          if (this.isClosing) void this.membership.abdicate(); // Its term is over.
        },
        drained: () => undefined,
        looked: () => undefined,
        log: () => undefined,
      },
    });
  }

  kill(): void {
    this.#killed.abort();
  }
}

let clock: TestClock;
let server: MemoryServer;
let instances: Instance[];

beforeEach(() => {
  clock = new TestClock();
  server = new MemoryServer();
  instances = [];
});
afterEach(() => {
  for (const one of instances) one.kill();
});

const pass = (ms: number): Promise<void> => clock.passTo(clock.now() + BigInt(ms) * 1_000_000n);

/** Starts instances; the first one leads. */
async function started(...ids: readonly string[]): Promise<readonly Instance[]> {
  for (const id of ids) {
    const instance = new Instance(id, server, clock);
    instances.push(instance);
    const starting = instance.membership.start();
    await pass(100);
    await starting;
  }
  await pass(LEASE_MS);
  expect(instances.map(({ told }) => told)).toEqual([['elected 1'], ...ids.slice(1).map(() => [])]);
  return instances;
}

test('an instance leads soon after the lease of a leader that is gone has ended', async () => {
  const [a, b] = await started('a', 'b');

  a?.kill();
  await pass(LEASE_MS + NOTICED_MS);

  expect(b?.told).toEqual(['elected 2']);
});

test('a leader that retires leads, and serves no more', async () => {
  const [a, b] = await started('a', 'b');
  const serving = a?.membership.serve();
  await pass(NOTICED_MS);
  await serving;
  expect(b?.membership.leader).toMatchObject({ id: 'a', isServing: true });

  const retiring = a?.membership.retire();
  await pass(NOTICED_MS);
  await retiring;
  expect(b?.membership.leader).toMatchObject({ id: 'a', isServing: false });
  await pass(3 * LEASE_MS);
  expect([a?.membership.isLeading, b?.told]).toEqual([true, []]);
});

test('after an outage of the coordinator the instance leads again that led before', async () => {
  const [a, b, c] = await started('a', 'b', 'c');

  server.isUp = false;
  await pass(5 * LEASE_MS);
  server.isUp = true;
  await pass(3 * LEASE_MS);

  expect(a?.told).toEqual(['elected 1', 'lost: its lease has ended', 'elected 2']);
  expect([b?.told, c?.told]).toEqual([[], []]);
});

test('an instance that could not look takes nobody for gone as soon as it can', async () => {
  const [a, b] = await started('a', 'b');

  server.isUp = false;
  await pass(2 * LEASE_MS);
  a?.kill();
  await pass(3 * LEASE_MS);
  server.isUp = true;
  while (b?.membership.problem !== undefined) await pass(10);
  await pass(Math.floor(LEASE_MS / 3));

  const { members = [] } = b?.membership ?? {};
  expect(members.map(({ id, isAlive }) => [id, isAlive])).toEqual([
    ['a', true],
    ['b', true],
  ]);
  expect(b?.told).toEqual([]);
  await pass(LEASE_MS);
  expect(b?.told).toEqual(['elected 2']);
});

test('a leader that ends leaves its place to the instance whose copy has come furthest', async () => {
  const [a, b, c] = await started('a', 'b', 'c');
  if (c !== undefined) c.replica = 9;
  await pass(LEASE_MS);

  a?.membership.drain();
  const ending = a?.membership.abdicate();
  await pass(NOTICED_MS);
  await ending;

  expect(c?.told).toEqual(['elected 2']);
  expect(b?.told).toEqual([]);
});

test('an instance that must not lead lets others have the place that was left to it', async () => {
  const [a, b, c] = await started('a', 'b', 'c');
  if (c !== undefined) c.replica = 9;
  await pass(LEASE_MS);

  // Others do not know it yet.
  c?.membership.drain();
  a?.membership.drain();
  const ending = a?.membership.abdicate();
  await pass(2 * NOTICED_MS);
  await ending;

  expect(b?.told).toEqual(['elected 2']);
  expect(c?.told).toEqual([]);
});

test('others lead when the instance is gone that the place was left to', async () => {
  const [a, b, c] = await started('a', 'b', 'c');
  if (c !== undefined) c.replica = 9;
  await pass(LEASE_MS);

  c?.kill();
  a?.membership.drain();
  const ending = a?.membership.abdicate();
  await pass(LEASE_MS + NOTICED_MS);
  await ending;

  expect(b?.told).toEqual(['elected 2']);
});

test('an instance does not lead again before what it has led is closed', async () => {
  const [a, b] = await started('a', 'b');
  if (a !== undefined) a.isClosing = false;

  server.isUp = false;
  await pass(3 * LEASE_MS);
  b?.kill();
  server.isUp = true;
  await pass(5 * LEASE_MS);
  expect(a?.told).toEqual(['elected 1', 'lost: its lease has ended']);
  const ending = a?.membership.abdicate();
  await pass(NOTICED_MS);
  await ending;

  expect(a?.told.at(-1)).toBe('elected 2');
});
