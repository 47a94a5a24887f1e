// The reader's side (docs/adr/0034-readers.md): executes reads over leased parts of snapshots, by
// the same server that the storage thread has for reads of other threads.
import { Unavailable } from '@tidemark/core';

import { LeasedSource } from '../read/leased-source.ts';
import type { LeasedSourceOptions } from '../read/leased-source.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import { HeldPlans } from './carried-plans.ts';
import { errorToMessage } from './errors.ts';
import { ReadServer } from './read-server.ts';
import type { FromReader, Generated, ToReader } from './readers.ts';

export type ReaderServerOptions = Omit<LeasedSourceOptions, 'onEnd'> & {
  readonly post: (message: Generated<FromReader>, transfer?: readonly ArrayBuffer[]) => void;
  /** Called with every error of a read. */
  readonly onError?: ((error: unknown) => void) | undefined;
};

/** What a reader holds of one opening of the engine. */
type Opened = {
  readonly generation: number;
  readonly source: LeasedSource;
  readonly reads: ReadServer;
};

export class ReaderServer {
  readonly #options: ReaderServerOptions;
  #opened: Opened | undefined;

  constructor(options: ReaderServerOptions) {
    this.#options = options;
  }

  handle({ generation, message }: Generated<ToReader>): void {
    if (this.#opened?.generation !== generation) {
      this.close();
      this.#opened = this.#open(generation);
    }
    const { source, reads } = this.#opened;
    switch (message.kind) {
      case 'list':
        source.keep(message.of, message.list);
        break;
      case 'drop-list':
        source.drop(message.of);
        break;
      case 'forget':
        source.forget(message.files);
        break;
      case 'read':
        reads.open(message);
        break;
      case 'signal':
        reads.signal(message);
        break;
    }
  }

  /** Ends all reads, and closes all files. */
  close(): void {
    this.#opened?.reads.cancelAll();
    this.#opened?.source.close();
    this.#opened = undefined;
  }

  #open(generation: number): Opened {
    const { post, onError, ...options } = this.#options;
    const send = (message: FromReader, transfer?: readonly ArrayBuffer[]): void =>
      post({ generation, message }, transfer);
    const source = new LeasedSource({
      ...options,
      onEnd: (lease) => send({ kind: 'ended', lease }),
    });
    const reads = new ReadServer({
      source,
      shards: () => Promise.reject(new Unavailable('a reader only aggregates')),
      plans: new HeldPlans(),
      versions: new SchemaVersions(),
      begin: () => undefined,
      abandon: () => undefined,
      answer: send,
      ask: send,
      fail: (id, error) => {
        onError?.(error);
        send({ kind: 'failed', id, error: errorToMessage(error) });
      },
    });
    return { generation, source, reads };
  }
}
