// `tidemark engine join`: moves everything that a single engine has stored into a cluster, all of
// it or nothing. It is one record of the shared log, written while no instance leads, so that
// nothing can change between the check for conflicts and the record
// (docs/adr/0020-engine-cluster.md).
import { makeDirectory, PRIVATE_DIRECTORY } from '@tidemark/process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { betweenLeaders, NatsCoordinator } from '@tidemark/cluster';
import { Conflict, InvalidRequest } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { EngineConfig } from '../config/config.ts';
import type { RecordingRecord } from '../store/records.ts';
import type { KeyOptions, Metadata } from '../store/metadata.ts';
import { METADATA_FILE } from '../store/metadata-file.ts';
import { KEY_FILE } from '../store/store-cipher.ts';
import type { Entries } from '../store/table.ts';
import { declarationOf, TABLES } from '../store/tables.ts';
import type { StoreChange, StoreKey, TableName } from '../store/tables.ts';
import { formatAt, THIS_BUILD } from '../shared-log/build.ts';
import { RecordLabel } from '../shared-log/change-record.ts';
import { requireKey } from './identity.ts';
import { containing } from '../tasks/snapshots.ts';
import { Replica } from './replica.ts';
import { withStoppedStore } from './stopped-store.ts';

export type JoinOptions = {
  /**
   * Configuration of an instance of the cluster, with its coordinator and the key of stored values.
   */
  readonly config: EngineConfig;
  /** Data directory of the single engine, which is stopped. */
  readonly from: string;
  /** Its `secrets-key`, if it was set. */
  readonly fromKey: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly onProgress: (message: string) => void;
};

export type JoinResult = {
  /** The moved entries, by kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** How the names of subscriptions begin that the single engine has left at databases. */
  readonly subscriptions: readonly string[];
};

/** An entry of a single engine, with secrets decrypted. */
type StoreEntry = { readonly table: TableName; readonly key: StoreKey; readonly value: Buffer };

/** The file of the single engine before the move. */
const KEPT_FILE = `${METADATA_FILE}.before-join`;

const CONFLICTS_LISTED = 20;

/**
 * Moves the entries. Throws `Conflict` with the ids that the cluster has too; nothing has changed
 * then on either side. Afterwards the directory is that of an instance of the cluster.
 */
export async function joinCluster(options: JoinOptions): Promise<JoinResult> {
  const { config, from, fromKey, environment } = options;
  const { enabled, coordinator: urls, ...server } = config.cluster;
  if (!enabled)
    throw new InvalidRequest(
      'cluster.enabled is not set: name the configuration of an instance with --config',
    );
  return withStoppedStore(from, { setting: fromKey, environment }, async (single) => {
    const entries = TABLES.filter(({ joinedAs }) => joinedAs !== undefined)
      .flatMap(({ name: table }) =>
        [...single.read(table).range()].map((entry) => ({ ...entry, table })),
      )
      .map((entry) => placed(entry, single.serverId));
    const counts = countsOf(entries);
    options.onProgress(`read ${describe(counts)} from ${from}`);
    const coordinator = await NatsCoordinator.open({ ...server, urls });
    try {
      await append(coordinator, entries, options);
    } finally {
      await coordinator.close();
    }
    const { clusterId, serverId } = single;
    await leave(single, options);
    return { counts, subscriptions: [clusterId, serverId].map((id) => `tidemark-${id}`) };
  });
}

/** The location of the cluster's key. */
function keyOf({ config, environment }: Pick<JoinOptions, 'config' | 'environment'>): KeyOptions {
  const { secretsKey, dataDir } = config[''];
  return { setting: secretsKey === '' ? join(dataDir, KEY_FILE) : secretsKey, environment };
}

async function append(
  coordinator: NatsCoordinator,
  entries: readonly StoreEntry[],
  options: JoinOptions,
): Promise<void> {
  const { config, clock, onProgress } = options;
  const { name: cluster, leaseMs } = config.cluster;
  const { changes } = coordinator;
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-join-'));
  makeDirectory(directory, { mode: PRIVATE_DIRECTORY });
  const key = keyOf(options);
  // The copy is new, so it has nothing to set aside.
  const setAside = (): Promise<void> => Promise.resolve();
  const replica = await Replica.open({ directory, cluster, key, build: THIS_BUILD, setAside });
  try {
    const identity = await requireKey(coordinator.register, replica.metadata, cluster);
    const { log = '' } = identity ?? {};
    const { signal } = new AbortController();
    await replica.applyToEnd(changes, log, signal);
    if (!replica.isFilled)
      throw new InvalidRequest(
        `cluster ${JSON.stringify(cluster)} has no instance yet: start the first one on ${options.from}, and the cluster begins with what is there`,
      );
    // Checked before an instance stops leading.
    newEntries(entries, replica.metadata);
    onProgress('asking the leader to pause');
    const between = { coordinator, clock, leaseMs, id: `join-${replica.metadata.serverId}` };
    await betweenLeaders(between, async (held) => {
      const last = await replica.applyToEnd(changes, log, held);
      // Tasks get all points from now on, even those that arrive before an instance leads again.
      const { last: point } = await coordinator.points.ends();
      const own = entries.map((entry) =>
        entry.table === 'snapshots' ? { ...entry, value: containing(entry.value, point) } : entry,
      );
      const added = newEntries(own, replica.metadata);
      const bytes = formatAt(1, THIS_BUILD).encode(added);
      held.throwIfAborted();
      await changes.append(bytes, { label: RecordLabel.Changes, after: last, signal: held });
    });
    onProgress('an instance goes on with it');
  } finally {
    await replica.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Entries as changes of the cluster's store. Throws `Conflict` for those that it has already. */
function newEntries(entries: readonly StoreEntry[], cluster: Metadata): readonly StoreChange[] {
  const sequence = lastSequence(cluster);
  const hasHistory = cluster.read('alert-history').count() > 0;
  const conflicts: string[] = [];
  const added: StoreChange[] = [];
  for (const entry of entries) {
    const { table, key } = entry;
    // Its entries are in the order of time.
    if (table === 'alert-history' && hasHistory) continue;
    const moved = { ...entry, key: shifted(table, key, sequence) };
    const stored = entriesOf(cluster, table).get(moved.key);
    const kind = declarationOf(table)?.joinedAs ?? '';
    if (stored === undefined) added.push(moved);
    else if (kind !== '' && !stored.equals(entry.value)) conflicts.push(`${kind} ${nameOf(entry)}`);
  }
  if (conflicts.length === 0) return cluster.sealed(added);
  const listed = conflicts.slice(0, CONFLICTS_LISTED).join(', ');
  const more = conflicts.length - CONFLICTS_LISTED;
  throw new Conflict(
    `the cluster has others of the same name: ${listed}${more > 0 ? ` and ${more} more` : ''}. Nothing was changed; rename or delete them on one side`,
  );
}

/** Moves numbers of waiting deliveries and dead letters after the existing ones. */
function shifted(table: string, key: StoreKey, by: number): StoreKey {
  if (table === 'dead-letters' && typeof key === 'number') return key + by;
  if (table === 'outbox' && Array.isArray(key)) return [key[0], Number(key[1]) + by];
  return key;
}

function lastSequence(metadata: Metadata): number {
  let last = 0;
  for (const key of metadata.read('dead-letters').keys()) last = Math.max(last, key);
  for (const [, sequence] of metadata.read('outbox').keys())
    last = Math.max(last, Number(sequence));
  return last;
}

/** Entries of a table whose type is not known here. */
function entriesOf(metadata: Metadata, table: TableName): Entries {
  return metadata.read(table) as Entries;
}

function nameOf({ table, key, value }: StoreEntry): string {
  if (Array.isArray(key)) return key.join('/');
  if (table !== 'documents') return String(key);
  // Their keys are hashes.
  const { name = key } = JSON.parse(value.toString('utf8')) as { readonly name?: string };
  return String(name);
}

/** Files of recordings stay in the directory. */
function placed(entry: StoreEntry, instance: string): StoreEntry {
  if (entry.table !== 'recordings') return entry;
  const record = JSON.parse(entry.value.toString('utf8')) as RecordingRecord;
  return { ...entry, value: Buffer.from(JSON.stringify({ ...record, instance })) };
}

/** Turns the directory into that of an instance; the previous file stays beside it. */
async function leave(single: Metadata, options: JoinOptions): Promise<void> {
  const { from, config } = options;
  await copyFile(join(from, METADATA_FILE), join(from, KEPT_FILE));
  await Replica.adopt(single, {
    cluster: config.cluster.name,
    key: keyOf(options),
    directory: from,
  });
}

function countsOf(entries: readonly StoreEntry[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { table } of entries) {
    const kind = declarationOf(table)?.joinedAs ?? '';
    if (kind !== '') counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function describe(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(
    ([kind, count]) => `${count} ${kind}${count === 1 ? '' : 's'}`,
  );
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
