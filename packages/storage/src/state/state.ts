// The owner of the engine's state, and the only writer of the manifest. A commit writes the
// manifest with a change applied, then changes the memory. Commits run one after another.
import type { Damage, StorageLog } from '@tidemark/storage-api';

import { namedIndexes } from '../manifest/manifest.ts';
import type { Manifest, ManifestShard } from '../manifest/manifest.ts';
import type { NextManifest } from '../manifest/manifest-change.ts';
import type { ManifestFile } from '../manifest/manifest-file.ts';
import { ManifestShards } from '../manifest/manifest-shards.ts';
import type { ShardFiles } from '../manifest/shard-file.ts';
import type { DiskReserve } from '../disk/reserve.ts';
import type { FilesOfShard, Shard } from '../shard/shard.ts';
import type { Contents } from './contents.ts';
import type { Database } from './database.ts';
import type { Reclaimer } from './reclaimer.ts';
import { viewOf } from './snapshot.ts';
import type { DatabaseView, ShardView, Snapshot } from './snapshot.ts';

/** A change to commit. Absent parts stay as they are. */
export type Change = {
  /**
   * The frozen memtables of these shards are in segments now; log files with smaller ids than
   * `walStart` are not needed any more.
   */
  readonly flushed?: { readonly walStart: number; readonly shards: readonly Shard[] } | undefined;
  /**
   * New files of shards. The functions are called when the manifest is made and again when the
   * change is applied, because deletes may add tombstones in between.
   */
  readonly files?: ReadonlyMap<Shard, () => FilesOfShard> | undefined;
  /** Databases whose rebuilt index replaces the present one. */
  readonly rebuilt?: readonly Database[] | undefined;
  /** Restored databases with their shards. */
  readonly adopted?: Adoption | undefined;
};

export type Adoption = {
  readonly databases: readonly Database[];
  readonly shards: readonly Shard[];
  /**
   * Removes everything adopted; called after a failed commit, when another manifest is durable. The
   * one on disk may name it until then.
   */
  readonly undo: () => void;
};

/** The result of a commit. */
export type Committed = {
  /** Shards that were dropped in the meantime: their new files are not part of the state. */
  readonly gone: ReadonlySet<Shard>;
  /** Number of databases whose index was replaced. */
  readonly rebuiltCount: number;
};

export type StateOptions = {
  /** Identifies this directory and its copies. */
  readonly storageId: string;
  readonly walStart: number;
  /** Index files that the manifest names. */
  readonly namedIndexes: readonly number[];
  readonly servesDamaged: boolean;
  readonly manifestFile: ManifestFile;
  readonly shardFiles: ShardFiles;
  readonly reserve: DiskReserve;
  readonly reclaimer: Reclaimer;
  readonly wal: { readonly hasList: boolean; syncNow(): Promise<void> };
  readonly log: StorageLog;
  readonly fault: (point: string) => Promise<void>;
};

export class State implements Contents {
  readonly ids;
  readonly shards;
  readonly databases;
  readonly stopped;
  readonly memtables;
  readonly storageId: string;
  readonly #options: StateOptions;
  readonly #manifestShards = new ManifestShards();
  #walStart: number;
  /** Index files that the manifest on disk may name. */
  #namedIndexes: ReadonlySet<number>;
  #commits: Promise<unknown> = Promise.resolve();
  /** Adoptions that failed, and that the manifest on disk may hold. */
  #refused: readonly Adoption[] = [];
  /** The last commit of a restore. */
  #adoption: Promise<unknown> = Promise.resolve();

  constructor(contents: Contents, options: StateOptions) {
    this.ids = contents.ids;
    this.shards = contents.shards;
    this.databases = contents.databases;
    this.stopped = contents.stopped;
    this.memtables = contents.memtables;
    this.storageId = options.storageId;
    this.#options = options;
    this.#walStart = options.walStart;
    this.#namedIndexes = new Set(options.namedIndexes);
  }

  /** Log files with smaller ids are not needed: their rows are in segments. */
  get walStart(): number {
    return this.#walStart;
  }

  /** Whether this very shard still exists. */
  has(shard: Shard): boolean {
    return this.shards.get(shard.descriptor.id) === shard;
  }

  /** The damage that was found when the engine was opened. */
  damage(): readonly Damage[] {
    const segments = [...this.shards.all()].flatMap(({ unreadable }) => unreadable);
    return [...this.stopped.list(), ...segments.map(({ damage }) => damage)];
  }

  /** The state that a read sees if it begins now, until it is released. */
  snapshot(): Snapshot {
    const { shards, memtables } = this;
    const views: ShardView[] = [];
    const hiding = new Set<string>();
    for (const shard of shards.all()) {
      if (shards.isVisible(shard)) {
        views.push(viewOf(shard, memtables.tablesOf(shard.descriptor.id)));
      } else hiding.add(shard.descriptor.database);
    }
    const databases = new Map<string, DatabaseView>();
    for (const { name, instance, stored } of this.databases.all()) {
      const hidesSeries = hiding.has(name);
      databases.set(name, {
        instance,
        get index() {
          return stored.index;
        },
        hidesSeries,
      });
    }
    const { servesDamaged, reclaimer } = this.#options;
    const { number: lease, release } = reclaimer.enter();
    const { stopped } = this;
    return { shards: views, databases, stopped, servesDamaged, lease, release };
  }

  /**
   * Keeps the files of shards that are dropped meanwhile, for work that reads or adds some. The
   * returned function ends it.
   */
  keepFiles(): () => void {
    return this.#options.reclaimer.enter().release;
  }

  /** Ids of the index files in use: by what is in memory, or by the manifest on disk. */
  *indexFileIds(): Generator<number> {
    yield* this.databases.indexFileIds();
    yield* this.#namedIndexes;
  }

  /** Makes a change durable, then visible. */
  commit(change: Change): Promise<Committed> {
    const next = this.#commits.then(async () => {
      try {
        return await this.#commit(change);
      } catch (error) {
        const { adopted } = change;
        const isVisible = adopted?.databases.every((one) => this.databases.has(one));
        if (adopted !== undefined && isVisible === false) {
          this.#refused = [...this.#refused, adopted];
        }
        throw error;
      }
    });
    this.#commits = next.catch(() => undefined);
    if (change.adopted !== undefined) this.#adoption = this.#commits;
    return next;
  }

  /** Takes back what failed commits may have left in the manifest on disk. */
  async settle(): Promise<void> {
    if (this.#refused.length > 0) await this.commit({});
  }

  async #commit(change: Change): Promise<Committed> {
    await this.#options.fault('manifest:before');
    const touched = this.shards.takeTouched();
    try {
      return await this.#write(change, touched);
    } catch (error) {
      this.shards.touch(touched);
      throw error;
    }
  }

  async #write(change: Change, touched: ReadonlySet<number>): Promise<Committed> {
    const { manifestFile, reserve, wal, fault } = this.#options;
    const manifest = this.#next(change, touched);
    // Even with delayed syncs: the manifest must not be ahead of the log, whose records a start
    // applies to it.
    await wal.syncNow();
    const named = new Set(namedIndexes(manifest));
    this.#namedIndexes = new Set([...this.#namedIndexes, ...named]);
    // The new manifest lets older files be removed, among them log files. So it may use the
    // reserve.
    const changed = await reserve.use(() => manifestFile.write(manifest));
    this.#namedIndexes = named;
    const committed = this.#apply(change);
    this.#undoRefused();
    await this.#updateShardFiles(changed);
    await fault('manifest:after');
    return committed;
  }

  /** Resolves when the restored shards that are being committed are visible. */
  async adoptionEnded(): Promise<void> {
    await this.#adoption;
  }

  /** Resolves when no commit is under way. */
  async idle(): Promise<void> {
    await this.#commits;
  }

  /**
   * Failures are only logged: the commit has succeeded, and the next start removes what is left.
   */
  #undoRefused(): void {
    const refused = this.#refused;
    this.#refused = [];
    for (const { undo } of refused) {
      try {
        undo();
      } catch (error) {
        this.#options.log('error', 'files of a restore that failed could not be removed', {
          error,
        });
      }
    }
  }

  #apply({ flushed, files, rebuilt, adopted }: Change): Committed {
    if (flushed !== undefined) {
      this.#walStart = flushed.walStart;
      for (const shard of flushed.shards) {
        this.memtables.flushed(shard.descriptor.id);
        this.shards.flushed(shard);
      }
    }
    const gone = new Set<Shard>();
    for (const [shard, present] of files ?? []) {
      if (!this.has(shard)) {
        gone.add(shard);
        continue;
      }
      this.shards.replaceFiles(shard, present());
    }
    let rebuiltCount = 0;
    for (const database of rebuilt ?? []) {
      if (!this.databases.has(database)) continue;
      rebuiltCount++;
      database.adoptRebuilt();
      // Right after a flush there are few rows in the memtable.
      for (const { descriptor } of this.shards.ofDatabase(database.name)) {
        this.memtables.reindex(descriptor.id, database.index);
      }
    }
    for (const database of adopted?.databases ?? []) this.databases.adopt(database);
    for (const shard of adopted?.shards ?? []) this.shards.adopt(shard);
    return { gone, rebuiltCount };
  }

  /**
   * Failures are only logged: the commit has succeeded, and nothing but `repair` reads these files.
   */
  async #updateShardFiles(changed: ReadonlySet<number>): Promise<void> {
    const { shardFiles, manifestFile } = this.#options;
    try {
      await shardFiles.update(manifestFile.durable, changed);
    } catch (error) {
      this.#options.log('warn', 'files of shards could not be written', { error });
    }
  }

  /** The manifest of the present state. */
  manifest(): Manifest {
    const logged = [...this.shards.all()].filter(({ isLogged }) => isLogged);
    return {
      ...this.#nextDatabases({}),
      shards: logged.map((shard) => this.#manifestShards.of(shard, shard)),
    };
  }

  /** The manifest after a change. `touched` has the other shards that may have changed. */
  #next(change: Change, touched: ReadonlySet<number>): NextManifest {
    const { files, adopted } = change;
    const entries = new Map<number, ManifestShard | undefined>();
    const changed = files === undefined ? [] : Array.from(files.keys(), (one) => one.descriptor.id);
    for (const id of [...touched, ...changed]) {
      const shard = this.shards.get(id);
      const entry =
        shard?.isLogged === true
          ? this.#manifestShards.of(shard, files?.get(shard)?.() ?? shard)
          : undefined;
      entries.set(id, entry);
    }
    for (const shard of adopted?.shards ?? []) {
      entries.set(shard.descriptor.id, this.#manifestShards.of(shard, shard));
    }
    return { ...this.#nextDatabases(change), touched: entries };
  }

  /** All but the shards. */
  #nextDatabases({ flushed, rebuilt, adopted }: Change): Omit<Manifest, 'shards'> {
    const restored = adopted?.databases ?? [];
    // A restored database replaces an empty one of its name.
    const replaced = new Set(restored.map(({ name }) => name));
    const present = [...this.databases.all()].filter(({ name }) => !replaced.has(name));
    const databases = [...present, ...restored];
    const stopped = this.stopped.list();
    return {
      storageId: this.storageId,
      walStart: flushed?.walStart ?? this.#walStart,
      ...this.ids.next,
      nextShardId: this.shards.nextId,
      databases: databases.map((database) => {
        const { stored, rebuild } = database;
        const isRebuilt = rebuild !== undefined && rebuilt?.includes(database) === true;
        return database.manifestRef(isRebuilt ? rebuild.stored : stored);
      }),
      hasLogList: this.#options.wal.hasList,
      ...(stopped.length === 0 ? {} : { stopped }),
    };
  }
}
