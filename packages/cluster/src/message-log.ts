// A log at the coordinator: records with numbers that rise, kept until they are purged. A record
// that is longer than a message is several of them; readers see it when its last part is there.
import { randomUUID } from 'node:crypto';

import { assert, Conflict, messageOf, Unavailable } from '@tidemark/core';
import { DeliverPolicy, ErrorCode, headers, NatsError } from 'nats';

import type { StreamAccess, StreamPlace } from './coordinator.ts';
import { FIRST_LEVEL } from './leader-entry.ts';
import { isSuperseded } from './register.ts';

export type LogRecord = {
  /** Of its last part. */
  readonly sequence: number;
  readonly bytes: Uint8Array;
  /** What its writer says about it, beside it. */
  readonly label: string;
  /** Level that a reader has to know. */
  readonly level: number;
};

/** The log has another end than its writer has expected: somebody else writes it now. */
export class Superseded extends Conflict {}

/** Which part of how many a message is, of a record that is several. */
const PART = 'Tidemark-Part';
const LABEL = 'Tidemark-Label';
/** Absent for the first level. */
const LEVEL = 'Tidemark-Level';

/**
 * About what the server may send before it was read: less than what it takes for a client that is
 * too slow (64 MiB), whose connection it ends. Messages that are asked for at once, fewer the
 * longer one may be; the client can not be told bytes, as it fails when it has to begin anew then.
 */
const AHEAD_BYTES = 32 * 1024 * 1024;
const AHEAD_MESSAGES_MIN = 4;
const AHEAD_MESSAGES_MAX = 200;

export type AppendOptions = {
  readonly label?: string | undefined;
  /** Level that a reader has to know; default: the first. */
  readonly level?: number | undefined;
  /** Number of the last record; throws `Superseded` when it is another one. */
  readonly after?: number | undefined;
  /** No attempt begins later; throws `Unavailable` then. */
  readonly signal: AbortSignal;
};

export type ReadOptions = {
  readonly first: number;
  readonly through?: number | undefined;
  readonly signal: AbortSignal;
};

export class MessageLog {
  readonly #access: StreamAccess;
  readonly #place: StreamPlace;

  constructor(access: StreamAccess, place: StreamPlace) {
    this.#access = access;
    this.#place = place;
  }

  /** Numbers of the first and the last message; the first is one more where there are none. */
  async ends(): Promise<{ readonly first: number; readonly last: number; readonly bytes: number }> {
    const { state } = await this.#access.manager.streams.info(this.#place.stream);
    return { first: state.first_seq, last: state.last_seq, bytes: state.bytes };
  }

  /**
   * Appends a record; resolves with its number when the coordinator has it. An attempt without an
   * answer is repeated and counts once.
   */
  async append(bytes: Uint8Array, options: AppendOptions): Promise<number> {
    const parts = split(bytes, this.#access.bytesMax);
    for (;;) {
      try {
        return await this.#appendParts(parts, options);
      } catch (error) {
        // Somebody else has written between two parts: readers drop what was begun.
        if (!(error instanceof Superseded) || options.after !== undefined) throw error;
      }
    }
  }

  async #appendParts(parts: readonly Uint8Array[], options: AppendOptions): Promise<number> {
    const id = randomUUID();
    let last = options.after;
    for (const [i, part] of parts.entries()) {
      const place = parts.length === 1 ? '' : `${i}/${parts.length}`;
      last = await this.#publish(part, { ...options, after: last, id: `${id}.${i}`, place });
    }
    assert(last !== undefined, 'a record has a part');
    return last;
  }

  async #publish(
    part: Uint8Array,
    options: AppendOptions & { readonly id: string; readonly place: string },
  ): Promise<number> {
    const { label = '', level = FIRST_LEVEL, after, signal, id, place } = options;
    const head = headers();
    if (level > FIRST_LEVEL) head.set(LEVEL, String(level));
    if (place !== '') head.set(PART, place);
    if (label !== '') head.set(LABEL, label);
    const expect = after === undefined ? {} : { expect: { lastSequence: after } };
    for (;;) {
      if (signal.aborted) throw new Unavailable(messageOf(signal.reason));
      try {
        const ack = await this.#access.client.publish(this.#place.subject, part, {
          headers: head,
          msgID: id,
          ...expect,
        });
        return ack.seq;
      } catch (error) {
        if (isSuperseded(error))
          throw new Superseded('another instance has taken over', { cause: error });
        if (!isUnanswered(error)) throw new Unavailable(messageOf(error), { cause: error });
      }
    }
  }

  /**
   * Records from the message `first` on, those that are there and then those that come, until the
   * signal ends it, or up to the message `through`, which has to be there.
   */
  async *read({ first, through, signal }: ReadOptions): AsyncIterable<LogRecord> {
    const { client } = this.#access;
    const consumer = await client.consumers.get(this.#place.stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Math.max(1, first),
    });
    const messages = await consumer.consume({
      max_messages: Math.min(
        AHEAD_MESSAGES_MAX,
        Math.max(AHEAD_MESSAGES_MIN, Math.floor(AHEAD_BYTES / this.#access.bytesMax)),
      ),
      idle_heartbeat: 1000,
    });
    const stop = (): void => void messages.close();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      let parts: Uint8Array[] = [];
      for await (const message of messages) {
        const { index, count } = partOf(message.headers?.get(PART));
        // What was begun and never ended is no record.
        if (index === 0) parts = [];
        if (index === parts.length) parts.push(message.data);
        if (parts.length === count) {
          const bytes = count === 1 ? message.data : Buffer.concat(parts);
          parts = [];
          yield {
            sequence: message.seq,
            bytes,
            label: message.headers?.get(LABEL) ?? '',
            level: Number(message.headers?.get(LEVEL) || FIRST_LEVEL),
          };
        }
        if (through !== undefined && message.seq >= through) return;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      await messages.close();
    }
  }

  /** Forgets everything before a number. */
  async purge(before: number): Promise<void> {
    await this.#access.manager.streams.purge(this.#place.stream, { seq: before });
  }

  /** What one record can be without being several messages. */
  get bytesMax(): number {
    return this.#access.bytesMax;
  }
}

function partOf(place: string | undefined): { readonly index: number; readonly count: number } {
  const [index = 0, count = 1] = (place || '0/1').split('/').map(Number);
  return { index, count };
}

function split(bytes: Uint8Array, bytesMax: number): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += bytesMax) parts.push(bytes.subarray(at, at + bytesMax));
  return parts.length === 0 ? [bytes] : parts;
}

// Whether the server may have taken it all the same.
function isUnanswered(error: unknown): boolean {
  return (
    error instanceof NatsError &&
    [ErrorCode.Timeout, ErrorCode.NoResponders, ErrorCode.Disconnect].includes(
      error.code as ErrorCode,
    )
  );
}
