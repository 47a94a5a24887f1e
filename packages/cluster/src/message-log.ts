// A log at the coordinator: records with numbers that rise, kept until they are purged. A record
// that is longer than a message is several of them; readers see it when its last part is there.
import { randomUUID } from 'node:crypto';

import { assert, Conflict, messageOf, Unavailable } from '@tidemark/core';
import { DeliverPolicy, ErrorCode, headers, NatsError } from 'nats';

import type { StreamAccess, StreamPlace } from './coordinator.ts';
import { isSuperseded } from './register.ts';

export type LogRecord = {
  /** Of its last part. */
  readonly sequence: number;
  readonly bytes: Uint8Array;
  /** What its writer says about it, beside it. */
  readonly label: string;
};

/** The log has another end than its writer has expected: somebody else writes it now. */
export class Superseded extends Conflict {}

/** Numbers the parts of a record downwards; the last one has 0. */
const PARTS_LEFT = 'Tidemark-Parts-Left';
const LABEL = 'Tidemark-Label';

export type AppendOptions = {
  readonly label?: string | undefined;
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
    const isAlone = options.after !== undefined;
    assert(isAlone || parts.length === 1, 'parts of several writers would mix');
    const id = randomUUID();
    let last = options.after;
    for (const [i, part] of parts.entries()) {
      const partsLeft = parts.length - 1 - i;
      const sequence = await this.#publish(part, {
        ...options,
        after: last,
        id: `${id}.${i}`,
        partsLeft,
      });
      if (partsLeft === 0) return sequence;
      last = sequence;
    }
    throw new Error('a record has a last part');
  }

  async #publish(
    part: Uint8Array,
    options: AppendOptions & { readonly id: string; readonly partsLeft: number },
  ): Promise<number> {
    const { label = '', after, signal, id, partsLeft } = options;
    const head = headers();
    if (partsLeft > 0) head.set(PARTS_LEFT, String(partsLeft));
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
    const messages = await consumer.consume({ max_messages: 200, idle_heartbeat: 1000 });
    const stop = (): void => void messages.close();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      let parts: Uint8Array[] = [];
      let expected = 0;
      for await (const message of messages) {
        const partsLeft = Number(message.headers?.get(PARTS_LEFT) || '0');
        // What was begun and never ended is no record.
        if (parts.length > 0 && partsLeft !== expected) parts = [];
        parts.push(message.data);
        expected = partsLeft - 1;
        if (partsLeft === 0) {
          const bytes = parts.length === 1 ? message.data : Buffer.concat(parts);
          parts = [];
          yield { sequence: message.seq, bytes, label: message.headers?.get(LABEL) ?? '' };
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
