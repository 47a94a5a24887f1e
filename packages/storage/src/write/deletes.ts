// Deletes of rows and measurements, and drops of shards. A record in the log comes first, then the
// memtable and tombstones. Segments lose the rows when they are compacted.
import { MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import type { DeleteRequest, StorageLog } from '@tidemark/storage-api';

import { isEmptyRange } from '../columns/overlaps.ts';
import { Deletion } from '../memtable/deletion.ts';
import type { Gate } from '../schedule/gate.ts';
import { Pacer } from '../schedule/pacer.ts';
import type { Turns } from '../schedule/turns.ts';
import { unchangeable } from '../damage.ts';
import type { DiskReserve } from '../disk/reserve.ts';
import type { IndexFiles } from '../series/index-files.ts';
import type { Shard } from '../shard/shard.ts';
import { groupInSteps } from '../shard/tombstone.ts';
import type { Database } from '../state/database.ts';
import type { SegmentFiles } from '../state/segment-files.ts';
import type { State } from '../state/state.ts';
import { EncodedRows, encodeFramed } from '../wal/wal-record.ts';
import type { DeleteRecord, DropRecord } from '../wal/wal-record.ts';
import type { Wal } from '../wal/wal.ts';
import { applyDelete, applyDrop, releaseDeleted, releaseDropped } from './apply.ts';
import type { DroppedShard } from './apply.ts';
import { DeleteSelection } from './delete-selection.ts';
import type { Drops } from './drops.ts';

const ALL_INT64: TimeRange = { start: MIN_INT64, end: MAX_INT64 };

export type DeletesOptions = {
  readonly state: State;
  readonly wal: Wal;
  readonly reserve: DiskReserve;
  readonly segmentFiles: SegmentFiles;
  readonly indexFiles: IndexFiles;
  readonly log: StorageLog;
  readonly turns: Turns;
  /** The gate of deletes and drops; a backup holds it. */
  readonly gate: Gate;
  readonly drops: Drops;
  /**
   * Called when a drop has freed space on the disk: creates the reserve again if it was used up.
   */
  readonly leaveReserve: () => Promise<void>;
  readonly fault: (point: string) => Promise<void>;
};

/** The rows of a delete, apart from its series. */
type DeletedPart = Pick<DeleteRecord, 'timeRange' | 'freesTypes'> & {
  readonly database: Database;
  /** `undefined`: every retention policy. */
  readonly retentionPolicy?: string | undefined;
};

/** The series of a delete: selected in steps, extended by series that are created meanwhile. */
type Selection = {
  readonly select: () => Generator<undefined>;
  readonly extend: () => void;
  readonly encodedRows: EncodedRows;
};

/** All methods reject with `Unavailable` when the log cannot be written. */
export class Deletes {
  readonly #options: DeletesOptions;
  /** The last delete of each database: resolved when it has taken effect. */
  readonly #running = new WeakMap<Database, Promise<void>>();
  /** Shards that are dropped, and whose files are still there. */
  readonly #dropped: Shard[] = [];

  constructor(options: DeletesOptions) {
    this.#options = options;
  }

  /**
   * Deletes rows of the series that match; durable when it resolves. Rejects with `Corruption` when
   * one of the shards is damaged.
   */
  rows(request: DeleteRequest): Promise<void> {
    return this.#options.gate.pass(() => this.#deleteRows(request));
  }

  async #deleteRows(request: DeleteRequest): Promise<void> {
    const { databases, stopped } = this.#options.state;
    stopped.requireServed(request.database);
    const database = databases.get(request.database);
    const { retentionPolicy, timeRange = ALL_INT64 } = request;
    if (database === undefined || isEmptyRange(timeRange)) return;
    const deletion = new Deletion(timeRange);
    const encodedRows = new EncodedRows();
    const selection = new DeleteSelection(database, request, (part) => {
      deletion.add(part);
      encodedRows.add(part);
    });
    await this.#delete({ database, retentionPolicy, timeRange, freesTypes: false }, deletion, {
      select: () => selection.select(),
      extend: () => selection.extend(),
      encodedRows,
    });
  }

  /** Deletes all rows of a measurement, and the types of its fields. */
  measurement(databaseName: string, name: string): Promise<void> {
    return this.#options.gate.pass(() => this.#deleteMeasurement(databaseName, name));
  }

  async #deleteMeasurement(databaseName: string, name: string): Promise<void> {
    const { databases, stopped } = this.#options.state;
    stopped.requireServed(databaseName);
    const database = databases.get(databaseName);
    const measurement = database?.index.measurement(name);
    if (database === undefined || measurement === undefined) return;
    const rows = [{ measurementId: measurement.id, series: undefined }];
    const what = { database, timeRange: ALL_INT64, freesTypes: true };
    await this.#delete(what, new Deletion(ALL_INT64, rows));
  }

  /**
   * Deletes of a database take effect one after another: one that changes the memtable makes the
   * preparation of others useless, and their effect a long turn.
   */
  async #delete(what: DeletedPart, deletion: Deletion, selection?: Selection): Promise<void> {
    const { state, turns } = this.#options;
    const { database } = what;
    const before = this.#running.get(database);
    const logged = (async () => {
      await before;
      return this.#logDelete(what, deletion, selection);
    })();
    this.#running.set(
      database,
      logged.then(
        () => undefined,
        () => undefined,
      ),
    );
    const record = await logged;
    if (record === undefined) return;
    await this.#options.fault('delete:logged');
    const pacer = new Pacer(turns, { work: 'write' });
    // The turn that has applied the delete may be used up.
    await pacer.pause();
    await pacer.run(releaseDeleted(state, record));
  }

  /** Logs a delete and applies it. Returns nothing when there is nothing to delete. */
  async #logDelete(
    what: DeletedPart,
    deletion: Deletion,
    selection: Selection | undefined,
  ): Promise<DeleteRecord | undefined> {
    const { state, wal, reserve, turns, fault } = this.#options;
    const { database, timeRange, freesTypes } = what;
    const pacer = new Pacer(turns, { work: 'write' });
    if (selection !== undefined) await pacer.run(selection.select());
    if (deletion.isEmpty) return undefined;
    await fault('delete:selected');
    await pacer.run(this.#prepare(this.#shardsOf(what), deletion, selection));
    // Nothing is awaited from here to the log.
    selection?.extend();
    const shards = this.#shardsOf(what);
    for (const { damage } of shards) if (damage !== undefined) throw unchangeable(damage);
    const shardIds = shards.map((shard) => shard.descriptor.id);
    if (shardIds.length === 0) return undefined;
    const { ref } = database;
    const record: DeleteRecord = {
      kind: 'delete',
      database: ref,
      shardIds,
      timeRange,
      rows: deletion.rows,
      encodedRows: selection?.encodedRows,
      freesTypes,
    };
    const framed = encodeFramed(record);
    const apply = (): void => applyDelete(state, record, deletion);
    await reserve.use(() => wal.append(framed, [database.name], apply));
    return record;
  }

  #shardsOf({ database, retentionPolicy, timeRange }: DeletedPart): readonly Shard[] {
    const { databases, shards } = this.#options.state;
    if (!databases.has(database)) return [];
    return shards
      .ofDatabase(database.name, retentionPolicy)
      .filter(({ descriptor: d }) => d.start <= timeRange.end && d.end > timeRange.start);
  }

  *#prepare(
    shards: readonly Shard[],
    deletion: Deletion,
    selection: Selection | undefined,
  ): Generator<undefined> {
    const { memtables } = this.#options.state;
    for (const { descriptor, tombstones } of shards) {
      yield* groupInSteps(tombstones);
      const steps = memtables.prepareDelete(descriptor.id, deletion);
      for (;;) {
        // Rows added during a pause may be of new series.
        selection?.extend();
        if (steps.next().done === true) break;
        yield undefined;
      }
    }
  }

  /** Resolves when no delete is running; none begins afterwards. */
  close(): Promise<void> {
    return this.#options.gate.close();
  }

  /**
   * Drops a policy: its shards, and rows that arrive for it later. They are hidden at once. A drop
   * that cannot be logged is owed: nothing is written to the database before it.
   */
  policy(policyId: number): Promise<void> {
    return this.#options.gate.pass(() => this.#dropPolicy(policyId));
  }

  async #dropPolicy(policyId: number): Promise<void> {
    const { state, drops } = this.#options;
    const { shards } = state;
    // First, so that no write or restore in progress adds a shard that the list misses.
    shards.closePolicy(policyId);
    await state.adoptionEnded();
    const own = shards.ofPolicy(policyId);
    const [first] = own;
    if (first === undefined) return;
    const { database } = first.descriptor;
    try {
      await this.#dropShards(own);
    } catch (error) {
      drops.owe(policyId, { database, drop: () => this.policy(policyId) });
      throw error;
    }
  }

  /**
   * Drops shards: logs a record, then commits a manifest without them, then removes their files.
   */
  shards(shards: readonly Shard[]): Promise<void> {
    return this.#options.gate.pass(() => this.#dropShards(shards));
  }

  async #dropShards(shards: readonly Shard[]): Promise<void> {
    if (shards.length === 0) return;
    const { state, wal, reserve, segmentFiles, indexFiles, drops, log, turns } = this.#options;
    const record: DropRecord = { kind: 'drop', shardIds: shards.map((s) => s.descriptor.id) };
    const framed = encodeFramed(record);
    const names = [...new Set(shards.map(({ descriptor }) => descriptor.database))];
    // `applyDrop` needs them, and must not fail.
    for (const name of names) state.databases.get(name)?.stored.read();
    let dropped: readonly DroppedShard[] = [];
    const apply = (): void => {
      dropped = applyDrop(state, record);
    };
    const logged = reserve.use(() => wal.append(framed, names, apply));
    drops.begin(shards, logged);
    await logged;
    this.#dropped.push(...shards);
    await new Pacer(turns, { work: 'write' }).run(releaseDropped(dropped));
    await this.#options.fault('drop:logged');
    // Only those that the manifest being written lacks: another drop may extend the list meanwhile,
    // and its shards are named there.
    const gone = this.#dropped.splice(0);
    try {
      await state.commit({});
    } catch (error) {
      this.#dropped.push(...gone);
      // The drop is durable. Its files are removed after the next drop, or with the next start.
      log('error', 'files of dropped shards could not be removed', { error });
      return;
    }
    segmentFiles.retireShards(gone);
    indexFiles.removeOthers(state.indexFileIds());
    await this.#options.leaveReserve();
  }
}
