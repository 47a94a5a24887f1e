// Restoring into a running engine: databases of a backup come in under ids of this engine, and
// become visible with one commit of the manifest. Until then nothing but files that no manifest
// names exists; a crash leaves those for the next start to remove.
import { assert, Corruption } from '@tidemark/core';

import type { DiskFile } from '../disk/disk.ts';
import { applyAdditions } from '../series/index-additions.ts';
import type { Database } from '../state/database.ts';
import type { Engine } from '../engine/engine.ts';
import type { Maintenance } from '../engine/maintenance.ts';
import { Pacer } from '../schedule/pacer.ts';
import { indexDirectory, segmentPath, shardDirectory, shardsDirectory } from '../disk/paths.ts';
import { registerSegment } from '../shard/live-series.ts';
import { IndexLog } from '../series/index-log.ts';
import type { SegmentInfo } from '../segment/segment.ts';
import { Shard } from '../shard/shard.ts';
import type { RestoreReport, RestoreRequest } from '../storage-engine.ts';
import type { BackupContents } from '../backup/format.ts';
import { readFrames } from '../backup/read-frames.ts';

/**
 * Adds what `request` names of a full backup. Throws `Conflict` when a database is here already.
 */
export async function adoptBackup(
  engine: Engine,
  maintenance: Maintenance,
  options: { readonly request: RestoreRequest; readonly bytes: AsyncIterable<Uint8Array> },
): Promise<RestoreReport> {
  const adoption = new Adoption(engine, maintenance, options.request);
  try {
    for await (const frame of readFrames(options.bytes, 'backup')) {
      switch (frame.kind) {
        case 'contents':
          await adoption.begin(frame);
          break;
        case 'series':
          adoption.addSeries(frame.instance, frame.additions);
          break;
        case 'file':
          await adoption.beginFile(frame.name, frame.sizeBytes);
          break;
        case 'bytes':
          adoption.write(frame.bytes);
          break;
        case 'end':
        case 'failure':
          break;
      }
    }
    return await adoption.commit();
  } catch (error) {
    adoption.abandon();
    throw error;
  }
}

type PendingShard = { readonly shard: Shard; readonly infos: readonly SegmentInfo[] };

type Target = { readonly shardId: number; readonly info: SegmentInfo };

class Adoption {
  readonly #engine: Engine;
  readonly #maintenance: Maintenance;
  readonly #request: RestoreRequest;
  readonly #pacer: Pacer;
  /** By the instance they have in the backup. */
  readonly #databases = new Map<number, Database>();
  readonly #shards: PendingShard[] = [];
  /** Segments that have not come yet, by their names in the backup. */
  readonly #wanted = new Map<string, Target>();
  #open: { readonly file: DiskFile; readonly sizeBytes: number; written: number } | undefined;
  #bytes = 0;
  #isCommitted = false;

  constructor(engine: Engine, maintenance: Maintenance, request: RestoreRequest) {
    this.#engine = engine;
    this.#maintenance = maintenance;
    this.#request = request;
    this.#pacer = new Pacer(engine.turns);
  }

  /** Gives ids of this engine to everything that comes. */
  async begin(contents: BackupContents): Promise<void> {
    const { manifest, segments: names, includes } = contents;
    const engine = this.#engine;
    assert(this.#databases.size === 0, 'a backup has its contents once');
    for (const { name, instance } of manifest.databases) {
      const newName = this.#request.databases.get(name);
      if (newName === undefined) continue;
      this.#databases.set(instance, engine.reserveDatabase(newName));
    }
    const sequences = new Map<number, number>();
    for (const sequence of sequencesOf(contents)) sequences.set(sequence, engine.takeSequence());
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
      const id = engine.shards.takeId();
      const shard = new Shard({ ...descriptor, id, policyId, database });
      shard.tombstones = tombstones.map((t) => ({ ...t, sequence: newSequence(t.sequence) }));
      const infos = segments.map((old, i): SegmentInfo => {
        const name = names[first + i] ?? '';
        if (!included.has(name))
          throw damaged(`\`${name}\` is not in it; join it with its predecessors`);
        const info = { ...old, fileId: engine.takeFileId(), sequence: newSequence(old.sequence) };
        this.#wanted.set(name, { shardId: id, info });
        return info;
      });
      this.#shards.push({ shard, infos });
      engine.environment.disk.makeDirectory(shardDirectory(engine.directory, id));
    }
    await engine.environment.disk.syncDirectory(shardsDirectory(engine.directory));
  }

  addSeries(instance: number, additions: Parameters<typeof applyAdditions>[1]): void {
    const database = this.#databases.get(instance);
    if (database !== undefined) applyAdditions(database.index, additions);
  }

  async beginFile(name: string, sizeBytes: number): Promise<void> {
    await this.#endFile();
    const target = this.#wanted.get(name);
    if (target === undefined) return;
    if (target.info.sizeBytes !== sizeBytes) throw damaged(`size of \`${name}\``);
    this.#wanted.delete(name);
    const { disk } = this.#engine.environment;
    const path = segmentPath(this.#engine.directory, target.shardId, target.info.fileId);
    this.#open = { file: disk.open(path, 'create'), sizeBytes, written: 0 };
  }

  write(bytes: Uint8Array): void {
    const open = this.#open;
    if (open === undefined) return;
    open.file.write(bytes, open.written);
    open.written += bytes.length;
    this.#bytes += bytes.length;
  }

  async commit(): Promise<RestoreReport> {
    const engine = this.#engine;
    const { disk } = engine.environment;
    await this.#endFile();
    const [missing] = this.#wanted.keys();
    if (missing !== undefined) throw damaged(`\`${missing}\` is missing`);
    await engine.fault('restore:segments-written');
    for (const { shard, infos } of this.#shards) await this.#openShard(shard, infos);
    for (const database of this.#databases.values()) {
      // An earlier restore that a crash ended may have used this number.
      new IndexLog(disk, indexDirectory(engine.directory), database.stored.fileId).remove();
      await engine.indexFiles.persist(database.stored, 'background');
      database.markLogged();
    }
    await engine.fault('restore:index-written');
    const databases = [...this.#databases.values()];
    const shards = this.#shards.map(({ shard }) => shard);
    await this.#maintenance.commitAdoption({ databases, shards });
    this.#isCommitted = true;
    return {
      databases: databases.map(({ name }) => name),
      shards: shards.length,
      segments: this.#shards.reduce((sum, { infos }) => sum + infos.length, 0),
      bytes: this.#bytes,
    };
  }

  async #openShard(shard: Shard, infos: readonly SegmentInfo[]): Promise<void> {
    const { id, database: name } = shard.descriptor;
    const { disk } = this.#engine.environment;
    await disk.syncDirectory(shardDirectory(this.#engine.directory, id));
    const database = [...this.#databases.values()].find((one) => one.name === name);
    assert(database !== undefined, 'shards of databases that are restored');
    shard.segments = infos.map((info) => this.#maintenance.openSegment(id, info));
    for (const segment of shard.segments) {
      registerSegment({ shard, index: database.index }, segment);
      await this.#pacer.pause();
    }
    const { index } = database;
    await this.#maintenance.persistKeys(shard, [], { index, work: 'background' });
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

  /** Removes what came so far. */
  abandon(): void {
    if (this.#isCommitted) return;
    const engine = this.#engine;
    const { disk } = engine.environment;
    this.#open?.file.close();
    for (const { shard } of this.#shards) {
      for (const segment of shard.segments) segment.close();
      disk.removeDirectory(shardDirectory(engine.directory, shard.descriptor.id));
    }
    for (const database of this.#databases.values()) {
      new IndexLog(disk, indexDirectory(engine.directory), database.stored.fileId).remove();
      engine.releaseDatabase(database);
    }
  }
}

/** All sequences that a manifest mentions, ascending: their order is what counts. */
function sequencesOf({ manifest }: BackupContents): number[] {
  const found = new Set<number>();
  for (const { segments, tombstones } of manifest.shards) {
    for (const { sequence } of segments) found.add(sequence);
    for (const { sequence } of tombstones) found.add(sequence);
  }
  return [...found].sort((a, b) => a - b);
}

function damaged(what: string): Corruption {
  return new Corruption(`backup can not be restored: ${what}`, { file: 'backup', offset: 0 });
}
