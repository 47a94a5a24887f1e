// The engine behind a connection, with the methods that the table of calls lists.
import type { BodyBuffers, StorageEngine } from '@tidemark/storage-api';

import { remoteBackup, remoteRestore } from './byte-streams.ts';
import type { Connection } from './connection.ts';
import { RemoteSource } from './remote-source.ts';
import { CALLS } from './requests.ts';
import type { CallName, Calls } from './requests.ts';

/** `connection` throws `Unavailable` while there is none: a thread that fails is replaced. */
export function remoteEngine(connection: () => Connection, bodies: BodyBuffers): StorageEngine {
  const calls = remoteCalls(connection);
  return {
    ...calls,
    source: new RemoteSource(connection),
    bodyBuffer: (sizeBytes) => bodies.take(sizeBytes),
    backup: (request) => remoteBackup(calls, request),
    restore: (request, bytes) => remoteRestore(calls, request, bytes),
  };
}

function remoteCalls(connection: () => Connection): Calls {
  const names = Object.keys(CALLS) as CallName[];
  const calls = names.map((name) => {
    const call = (...args: unknown[]): Promise<unknown> => {
      try {
        return connection().call(name, args);
      } catch (error) {
        // There is no thread now.
        return Promise.reject(error as Error);
      }
    };
    return [name, call] as const;
  });
  // The thread answers each name with the result that its row declares.
  return Object.fromEntries(calls) as unknown as Calls;
}
