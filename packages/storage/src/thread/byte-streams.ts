// Backups and restores across threads: the side of the storage thread, and the side of its callers.
import { Cancelled, NotFound, Pipe } from '@tidemark/core';
import type {
  BackupRequest,
  RestoreReport,
  RestoreRequest,
  StorageMaintenance,
} from '@tidemark/storage-api';

/** A backup is pulled and a restore is pushed, one portion per call. Streams have numbers. */
export type ByteStreamCalls = {
  openBackup(request: BackupRequest): Promise<number>;
  /** `undefined` at the end. */
  readBackup(stream: number): Promise<Uint8Array | undefined>;
  closeBackup(stream: number): Promise<void>;
  openRestore(request: RestoreRequest): Promise<number>;
  /** Resolves when the engine has taken the portion. */
  writeRestore(stream: number, portion: Uint8Array): Promise<void>;
  finishRestore(stream: number): Promise<RestoreReport>;
  /** Ends a restore; none of its data stays. */
  abandonRestore(stream: number): Promise<void>;
};

type Restore = { readonly pipe: Pipe<Uint8Array>; readonly done: Promise<RestoreReport> };

/** The calls of the storage thread. */
export function byteStreams(engine: StorageMaintenance): ByteStreamCalls {
  const backups = new Map<number, AsyncGenerator<Uint8Array>>();
  const restores = new Map<number, Restore>();
  let nextId = 1;
  const find = <T>(streams: ReadonlyMap<number, T>, id: number): T => {
    const stream = streams.get(id);
    if (stream === undefined) throw new NotFound('stream is closed');
    return stream;
  };
  return {
    openBackup: async (request) => {
      const id = nextId++;
      backups.set(id, engine.backup(request));
      return id;
    },
    readBackup: async (id) => {
      const step = await find(backups, id).next();
      return step.done === true ? undefined : step.value;
    },
    closeBackup: async (id) => {
      const backup = backups.get(id);
      backups.delete(id);
      await backup?.return(undefined);
    },
    openRestore: async (request) => {
      const id = nextId++;
      const pipe = new Pipe<Uint8Array>();
      const done = engine.restore(request, pipe);
      // The error reaches the next `writeRestore` or `finishRestore`.
      done.catch((error: Error) => pipe.breakOff(error));
      restores.set(id, { pipe, done });
      return id;
    },
    writeRestore: async (id, portion) => {
      const { pipe, done } = find(restores, id);
      try {
        await pipe.write(portion);
      } catch (error) {
        // The pipe only knows that its reader is gone; the restore has the reason.
        await done;
        throw error;
      }
    },
    finishRestore: async (id) => {
      const { pipe, done } = find(restores, id);
      restores.delete(id);
      pipe.end();
      return done;
    },
    abandonRestore: async (id) => {
      const restore = restores.get(id);
      restores.delete(id);
      restore?.pipe.breakOff(new Cancelled('restore was abandoned'));
      // It fails because it was abandoned.
      await restore?.done.catch(() => undefined);
    },
  };
}

/** A backup, called from another thread. */
export async function* remoteBackup(
  calls: ByteStreamCalls,
  request: BackupRequest,
): AsyncGenerator<Uint8Array> {
  const stream = await calls.openBackup(request);
  try {
    for (;;) {
      const portion = await calls.readBackup(stream);
      if (portion === undefined) return;
      yield portion;
    }
  } finally {
    await calls.closeBackup(stream);
  }
}

/** A restore, called from another thread. */
export async function remoteRestore(
  calls: ByteStreamCalls,
  request: RestoreRequest,
  bytes: AsyncIterable<Uint8Array>,
): Promise<RestoreReport> {
  const stream = await calls.openRestore(request);
  try {
    for await (const portion of bytes) await calls.writeRestore(stream, portion);
    return await calls.finishRestore(stream);
  } catch (error) {
    await calls.abandonRestore(stream);
    throw error;
  }
}
