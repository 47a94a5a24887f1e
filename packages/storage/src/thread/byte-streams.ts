// Backups and restores across threads: the side of the storage thread, and the side of its callers.
import { Cancelled, NotFound, Pipe } from '@tidemark/core';
import type {
  BackupRequest,
  RestoreReport,
  RestoreRequest,
  StorageEngine,
} from '@tidemark/storage-api';

import type { ByteStreamCalls } from './protocol.ts';

type Restore = { readonly pipe: Pipe<Uint8Array>; readonly done: Promise<RestoreReport> };

/** The calls of the storage thread. */
export function byteStreams(engine: StorageEngine): ByteStreamCalls {
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

/** Makes a call in the storage thread. */
export type CallStream = <K extends keyof ByteStreamCalls>(
  name: K,
  ...args: Parameters<ByteStreamCalls[K]>
) => ReturnType<ByteStreamCalls[K]>;

/** A backup, called from another thread. */
export async function* remoteBackup(
  call: CallStream,
  request: BackupRequest,
): AsyncGenerator<Uint8Array> {
  const stream = await call('openBackup', request);
  try {
    for (;;) {
      const portion = await call('readBackup', stream);
      if (portion === undefined) return;
      yield portion;
    }
  } finally {
    await call('closeBackup', stream);
  }
}

/** A restore, called from another thread. */
export async function remoteRestore(
  call: CallStream,
  request: RestoreRequest,
  bytes: AsyncIterable<Uint8Array>,
): Promise<RestoreReport> {
  const stream = await call('openRestore', request);
  try {
    for await (const portion of bytes) await call('writeRestore', stream, portion);
    return await call('finishRestore', stream);
  } catch (error) {
    await call('abandonRestore', stream);
    throw error;
  }
}
