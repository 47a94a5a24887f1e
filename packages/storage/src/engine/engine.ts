// The engine as the embedding program uses it, in one thread. It is assembled in `open-engine.ts`;
// its methods call the owners of state and the jobs.
import type {
  BackupRequest,
  Damage,
  DeleteRequest,
  PointStorage,
  RestoreReport,
  RestoreRequest,
  ShardInfo,
  StorageMaintenance,
  StorageStatistics,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '@tidemark/storage-api';

import { createBackup } from '../backup/create.ts';
import { flushAtEnd } from '../jobs/stopping.ts';
import { LocalSource } from '../read/local-source.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { EngineParts } from './parts.ts';
import { statisticsOf } from './statistics.ts';

/** From the beginning of `close` on, all other methods reject with `Unavailable`, or throw it. */
export class Engine implements PointStorage, StorageMaintenance {
  readonly source: LocalSource;
  readonly #parts: EngineParts;
  #closing: Promise<void> | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.source = new LocalSource({ ...parts.reading, snapshot: () => this.snapshot() });
  }

  bodyBuffer(sizeBytes: number): Uint8Array {
    return new Uint8Array(sizeBytes);
  }

  async writeLines(request: WriteLinesRequest): Promise<WriteOutcome> {
    return this.#open.writes.lines(request);
  }

  /** As `writeLines`, for small bodies that have come together (`Writes.together`). */
  writeTogether(requests: readonly WriteLinesRequest[]): readonly Promise<WriteOutcome>[] {
    return this.#open.writes.together(requests);
  }

  async writePoints(request: WritePointsRequest): Promise<WriteOutcome> {
    return this.#open.writes.points(request);
  }

  async delete(request: DeleteRequest): Promise<void> {
    await this.#open.deletes.rows(request);
  }

  async dropMeasurement(database: string, name: string): Promise<void> {
    await this.#open.deletes.measurement(database, name);
  }

  async dropPolicy(policyId: number): Promise<void> {
    await this.#open.deletes.policy(policyId);
  }

  async dropShard(shardId: number): Promise<boolean> {
    const { deletes, state } = this.#open;
    const shard = state.shards.get(shardId);
    if (shard === undefined) return false;
    await deletes.shards([shard]);
    return true;
  }

  async shards(): Promise<readonly ShardInfo[]> {
    const { shards } = this.#parts.state;
    const infos: ShardInfo[] = [];
    for (const shard of shards.all()) {
      if (!shards.isVisible(shard)) continue;
      const { descriptor, diskBytes } = shard;
      infos.push({ ...descriptor, shardGroupId: descriptor.id, diskBytes });
    }
    return infos.sort((a, b) => a.id - b.id);
  }

  async statistics(): Promise<StorageStatistics> {
    return statisticsOf(this.#parts);
  }

  async damage(): Promise<readonly Damage[]> {
    return this.#parts.state.damage();
  }

  snapshot(): Snapshot {
    return this.#open.state.snapshot();
  }

  async flush(): Promise<void> {
    await this.#open.flush.run();
  }

  async compact(): Promise<void> {
    const { compaction, rebuilds } = this.#open;
    await compaction.run({ all: true });
    await rebuilds.run();
  }

  backup(request: BackupRequest): AsyncGenerator<Uint8Array> {
    return createBackup(this.#open.backup, request);
  }

  async restore(request: RestoreRequest, bytes: AsyncIterable<Uint8Array>): Promise<RestoreReport> {
    return this.#open.restores.run(request, bytes);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { state, wal, reclaimer, readers, stopping, background, log, lock } = this.#parts;
    const { deletes, flush, checkpoints, compaction, rebuilds, restores } = this.#parts;
    stopping.begin();
    try {
      if (background !== undefined) {
        await background;
        await flushAtEnd(flush, state.memtables.bytes, log);
      }
      // No file changes after the end, when another engine may use the directory.
      await Promise.all([compaction.idle(), rebuilds.idle(), deletes.close(), restores.close()]);
      await flush.close();
      await checkpoints.idle();
      await state.idle();
      await checkpoints.writeAtEnd(stopping.flushes);
      await wal.close();
      await readers?.close();
      reclaimer.drain();
      for (const { segments } of state.shards.all()) {
        for (const segment of segments) segment.close();
      }
    } finally {
      stopping.end();
    }
    await lock?.release();
  }

  /** The parts; throws `Unavailable` when the engine closes. */
  get #open(): EngineParts {
    this.#parts.stopping.requireOpen();
    return this.#parts;
  }
}
