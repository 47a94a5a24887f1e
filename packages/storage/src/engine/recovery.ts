// Opening: replays the log files in order. A torn tail is cut; damage in the middle is reported and stepped over.
import { Corruption } from '@tidemark/core';

import { DecodeError } from '../bytes.ts';
import type { Disk } from '../disk/disk.ts';
import type { StorageLog } from '../options.ts';
import { scanWalFile } from '../wal/wal-file.ts';
import { walFileId } from '../wal/wal.ts';
import { decodeRecord } from '../wal/wal-record.ts';
import type { RowsRecord, WalRecord } from '../wal/wal-record.ts';
import { applyAdditions, applyRows } from './apply.ts';
import type { Engine } from './engine.ts';

export type RecoveryOptions = {
  readonly disk: Disk;
  readonly directory: string;
  readonly log: StorageLog;
};

/** Applies all records and returns the id for the next log file. */
export async function replayLog(engine: Engine, options: RecoveryOptions): Promise<number> {
  const { disk, directory, log } = options;
  const replay = new Replay(engine, log);
  let nextFileId = 1;
  for (const name of disk.list(directory)) {
    const id = walFileId(name);
    if (id === undefined) continue;
    nextFileId = id + 1;
    const file = disk.open(`${directory}/${name}`, 'modify');
    try {
      const scan = scanWalFile(file);
      for (const offset of scan.damagedAt) {
        log('error', 'log record is damaged and was left out', { file: file.path, offset });
      }
      for (const payload of scan.payloads) replay.apply(payload, file.path);
      if (scan.goodBytes < scan.fileBytes) {
        const cutBytes = scan.fileBytes - scan.goodBytes;
        log('warn', 'torn tail of the log was cut', {
          file: file.path,
          offset: scan.goodBytes,
          cutBytes,
        });
        file.truncate(scan.goodBytes);
        await file.sync();
      }
    } finally {
      file.close();
    }
  }
  for (const database of engine.databases.values()) database.markLogged();
  return nextFileId;
}

class Replay {
  readonly #engine: Engine;
  readonly #log: StorageLog;
  /** Writes that were on their way while these were dropped come behind the drop in the log. */
  readonly #droppedShards = new Set<number>();
  readonly #droppedInstances = new Set<number>();

  constructor(engine: Engine, log: StorageLog) {
    this.#engine = engine;
    this.#log = log;
  }

  apply(payload: Uint8Array, file: string): void {
    let record: WalRecord;
    try {
      record = decodeRecord(payload);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      // The checksum was right, so this is not damage of the disk: say so, and keep the rest.
      const wrapped = new Corruption('log record can not be decoded', {
        file,
        offset: payload.byteOffset,
      });
      this.#log('error', wrapped.message, { error });
      return;
    }
    switch (record.kind) {
      case 'rows':
        this.#applyRows(record);
        break;
      case 'delete':
        this.#engine.applyDelete(record);
        break;
      case 'drop':
        this.#applyDrop(record.shardIds);
        break;
    }
  }

  #applyRows(record: RowsRecord): void {
    const { name, instance } = record.database;
    if (this.#droppedInstances.has(instance)) return;
    let database = this.#engine.databases.get(name);
    if (database?.instance !== instance) database = this.#engine.addDatabase(name, instance);
    applyAdditions(database.index, record.additions);
    for (const { shard: descriptor, tables } of record.parts) {
      if (this.#droppedShards.has(descriptor.id)) continue;
      const { shards } = this.#engine;
      const shard = shards.get(descriptor.id) ?? shards.add(descriptor);
      for (const table of tables) {
        for (const column of table.columns) {
          shard.fields.set(table.measurementId, column.name, column.type);
        }
        applyRows(database.index, shard, table);
      }
    }
  }

  #applyDrop(shardIds: readonly number[]): void {
    const before = [...this.#engine.databases.values()];
    for (const id of shardIds) this.#droppedShards.add(id);
    this.#engine.applyDrop({ kind: 'drop', shardIds });
    for (const database of before) {
      if (!this.#engine.databases.has(database.name)) this.#droppedInstances.add(database.instance);
    }
  }
}
