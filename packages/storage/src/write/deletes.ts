// Deletes of rows and measurements, and drops of shards. A record in the log comes first, then the
// memtable and tombstones. Segments lose the rows when they are compacted.
import { MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { BLOCK_VALUES_MAX } from '@tidemark/kernels';

import { isEmptyRange } from '../columns/overlaps.ts';
import type { Gate } from '../schedule/gate.ts';
import { unchangeable } from '../damage.ts';
import type { DiskReserve } from '../disk/reserve.ts';
import type { StorageLog } from '../options.ts';
import type { IndexFiles } from '../series/index-files.ts';
import { selectMeasurements, selectOrdinals } from '../series/select.ts';
import type { Shard } from '../shard/shard.ts';
import type { Database } from '../state/database.ts';
import type { SegmentFiles } from '../state/segment-files.ts';
import type { State } from '../state/state.ts';
import type { DeleteRequest } from '../storage-engine.ts';
import { encodeFramed } from '../wal/wal-record.ts';
import type { DeletedRows, DeleteRecord, DropRecord } from '../wal/wal-record.ts';
import type { Wal } from '../wal/wal.ts';
import { applyDelete, applyDrop } from './apply.ts';

const ALL_INT64: TimeRange = { start: MIN_INT64, end: MAX_INT64 };

export type DeletesOptions = {
  readonly state: State;
  readonly wal: Wal;
  readonly reserve: DiskReserve;
  readonly segmentFiles: SegmentFiles;
  readonly indexFiles: IndexFiles;
  readonly log: StorageLog;
  /** What deletes and drops pass; a backup holds it. */
  readonly gate: Gate;
  /**
   * Called when a drop has freed space on the disk: creates the reserve again if it was used up.
   */
  readonly leaveReserve: () => Promise<void>;
  readonly fault: (point: string) => Promise<void>;
};

/** All methods reject with `Unavailable` when the log cannot be written. */
export class Deletes {
  readonly #options: DeletesOptions;
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
    if (database === undefined) return;
    const rows: DeletedRows[] = [];
    const { index } = database;
    // Rows that are being logged come before the delete in the log, so that it covers them.
    for (const measurement of selectMeasurements(index, { ...request, includesPending: true })) {
      const ordinals = selectOrdinals(index, measurement, request.where);
      if (ordinals.length === 0) continue;
      const isAll = ordinals.length === measurement.seriesCount && request.where === undefined;
      const series = isAll ? undefined : ordinals.map((ordinal) => measurement.seriesId(ordinal));
      if (series === undefined) rows.push({ measurementId: measurement.id, series });
      // Each part fits into one block of the record.
      for (let at = 0; at < (series?.length ?? 0); at += BLOCK_VALUES_MAX.value) {
        const part = series?.subarray(at, at + BLOCK_VALUES_MAX.value);
        rows.push({ measurementId: measurement.id, series: part });
      }
    }
    const { retentionPolicy, timeRange = ALL_INT64 } = request;
    await this.#logDelete(database, { rows, retentionPolicy, timeRange, freesTypes: false });
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
    await this.#logDelete(database, { rows, timeRange: ALL_INT64, freesTypes: true });
  }

  async #logDelete(
    database: Database,
    what: Pick<DeleteRecord, 'rows' | 'timeRange' | 'freesTypes'> & {
      readonly retentionPolicy?: string | undefined;
    },
  ): Promise<void> {
    const { state, wal, reserve } = this.#options;
    const { rows, timeRange, freesTypes } = what;
    if (isEmptyRange(timeRange)) return;
    const shards = state.shards
      .ofDatabase(database.name, what.retentionPolicy)
      .filter(({ descriptor: d }) => d.start <= timeRange.end && d.end > timeRange.start);
    for (const { damage } of shards) if (damage !== undefined) throw unchangeable(damage);
    const shardIds = shards.map((shard) => shard.descriptor.id);
    if (rows.length === 0 || shardIds.length === 0) return;
    const { ref } = database;
    const record: DeleteRecord = {
      kind: 'delete',
      database: ref,
      shardIds,
      timeRange,
      rows,
      freesTypes,
    };
    const framed = encodeFramed(record);
    const apply = (): void => applyDelete(state, record);
    await reserve.use(() => wal.append(framed, [database.name], apply));
  }

  /** Drops a policy: its shards, and whatever rows come for it later. */
  policy(policyId: number): Promise<void> {
    return this.#options.gate.pass(() => this.#dropPolicy(policyId));
  }

  async #dropPolicy(policyId: number): Promise<void> {
    const { state } = this.#options;
    const { shards } = state;
    // First, so that neither a write nor a restore that is running adds a shard behind the list.
    shards.closePolicy(policyId);
    await state.adoptionEnded();
    try {
      await this.#dropShards(shards.ofPolicy(policyId));
    } catch (error) {
      if (shards.ofPolicy(policyId).length > 0) shards.reopenPolicy(policyId);
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
    const { state, wal, reserve, segmentFiles, indexFiles, log } = this.#options;
    const record: DropRecord = { kind: 'drop', shardIds: shards.map((s) => s.descriptor.id) };
    const framed = encodeFramed(record);
    const names = [...new Set(shards.map(({ descriptor }) => descriptor.database))];
    const apply = (): void => applyDrop(state, record);
    const logged = reserve.use(() => wal.append(framed, names, apply));
    state.shards.beginDrop(shards, logged);
    await logged;
    this.#dropped.push(...shards);
    // With a delayed sync too: a manifest without the shards must not be on disk before the drop,
    // because rows of the log would make them anew.
    await wal.syncNow();
    await this.#options.fault('drop:logged');
    try {
      await state.commit({});
    } catch (error) {
      // The drop is durable. Its files go after the next drop, or with the next start.
      log('error', 'files of dropped shards could not be removed', { error });
      return;
    }
    segmentFiles.retireShards(this.#dropped.splice(0));
    indexFiles.removeOthers(state.databases.storedIndexes());
    await this.#options.leaveReserve();
  }
}
