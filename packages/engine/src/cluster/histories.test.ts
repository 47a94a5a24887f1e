// Conflicting histories of the shared log: an interrupted initialisation, records that were lost,
// and a change that was refused.
import { Unavailable } from '@tidemark/core';
import { NatsCoordinator } from '@tidemark/cluster';
import type { SharedLog } from '@tidemark/cluster';
import { hasPrograms, makeDirectory, removeDirectory, TestCoordinator } from '@tidemark/testkit';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { THIS_BUILD } from '../shared-log/build.ts';
import { shareIdentity } from './identity.ts';
import { LeaderLog } from './leader-log.ts';
import type { Metadata } from '../store/metadata.ts';
import { isStuck, HistoryMismatch, Replica } from './replica.ts';

const KEY = { setting: 'env:KEY', environment: { KEY: 'k'.repeat(32) } };
const MEMBERSHIP = { isLeading: true, problem: undefined, level: 1 };
const quiet = (): void => undefined;

describe.runIf(hasPrograms('nats-server'))('a copy and its log', () => {
  let directory: string;
  let server: TestCoordinator;
  let coordinator: NatsCoordinator;
  let setAside: string[];
  const signal = new AbortController().signal;
  const replicas: Replica[] = [];
  beforeEach(async () => {
    directory = await makeDirectory();
    server = await TestCoordinator.start();
    setAside = [];
    await connect();
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.close()));
    await coordinator.close();
    await server.close();
    await removeDirectory(directory);
  });

  async function connect(): Promise<void> {
    const place = { urls: [server.url], login: '', name: 'c', replicas: 1 };
    coordinator = await NatsCoordinator.open(place);
  }

  async function open(name: string, begins?: () => string): Promise<Replica> {
    const replica = await Replica.open({
      directory: join(directory, name),
      cluster: 'c',
      key: KEY,
      build: THIS_BUILD,
      setAside: async () => void setAside.push(name),
      begins,
    });
    replicas.push(replica);
    return replica;
  }

  /** Those who lead, with what they commit through. */
  const leading = new Map<Replica, Metadata>();

  async function lead(
    replica: Replica,
    log: SharedLog = coordinator.changes,
    onLost: (reason: Error) => void = quiet,
  ): Promise<LeaderLog> {
    const last = await replica.applyToEnd(coordinator.changes, 'log', signal);
    const options = { log, replica, membership: MEMBERSHIP, build: THIS_BUILD, signal, onLost };
    const leader = await LeaderLog.begin(options, last, quiet);
    leading.set(replica, replica.metadata.through(leader));
    return leader;
  }

  const put = (replica: Replica, id: string): Promise<void> =>
    (leading.get(replica) ?? replica.metadata)
      .table<{ readonly id: string }>('templates')
      .put(id, { id });
  const ids = ({ metadata }: Replica): readonly string[] => [...metadata.read('templates').keys()];

  /** The data that a single engine has stored. */
  async function single(name: string, ...stored: readonly string[]): Promise<Replica> {
    const replica = await open(name);
    for (const id of stored)
      await replica.metadata.write(
        replica.metadata.sealed([{ table: 'templates', key: id, value: Buffer.from('{}') }]),
      );
    return replica;
  }

  test('a refused change is absent, and does not arrive with the next one', async () => {
    const { changes } = coordinator;
    let isRefusing = false;
    const refusing: SharedLog = {
      bytesMax: changes.bytesMax,
      ends: () => changes.ends(),
      purge: (before) => changes.purge(before),
      read: (options) => changes.read(options),
      append: (bytes, options) =>
        isRefusing ? Promise.reject(new Unavailable('no room')) : changes.append(bytes, options),
    };
    const a = await open('a');
    await lead(a, refusing);
    await put(a, 'first');
    isRefusing = true;

    await expect(put(a, 'refused')).rejects.toThrow('no room');

    expect(ids(a)).toEqual(['first']);
    isRefusing = false;
    await Promise.all([put(a, 'second'), put(a, 'third')]);
    expect(ids(a)).toEqual(['first', 'second', 'third']);
    const b = await open('b');
    await b.applyToEnd(changes, 'log', signal);
    expect(ids(b)).toEqual(['first', 'second', 'third']);
    // Nobody else changes a copy.
    await expect(put(b, 'x')).rejects.toThrow('does not lead');
  });

  test('what outlives a term cannot commit through the log of the next one', async () => {
    const a = await open('a');
    await lead(a);
    const before = leading.get(a);
    await lead(a);
    await put(a, 'now');

    await expect(
      before?.table<{ id: string }>('templates').put('late', { id: 'late' }),
    ).rejects.toThrow('does not lead the cluster any more');

    expect(ids(a)).toEqual(['now']);
  });

  test('a leader goes on as a copy, with what it has', async () => {
    const a = await open('a');
    await lead(a);
    await put(a, 'of-a');
    leading.delete(a);
    const b = await open('b');
    await lead(b);
    await put(b, 'of-b');

    await a.applyToEnd(coordinator.changes, 'log', signal);

    expect([ids(a), setAside]).toEqual([['of-a', 'of-b'], []]);
  });

  test.each(['the term', 'the begin', 'a part of everything'])(
    'a beginning that ends behind %s is repeated, and loses nothing',
    async (where) => {
      const { changes } = coordinator;
      const last = { 'the term': 1, 'the begin': 2, 'a part of everything': 3 }[where] ?? 0;
      const dying: SharedLog = {
        bytesMax: changes.bytesMax,
        ends: () => changes.ends(),
        purge: (before) => changes.purge(before),
        read: (options) => changes.read(options),
        append: async (bytes, options) => {
          if ((await changes.ends()).last >= last) throw new Unavailable('killed');
          return changes.append(bytes, options);
        },
      };
      const a = await single('a', 'one', 'two');
      await expect(lead(a, dying)).rejects.toThrow('killed');
      await a.close();
      replicas.splice(replicas.indexOf(a), 1);

      const again = await open('a');
      expect([again.isOwn, ids(again)]).toEqual([true, ['one', 'two']]);
      await lead(again);

      const b = await open('b');
      await b.applyToEnd(changes, 'log', signal);
      expect([ids(again), ids(b), setAside]).toEqual([['one', 'two'], ['one', 'two'], []]);
    },
  );

  test('data stored by a leader of an earlier version are set aside before the log fills the copy', async () => {
    const a = await open('a');
    await lead(a);
    await put(a, 'in-the-log');
    const old = await single('old', 'maybe-not-in-the-log');
    const position = { cluster: 'c', sequence: 1, isLeading: true };
    await old.metadata.write([
      { table: 'replica', key: 'position', value: Buffer.from(JSON.stringify(position)) },
    ]);
    await old.close();
    replicas.splice(replicas.indexOf(old), 1);

    const now = await open('old');
    await now.applyToEnd(coordinator.changes, 'log', signal);

    expect([ids(now), setAside]).toEqual([['in-the-log'], ['old']]);
  });

  test('a copy does not follow another log, one that ends before it, or one with other records', async () => {
    const a = await open('a');
    await lead(a);
    await put(a, 'kept');
    await put(a, 'lost');
    leading.delete(a);
    const { last } = await coordinator.changes.ends();

    await expect(a.prepare(coordinator.changes, 'another')).rejects.toThrow(HistoryMismatch);
    // As after the loss of the last record, and then with another one in its place.
    const rolledBack: SharedLog = {
      bytesMax: 1,
      append: () => Promise.reject(new Error('unused')),
      purge: () => Promise.reject(new Error('unused')),
      ends: async () => ({ ...(await coordinator.changes.ends()), last: last - 1 }),
      read: (options) => coordinator.changes.read(options),
    };
    await expect(a.prepare(rolledBack, 'log')).rejects.toThrow(/the log ends with \d+/);
    const rewritten: SharedLog = {
      ...rolledBack,
      ends: () => coordinator.changes.ends(),
      read: async function* ({ first }) {
        yield { sequence: first, label: 'term', level: 1, bytes: Buffer.from('other') };
      },
    };
    await expect(a.prepare(rewritten, 'log')).rejects.toThrow('have taken their numbers');
    expect(ids(a)).toEqual(['kept', 'lost']);
    await a.prepare(coordinator.changes, 'log');
    expect(a.isFilled).toBe(true);
  });

  test('an instance whose definitions the log has goes on from it, although its copy does not know that', async () => {
    const a = await single('a', 'own');
    const { serverId } = a.metadata;
    await a.close();
    replicas.pop();
    cpSync(join(directory, 'a'), join(directory, 'killed'), { recursive: true });
    const begun = await open('a');
    await lead(begun);
    await put(begun, 'later');

    const killed = await open('killed', () => serverId);
    await killed.applyToEnd(coordinator.changes, 'log', signal);

    expect(ids(killed)).toEqual(['later', 'own']);
    expect(setAside).toEqual(['killed']);
    // One that has others is refused.
    const other = await single('other', 'x');
    await expect(other.applyToEnd(coordinator.changes, 'log', signal)).rejects.toThrow(
      'definitions of its own',
    );
    expect(ids(other)).toEqual(['x']);
  });

  test('a log gets a name once, also one of a version that gave it none', async () => {
    const { metadata } = await open('a');
    const { register } = coordinator;
    const given = { cluster: 'c', hasOwn: true };
    const first = await shareIdentity(register, metadata, given);
    expect(first.begins).toBe(metadata.serverId);
    const { log: _, ...old } = first;
    await register.put('identity', JSON.stringify(old));

    const [one, other] = await Promise.all([
      shareIdentity(register, metadata, given),
      shareIdentity(register, (await open('b')).metadata, given),
    ]);

    expect(one.log).not.toBe(first.log);
    expect(other).toEqual(one);
  });
});

test('somebody has to look at another history', () => {
  expect([isStuck(new HistoryMismatch('x')), isStuck(new Unavailable('x'))]).toEqual([true, false]);
});
