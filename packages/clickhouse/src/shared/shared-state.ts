// The state that all front ends of a cluster share: shard groups and field types, the catalog,
// documents, deletes, and the holder of the lease.
import { assert } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage-api';

import type { Cluster } from '../cluster/cluster.ts';
import { LIMITS } from '../limits.ts';
import { PeriodicJob } from '../periodic-job.ts';
import { isEmpty, parseShared, printShared } from './entries.ts';
import type { Additions, StoredDocument, SharedEntry } from './entries.ts';
import { Registry } from './registry.ts';
import type { RegistryText } from './registry.ts';
import { SharedLog } from './shared-log.ts';
import { newestVersion } from './stored-versions.ts';

type Whole = {
  /**
   * Added to transaction numbers, so that versions continue when the cluster gets another
   * ZooKeeper.
   */
  readonly versionBase: bigint;
  readonly registry: RegistryText;
  readonly catalog: string | undefined;
  readonly leader: string;
  readonly documents: readonly (readonly [key: string, stored: StoredDocument])[];
};

/** Called with every entry, or with `undefined` when the whole state was replaced. */
export type EntryListener = (entry: SharedEntry | undefined) => void;

export class SharedState {
  readonly registry = new Registry();
  readonly #documents = new Map<string, StoredDocument>();
  #catalog: string | undefined;
  #leader = '';
  #versionBase = 0n;
  #log: SharedLog | undefined;
  readonly #listeners: EntryListener[] = [];
  #following: PeriodicJob | undefined;

  /** Reads the shared log, and keeps following it. */
  static async open(cluster: Cluster, clock: Clock, log: StorageLog): Promise<SharedState> {
    const state = new SharedState();
    state.#log = await SharedLog.open(
      cluster,
      {
        apply: (payload, order) => state.#apply(parseShared<SharedEntry>(payload), order),
        print: () => printShared(state.#whole()),
        restore: (text) => state.#restore(parseShared<Whole>(text)),
        adopt: async () => {
          state.#versionBase = (await newestVersion(cluster)) + 1n;
        },
      },
      clock,
    );
    state.#following = new PeriodicJob({
      clock,
      log,
      what: 'follow the shared log of the services',
      everyMs: LIMITS.followMs.value,
      work: () => state.sync(),
    });
    return state;
  }

  get catalog(): string | undefined {
    return this.#catalog;
  }

  get documents(): ReadonlyMap<string, StoredDocument> {
    return this.#documents;
  }

  /** The front end that has the lease; empty if none has it. */
  get leader(): string {
    return this.#leader;
  }

  onEntry(listener: EntryListener): void {
    this.#listeners.push(listener);
  }

  /** Resolves when all entries that were appended before are applied on this front end. */
  async sync(): Promise<void> {
    await this.#log?.sync();
  }

  /**
   * Returns a version above all that were returned before. When it resolves, all entries with lower
   * versions are applied on this front end.
   */
  async nextVersion(untilMs?: number): Promise<bigint> {
    assert(this.#log !== undefined, 'the state is open');
    return this.#versionBase + (await this.#log.nextOrder(untilMs));
  }

  /** See `SharedLog.append`. */
  async agree(make: () => SharedEntry | undefined, untilMs?: number): Promise<void> {
    await this.#log?.append(() => {
      const entry = make();
      return entry === undefined ? undefined : printShared(entry);
    }, untilMs);
  }

  /** Appends additions to the shared log; `false` if they contradict what is agreed on. */
  async add(additions: Additions, untilMs?: number): Promise<boolean> {
    const { registry } = this;
    let isPossible = true;
    await this.agree(() => {
      isPossible = !registry.contradicts(additions);
      if (!isPossible) return undefined;
      const missing = registry.missing(additions);
      if (isEmpty(missing)) return undefined;
      return { kind: 'add', ...missing };
    }, untilMs);
    return isPossible;
  }

  async close(): Promise<void> {
    await this.#following?.close();
  }

  #apply(entry: SharedEntry, order: bigint): void {
    const version = this.#versionBase + order;
    switch (entry.kind) {
      case 'add':
        this.registry.add(entry);
        break;
      case 'drop-groups':
        this.registry.dropGroups(entry.ids);
        break;
      case 'delete':
        this.registry.deletes.add({ ...entry.deleted, version });
        break;
      case 'drop-measurement':
        this.registry.dropMeasurement(entry.deleted.groups, entry.measurement);
        this.registry.deletes.add({ ...entry.deleted, version });
        break;
      case 'deletes-removed':
        this.registry.deletes.remove(entry.versions);
        break;
      case 'series-gone':
        this.registry.dropTags(entry.tags);
        break;
      case 'catalog':
        this.#catalog = entry.text;
        break;
      case 'document':
        if (entry.stored === undefined) this.#documents.delete(entry.key);
        else this.#documents.set(entry.key, entry.stored);
        break;
      case 'leader':
        this.#leader = entry.holder;
    }
    for (const listener of this.#listeners) listener(entry);
  }

  #whole(): Whole {
    return {
      versionBase: this.#versionBase,
      registry: this.registry.print(),
      catalog: this.#catalog,
      leader: this.#leader,
      documents: [...this.#documents],
    };
  }

  #restore({ versionBase, registry, catalog, leader, documents }: Whole): void {
    this.#versionBase = versionBase;
    this.registry.restore(registry);
    this.#catalog = catalog;
    this.#leader = leader;
    this.#documents.clear();
    for (const [key, stored] of documents) this.#documents.set(key, stored);
    for (const listener of this.#listeners) listener(undefined);
  }
}
