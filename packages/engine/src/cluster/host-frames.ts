// The protocol between the leader and an instance that runs tasks for it, over one connection: the
// messages of task hosts (docs/adr/0021-tasks-on-all-instances.md), each as its length and its
// structured clone.
import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';
import { Corruption } from '@tidemark/core';
import type { FromHost, HostData, HostEnd, RowsEntry, ToHostMessage } from '@tidemark/runtime/host';
import { HOST_FRAME_BYTES } from '../limits.ts';

/** Rows of a record of the log of points, which the instance reads itself. */
export type NamedRows = Omit<RowsEntry, 'batch'> & { readonly sequence: number };

/** Messages of the leader. Hosts have numbers, which it chooses and does not reuse. */
export type ToInstance =
  | {
      readonly kind: 'open';
      readonly host: number;
      readonly name: string;
      readonly server: HostData['server'];
    }
  | { readonly kind: 'message'; readonly host: number; readonly message: ToHostMessage }
  | {
      readonly kind: 'rows';
      readonly host: number;
      readonly entries: readonly (NamedRows | RowsEntry)[];
      /** Earlier records will not be named. */
      readonly firstNamed: number;
    }
  | { readonly kind: 'end'; readonly host: number }
  | { readonly kind: 'alive'; readonly firstNamed: number };

export type FromInstance =
  | {
      readonly kind: 'ready';
      readonly hostCount: number;
      /** It has the records of the log of points from this one on. */
      readonly first: number;
    }
  | { readonly kind: 'message'; readonly host: number; readonly message: FromHost }
  | { readonly kind: 'ended'; readonly host: number; readonly end: HostEnd }
  | { readonly kind: 'alive'; readonly memoryBytes: number }
  /** It stops soon: its tasks have to continue elsewhere. */
  | { readonly kind: 'leaving' };

/** The target of CONNECT; instances of another version of the program refuse it. */
export const TASK_HOSTS = 'task-hosts:1';
export const TERM_HEADER = 'x-tidemark-term';
export const VERSION_HEADER = 'x-tidemark-version';

/** Heartbeats of either side within a lease. */
export const SIGNS = 4;

const LENGTH_BYTES = 4;

export class FrameSocket<In, Out> {
  readonly #socket: Duplex;

  /** `head` are the bytes of it that were read already. */
  constructor(socket: Duplex, head: Uint8Array) {
    this.#socket = socket;
    if (head.length > 0) socket.unshift(head);
    // The reader gets the error; data written to a failed socket is dropped.
    socket.on('error', () => undefined);
  }

  send(frame: Out): void {
    if (!this.#socket.writable) return;
    const body = serialize(frame);
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32LE(body.length);
    this.#socket.cork();
    this.#socket.write(length);
    this.#socket.write(body);
    this.#socket.uncork();
  }

  /**
   * Yields frames until the other side closes; throws when the connection breaks. Bytes in a frame
   * are views of its buffer, which has nothing else.
   */
  async *frames(): AsyncIterable<In> {
    let target = Buffer.allocUnsafeSlow(LENGTH_BYTES);
    let filled = 0;
    let isLength = true;
    for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length;) {
        const taken = Math.min(chunk.length - at, target.length - filled);
        target.set(chunk.subarray(at, at + taken), filled);
        at += taken;
        filled += taken;
        if (filled < target.length) break;
        const length = isLength ? target.readUInt32LE() : LENGTH_BYTES;
        if (length > HOST_FRAME_BYTES.value)
          throw new Corruption('a message of a task host is too large', { file: '', offset: 0 });
        if (!isLength) yield deserialize(target) as In;
        isLength = !isLength;
        target = Buffer.allocUnsafeSlow(length);
        filled = 0;
      }
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}
