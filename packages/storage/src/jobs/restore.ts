// Restores a backup into a running engine. Its databases get ids of this engine and become visible
// with one commit of the manifest. Before that there are only files that no manifest names; after a
// crash the next start removes them.
import { assert, Conflict, Corruption } from '@tidemark/core';
import type {
  RestoreReport,
  RestoreRequest,
  ShardDescriptor,
  StorageLog,
} from '@tidemark/storage-api';

import type { BackupContents, BackupFrame } from '../backup/format.ts';
import { readFrames } from '../backup/read-frames.ts';
import { withDiskReason } from '../disk/disk-errors.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { indexDirectory, shardDirectory, shardsDirectory } from '../disk/paths.ts';
import { Gate } from '../schedule/gate.ts';
import { Pacer } from '../schedule/pacer.ts';
import type { Turns } from '../schedule/turns.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import { applyAdditions } from '../series/index-additions.ts';
import type { IndexAdditions } from '../series/index-additions.ts';
import type { IndexFiles } from '../series/index-files.ts';
import { IndexLog } from '../series/index-log.ts';
import { registerSegment } from '../state/live-series.ts';
import type { ShardKeys } from '../shard/shard-keys.ts';
import type { Shard } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { Database } from '../state/database.ts';
import type { SegmentFiles } from '../state/segment-files.ts';
import type { State } from '../state/state.ts';

export type RestoreOptions = {
  readonly state: State;
  readonly drops: { settle(database: string): Promise<void> };
  readonly segmentFiles: SegmentFiles;
  readonly shardKeys: ShardKeys;
  readonly indexFiles: IndexFiles;
  readonly turns: Turns;
  readonly disk: Disk;
  readonly directory: string;
  readonly log: StorageLog;
  readonly fault: (point: string) => Promise<void>;
};

export class Restores {
  readonly #options: RestoreOptions;
  readonly #gate = new Gate();
  readonly #running = new Set<Restore>();

  constructor(options: RestoreOptions) {
    this.#options = options;
  }

  /**
   * Adds the databases that `request` selects from a full backup. Throws `Conflict` when one exists
   * already, and `Unavailable` when it was closed before the end.
   */
  async run(request: RestoreRequest, bytes: AsyncIterable<Uint8Array>): Promise<RestoreReport> {
    const restore = new Restore(this.#options, request);
    this.#running.add(restore);
    try {
      for await (const frame of readFrames(bytes, 'backup')) {
        await this.#gate.pass(() => restore.take(frame));
      }
      return await this.#gate.pass(() => restore.commit());
    } catch (error) {
      restore.abandon();
      throw withDiskReason('backup cannot be restored', error);
    } finally {
      this.#running.delete(restore);
    }
  }

  /** Ends running restores, which may be waiting for their bytes. */
  async close(): Promise<void> {
    await this.#gate.close();
    for (const restore of this.#running) restore.abandon();
  }
}

/** A shard of the backup, under the ids of this engine. */
type PendingShard = {
  readonly descriptor: ShardDescriptor;
  readonly tombstones: readonly Tombstone[];
  readonly infos: readonly SegmentInfo[];
};

type Target = { readonly shardId: number; readonly info: SegmentInfo };

class Restore {
  readonly #options: RestoreOptions;
  readonly #request: RestoreRequest;
  readonly #pacer: Pacer;
  /** Databases by their instance in the backup. */
  readonly #databases = new Map<number, Database>();
  readonly #pending: PendingShard[] = [];
  /** Those of `#pending` whose segments are open. */
  readonly #shards: Shard[] = [];
  /** Segments that have not been read yet, by their names in the backup. */
  readonly #wanted = new Map<string, Target>();
  #open: { readonly file: DiskFile; readonly sizeBytes: number; written: number } | undefined;
  #bytes = 0;
  #hasBegun = false;
  /** Abandoned, or handed over to the state. */
  #hasEnded = false;

  constructor(options: RestoreOptions, request: RestoreRequest) {
    this.#options = options;
    this.#request = request;
    this.#pacer = new Pacer(options.turns);
  }

  async take(frame: BackupFrame): Promise<void> {
    switch (frame.kind) {
      case 'contents':
        await this.#begin(frame);
        break;
      case 'series':
        this.#addSeries(frame.instance, frame.additions);
        break;
      case 'file':
        await this.#beginFile(frame.name, frame.sizeBytes);
        break;
      case 'bytes':
        this.#write(frame.bytes);
        break;
      case 'attachment':
      case 'end':
      case 'failure':
        break;
    }
  }

  /** Assigns ids of this engine to everything in the backup. */
  async #begin(contents: BackupContents): Promise<void> {
    const { manifest, segments: names, includes } = contents;
    const { state, drops, disk, directory } = this.#options;
    if (this.#hasBegun) throw damaged('its contents are there twice');
    this.#hasBegun = true;
    for (const { name, instance } of manifest.databases) {
      const newName = this.#request.databases.get(name);
      if (newName === undefined) continue;
      await drops.settle(newName);
      const hasShards = state.shards.ofDatabase(newName).length > 0;
      this.#databases.set(instance, state.databases.reserve(newName, hasShards));
    }
    const sequences = new Map<number, number>();
    for (const sequence of sequencesOf(contents)) sequences.set(sequence, state.ids.takeSequence());
    const newSequence = (old: number): number => {
      const sequence = sequences.get(old);
      assert(sequence !== undefined, 'every sequence of the manifest is mapped');
      return sequence;
    };
    const included = new Set(includes);
    let at = 0;
    for (const { descriptor, segments, tombstones } of manifest.shards) {
      const database = this.#request.databases.get(descriptor.database);
      const policyId = this.#request.policies.get(descriptor.policyId);
      const first = at;
      at += segments.length;
      if (database === undefined || policyId === undefined) continue;
      const id = state.shards.takeId();
      const infos = segments.map((old, i): SegmentInfo => {
        const name = names[first + i] ?? '';
        if (!included.has(name))
          throw damaged(`\`${name}\` is not in it; join it with its predecessors`);
        const info = {
          ...old,
          fileId: state.ids.takeFileId(),
          sequence: newSequence(old.sequence),
        };
        this.#wanted.set(name, { shardId: id, info });
        return info;
      });
      this.#pending.push({
        descriptor: { ...descriptor, id, policyId, database },
        tombstones: tombstones.map((t) => ({ ...t, sequence: newSequence(t.sequence) })),
        infos,
      });
      disk.makeDirectory(shardDirectory(directory, id));
    }
    await disk.syncDirectory(shardsDirectory(directory));
  }

  #addSeries(instance: number, additions: IndexAdditions): void {
    const database = this.#databases.get(instance);
    if (database !== undefined) applyAdditions(database.index, additions);
  }

  async #beginFile(name: string, sizeBytes: number): Promise<void> {
    await this.#endFile();
    const target = this.#wanted.get(name);
    if (target === undefined) return;
    if (target.info.sizeBytes !== sizeBytes) throw damaged(`size of \`${name}\``);
    this.#wanted.delete(name);
    const { disk, segmentFiles } = this.#options;
    const path = segmentFiles.pathOf(target.shardId, target.info.fileId);
    this.#open = { file: disk.open(path, 'create'), sizeBytes, written: 0 };
  }

  #write(bytes: Uint8Array): void {
    const open = this.#open;
    if (open === undefined) return;
    open.file.write(bytes, open.written);
    open.written += bytes.length;
    this.#bytes += bytes.length;
  }

  async commit(): Promise<RestoreReport> {
    const { state, indexFiles, log, fault } = this.#options;
    await this.#endFile();
    const [missing] = this.#wanted.keys();
    if (missing !== undefined) throw damaged(`\`${missing}\` is missing`);
    await fault('restore:segments-written');
    for (const pending of this.#pending) await this.#openShard(pending);
    for (const database of this.#databases.values()) {
      // A crash during an earlier restore may have left a file of this number.
      this.#indexLog(database).remove();
      await indexFiles.persist(database.stored, 'background');
      database.markLogged();
    }
    await fault('restore:index-written');
    for (const id of this.#request.policies.values()) {
      if (!state.shards.isDropped(id)) continue;
      throw new Conflict(`retention policy was dropped while it was being restored. id=${id}`);
    }
    const databases = [...this.#databases.values()];
    const shards = this.#shards;
    // Even if the commit fails, the manifest on disk may name the files: they are removed after the
    // next one.
    this.#hasEnded = true;
    try {
      await state.commit({ adopted: { databases, shards, undo: () => this.#remove() } });
    } catch (error) {
      await state.settle().catch((later: unknown) => {
        log('error', 'a failed restore could not be rolled back yet', { error: later });
      });
      throw error;
    }
    return {
      databases: databases.map(({ name }) => name),
      shards: shards.length,
      segments: shards.reduce((sum, { segments }) => sum + segments.length, 0),
      bytes: this.#bytes,
    };
  }

  async #openShard({ descriptor, tombstones, infos }: PendingShard): Promise<void> {
    const { id, database: name } = descriptor;
    const { state, segmentFiles, shardKeys } = this.#options;
    await segmentFiles.sync(id);
    const database = [...this.#databases.values()].find((one) => one.name === name);
    assert(database !== undefined, 'shards of databases that are restored');
    const segments = infos.map((info) => segmentFiles.open(id, info));
    const shard = state.shards.make(descriptor, { segments, tombstones });
    this.#shards.push(shard);
    for (const segment of segments) {
      registerSegment(state.shards, { shard, index: database.index }, segment);
      await this.#pacer.pause();
    }
    const { index } = database;
    await shardKeys.update(shard, [], { index, pacer: this.#pacer });
  }

  async #endFile(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    try {
      if (open.written !== open.sizeBytes) throw damaged('a file is incomplete');
      await open.file.sync();
    } finally {
      open.file.close();
    }
  }

  /** Removes everything restored so far. */
  abandon(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#remove();
  }

  #remove(): void {
    const { state, disk, directory } = this.#options;
    this.#open?.file.close();
    for (const { segments } of this.#shards) for (const segment of segments) segment.close();
    for (const { descriptor } of this.#pending) {
      disk.removeDirectory(shardDirectory(directory, descriptor.id));
    }
    for (const database of this.#databases.values()) {
      this.#indexLog(database).remove();
      state.databases.release(database);
    }
  }

  #indexLog({ stored }: Database): IndexLog {
    const { disk, directory } = this.#options;
    return new IndexLog(disk, indexDirectory(directory), stored.fileId);
  }
}

/** All sequences in a manifest, ascending. Only their order has a meaning. */
function sequencesOf({ manifest }: BackupContents): number[] {
  const found = new Set<number>();
  for (const { segments, tombstones } of manifest.shards) {
    for (const { sequence } of segments) found.add(sequence);
    for (const { sequence } of tombstones) found.add(sequence);
  }
  return [...found].sort((a, b) => a - b);
}

function damaged(what: string): Corruption {
  return new Corruption(`backup cannot be restored: ${what}`, { file: 'backup', offset: 0 });
}
