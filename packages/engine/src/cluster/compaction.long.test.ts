// Compaction of a long shared log: the complete content is written again while changes continue,
// and older records are removed only when all of it is stored.
import { NatsCoordinator } from '@tidemark/cluster';
import { hasPrograms, makeDirectory, removeDirectory, TestCoordinator } from '@tidemark/testkit';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CHANGES_LOG } from '../limits.ts';
import { THIS_BUILD } from '../shared-log/build.ts';
import { LeaderLog } from './leader-log.ts';
import { Replica } from './replica.ts';

const KEY = { setting: 'env:KEY', environment: { KEY: 'k'.repeat(32) } };
const CHANGE_BYTES = 4 * 1024 * 1024;
/** So many make the log longer than it may be. */
const CHANGES = Math.ceil(CHANGES_LOG.value / CHANGE_BYTES);
const quiet = (): void => undefined;

describe.runIf(hasPrograms('nats-server'))('a log that has become long', () => {
  let directory: string;
  let server: TestCoordinator;
  let coordinator: NatsCoordinator;
  const ended = new AbortController();
  const replicas: Replica[] = [];
  beforeEach(async () => {
    directory = await makeDirectory();
    server = await TestCoordinator.start();
    const urls = [server.url];
    coordinator = await NatsCoordinator.open({ urls, login: '', name: 'c', replicas: 1 });
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.close()));
    await coordinator.close();
    await server.close();
    await removeDirectory(directory);
  });

  async function open(name: string): Promise<Replica> {
    const place = { directory: join(directory, name), cluster: 'c', key: KEY };
    const setAside = (): Promise<void> => Promise.reject(new Error('nothing is set aside'));
    const replica = await Replica.open({ ...place, build: THIS_BUILD, setAside });
    replicas.push(replica);
    return replica;
  }

  const follow = (replica: Replica): Promise<number> =>
    replica.applyToEnd(coordinator.changes, 'log', ended.signal);

  const contents = ({ metadata }: Replica): ReadonlyMap<string, string> =>
    new Map(
      [...metadata.read('documents').range()].map(({ key, value }) => [
        String(key),
        `${value.length} ${value.subarray(0, 8).toString()}`,
      ]),
    );

  /** A leader whose log is as long as it may be, and what it has stored. */
  async function longLog(keys: number): Promise<{
    readonly log: LeaderLog;
    readonly own: Replica;
    readonly change: (value: number) => Promise<void>;
    readonly superseded: () => boolean;
  }> {
    let isSuperseded = false;
    const own = await open('leader');
    await own.prepare(coordinator.changes, 'log');
    const log = await LeaderLog.begin(
      {
        log: coordinator.changes,
        replica: own,
        membership: { isLeading: true, problem: undefined, level: 1 },
        build: THIS_BUILD,
        signal: ended.signal,
        onLost: () => (isSuperseded = true),
      },
      0,
      quiet,
    );
    const metadata = own.metadata.through(log);
    const change = async (value: number): Promise<void> => {
      const bytes = Buffer.alloc(CHANGE_BYTES, String(value).padStart(8, '0'));
      const key = `key-${value % keys}`;
      await metadata.commit([{ table: 'documents', key, value: bytes }]);
    };
    for (let value = 0; value <= CHANGES; value++) await change(value);
    return { log, own, change, superseded: () => isSuperseded };
  }

  test('is shortened while changes are made, and a copy follows over it', async () => {
    const { log, own, change } = await longLog(4);
    const follower = await open('follower');
    const reading = follow(follower);
    const before = await coordinator.changes.ends();

    await Promise.all([log.compact(quiet), change(100), change(101), reading]);

    const after = await coordinator.changes.ends();
    expect(before.bytes).toBeGreaterThan(CHANGES_LOG.value);
    expect(after.bytes).toBeLessThan(CHANGES_LOG.value / 2);
    expect(after.first).toBeGreaterThan(before.last);
    await follow(follower);
    expect(contents(follower)).toEqual(contents(own));
    const fresh = await open('fresh');
    await follow(fresh);
    expect(contents(fresh)).toEqual(contents(own));
  });

  test('keeps what was before when another leader begins in the middle', async () => {
    const { log, own, superseded } = await longLog(CHANGES);
    const { last } = await coordinator.changes.ends();
    const warned: string[] = [];

    const compacting = log.compact((level, message) => void warned.push(`${level} ${message}`));
    for await (const { label } of coordinator.changes.read({
      first: last + 1,
      signal: ended.signal,
    }))
      if (label === 'begin') break;
    await coordinator.changes.append(new Uint8Array(0), { label: 'term', signal: ended.signal });
    await compacting;

    expect(superseded()).toBe(true);
    expect(warned).toEqual(['warn failed to shorten the shared log']);
    const next = await open('next');
    await follow(next);
    expect(contents(next)).toEqual(contents(own));
    expect((await coordinator.changes.ends()).bytes).toBeGreaterThan(CHANGES_LOG.value);
  });
});
