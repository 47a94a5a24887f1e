// Makes a backup while the engine runs: flushes, takes a snapshot, and sends its segments after
// checking every block.
import { Corruption, InvalidRequest, Unavailable } from '@tidemark/core';
import type { BackupRequest } from '@tidemark/storage-api';

import type { Disk } from '../disk/disk.ts';
import type { Gate } from '../schedule/gate.ts';
import type { Turns } from '../schedule/turns.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { State } from '../state/state.ts';
import { Pacer } from '../schedule/pacer.ts';
import { additionsUntil } from '../series/stored-index.ts';
import type { EntryCounts, StoredIndex } from '../series/stored-index.ts';
import { segmentPath } from '../disk/paths.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { SegmentCaches } from '../segment/segment-caches.ts';
import { Segment } from '../segment/segment.ts';
import { backupHeader, encodeFrame, PIECE_BYTES, segmentName } from './format.ts';
import { selectFromManifest } from './select.ts';

export type BackupOptions = {
  readonly state: State;
  readonly flush: { run(): Promise<void> };
  /** The gate that deletes pass through. */
  readonly deletes: Gate;
  readonly turns: Turns;
  readonly disk: Disk;
  /** The engine's directory. */
  readonly directory: string;
  readonly fault: (point: string) => Promise<void>;
};

type Place = { readonly shardId: number; readonly segment: Segment; readonly name: string };

/**
 * The bytes of a backup in portions; the header and the contents are one portion each. The snapshot
 * is released when the generator ends or is returned.
 */
export async function* createBackup(
  options: BackupOptions,
  request: BackupRequest,
): AsyncGenerator<Uint8Array> {
  const { state } = options;
  const { since } = request;
  if (since !== undefined && since.storageId !== state.storageId) {
    throw new InvalidRequest(
      'the previous backup is not one of this database: make a full one, or name another',
    );
  }
  const { snapshot, indexes } = await flushedSnapshot(options);
  try {
    const manifest = selectFromManifest(visibleManifest(state, snapshot), request);
    requireWhole(state, manifest);
    const places = segmentsOf(state, manifest);
    const known = new Set(since?.segments);
    const included = places.filter(({ name }) => !known.has(name));
    yield backupHeader();
    yield encodeFrame({
      kind: 'contents',
      manifest,
      segments: places.map(({ name }) => name),
      includes: included.map(({ name }) => name),
      metadata: request.metadata,
    });
    for (const { instance } of manifest.databases) {
      const held = indexes.get(instance);
      if (held === undefined) continue;
      for (const additions of additionsUntil(held.stored.index, held.end)) {
        yield encodeFrame({ kind: 'series', instance, additions });
      }
    }
    let bytes = 0;
    for (const place of included) {
      await options.fault('backup:segment');
      yield* segmentFrames(options, place);
      bytes += place.segment.info.sizeBytes;
    }
    yield encodeFrame({ kind: 'end', files: included.length, bytes });
  } finally {
    snapshot.release();
  }
}

type BackedUp = {
  readonly snapshot: Snapshot;
  /**
   * By instance, with the entries that belong to the snapshot. A later one may have the key of a
   * series that was deleted meanwhile and has rows here.
   */
  readonly indexes: ReadonlyMap<
    number,
    { readonly stored: StoredIndex; readonly end: EntryCounts }
  >;
};

/**
 * Takes a snapshot of one moment. Deletes wait: one that came after the start of the flush would be
 * part of it, but rows that were written before that delete would not.
 */
async function flushedSnapshot({ state, flush, deletes }: BackupOptions): Promise<BackedUp> {
  const release = await deletes.hold();
  try {
    await flush.run();
    const snapshot = state.snapshot();
    const indexes = new Map(
      // One that is not in memory is read when its turn comes.
      Array.from(state.databases.all(), ({ instance, stored }) => [
        instance,
        { stored, end: stored.end },
      ]),
    );
    return { snapshot, indexes };
  } finally {
    release();
  }
}

/** The manifest of the shards in a snapshot, without those of dropped policies. */
function visibleManifest(state: State, snapshot: Snapshot): Manifest {
  const manifest = state.manifest();
  const visible = new Set(snapshot.shards.map(({ shard }) => shard.descriptor.id));
  return {
    ...manifest,
    shards: manifest.shards.filter(({ descriptor }) => visible.has(descriptor.id)),
  };
}

/** Refuses to leave out damaged data: the result would look like a backup of everything. */
function requireWhole(state: State, { databases, shards }: Manifest): void {
  const reasons = [
    ...databases.map(({ name }) => state.stopped.reason(name)),
    ...shards.map(({ descriptor }) => state.shards.get(descriptor.id)?.damage),
  ];
  const damage = reasons.find((reason) => reason !== undefined);
  if (damage === undefined) return;
  throw new Unavailable(
    `damaged data cannot be backed up; repair it first: ${damage.message} (${damage.file})`,
  );
}

function segmentsOf(state: State, manifest: Manifest): Place[] {
  return manifest.shards.flatMap(({ descriptor }) => {
    const shard = state.shards.get(descriptor.id);
    return (shard?.segments ?? []).map((segment) => ({
      shardId: descriptor.id,
      segment,
      name: segmentName(descriptor.id, {
        fileId: segment.info.fileId,
        sizeBytes: segment.info.sizeBytes,
        checksum: segment.footerChecksum,
      }),
    }));
  });
}

async function* segmentFrames(
  { disk, directory, turns }: BackupOptions,
  { shardId, segment, name }: Place,
): AsyncGenerator<Uint8Array> {
  const { sizeBytes, fileId } = segment.info;
  const file = disk.open(segmentPath(directory, shardId, fileId), 'read');
  try {
    const pacer = new Pacer(turns);
    // Its own cache, so that the backup does not evict the pages of queries.
    await checkBlocks(Segment.open(segment.info, file, new SegmentCaches()), pacer);
    yield encodeFrame({ kind: 'file', name, sizeBytes });
    for (let at = 0; at < sizeBytes; at += PIECE_BYTES) {
      const piece = new Uint8Array(Math.min(PIECE_BYTES, sizeBytes - at));
      if (file.read(piece, at) !== piece.length) {
        throw new Corruption('segment is shorter than it was', { file: file.path, offset: at });
      }
      yield encodeFrame({ kind: 'bytes', bytes: piece });
      await pacer.pause();
    }
  } finally {
    file.close();
  }
}

/**
 * Verifies the checksums of all blocks, because a copy of damaged blocks would look like a backup.
 */
async function checkBlocks(segment: Segment, pacer: Pacer): Promise<void> {
  for (const measurement of segment.footer.measurements) {
    for (const page of measurement.pages) {
      for (const { chunks } of segment.pageEntries(measurement, page)) {
        for (const chunk of chunks) segment.blocks.rawChunk(chunk);
        await pacer.pause();
      }
    }
  }
}
