// A log at the coordinator: records with increasing numbers, kept until they are purged. A record
// that does not fit one message is split into pieces; readers see it when its last piece exists.
import { randomUUID } from 'node:crypto';

import { DeliverPolicy } from '@nats-io/jetstream';
import type { ConsumerMessages } from '@nats-io/jetstream';
import { delay, headers } from '@nats-io/transport-node';
import { assert, InvalidRequest, messageOf, Unavailable } from '@tidemark/core';

import { answered, isUnanswered } from './answered.ts';
import type { StreamAccess, StreamNames } from './nats-coordinator.ts';
import { FIRST_LEVEL } from './leader-entry.ts';
import { LIMITS } from './limits.ts';
import { deleteMessage, isSuperseded } from './register.ts';
import { Superseded } from './coordinator.ts';
import type { AppendOptions, LogEnds, LogRecord, ReadOptions, SharedLog } from './coordinator.ts';

/** Header: index and count of a piece of a split record. */
const PIECE = 'Tidemark-Part';
const LABEL = 'Tidemark-Label';
/** Header: the format level; absent for the first. */
const LEVEL = 'Tidemark-Level';

/**
 * Bytes that the server may send ahead, well below the 64 MiB at which it disconnects a slow
 * client. They are requested as a number of messages, which depends on their largest size, because
 * the client fails to resume when it is given a limit in bytes.
 */
const AHEAD_BYTES = 32 * 1024 * 1024;
const AHEAD_MESSAGES_MIN = 4;
const AHEAD_MESSAGES_MAX = 200;

/** Messages that are deleted at the same time. */
const DELETED_AT_ONCE = 64;

/** After this much silence, check that the stream still exists. */
const SILENCE_MS = 500;

export class MessageLog implements SharedLog {
  readonly #access: StreamAccess;
  readonly #names: StreamNames;

  constructor(access: StreamAccess, names: StreamNames) {
    this.#access = access;
    this.#names = names;
  }

  /** Numbers of the first and the last message; without messages, first is last + 1. */
  async ends(): Promise<LogEnds> {
    const { stream } = this.#names;
    const { manager } = this.#access;
    const { state } = await answered(`check ${stream}`, manager.streams.info(stream));
    return { first: state.first_seq, last: state.last_seq, bytes: state.bytes };
  }

  /**
   * Appends a record; resolves with its number when the coordinator has it. An unanswered attempt
   * is repeated and takes effect once. A record that does not fit one message needs a single
   * writer, which passes `after`.
   */
  async append(bytes: Uint8Array, options: AppendOptions): Promise<number> {
    const { bytesMax } = this.#access;
    // With several writers, short records of one would keep coming between the pieces of another.
    if (options.after === undefined && bytes.length > bytesMax)
      throw new InvalidRequest(`a record is too long: ${bytes.length} bytes, at most ${bytesMax}`);
    return this.#appendPieces(split(bytes, bytesMax), options);
  }

  async #appendPieces(pieces: readonly Uint8Array[], options: AppendOptions): Promise<number> {
    const id = randomUUID();
    let last = options.after;
    for (const [i, piece] of pieces.entries()) {
      const index = pieces.length === 1 ? '' : `${i}/${pieces.length}`;
      last = await this.#publish(piece, { ...options, after: last, id: `${id}.${i}`, index });
    }
    assert(last !== undefined, 'a record has a piece');
    return last;
  }

  async #publish(
    piece: Uint8Array,
    options: AppendOptions & { readonly id: string; readonly index: string },
  ): Promise<number> {
    const { label = '', level = FIRST_LEVEL, subject, after, signal, id, index } = options;
    const head = headers();
    if (level > FIRST_LEVEL) head.set(LEVEL, String(level));
    if (index !== '') head.set(PIECE, index);
    if (label !== '') head.set(LABEL, label);
    const whole = this.#names.subject;
    const name = subject === undefined ? 'lastSequence' : 'lastSubjectSequence';
    const expect = after === undefined ? {} : { expect: { [name]: after } };
    for (;;) {
      if (signal.aborted) throw new Unavailable(messageOf(signal.reason));
      try {
        const publishing = this.#access.client.publish(
          subject === undefined ? whole : `${whole}.${subject}`,
          piece,
          {
            headers: head,
            msgID: id,
            ...expect,
          },
        );
        return (await orAborted(publishing, signal)).seq;
      } catch (error) {
        if (isSuperseded(error))
          throw new Superseded('another instance has taken over', { cause: error });
        if (!isUnanswered(error)) throw new Unavailable(messageOf(error), { cause: error });
      }
    }
  }

  /**
   * Yields records from the message `first` on, stored ones and then new ones, until the signal is
   * aborted, or up to the message `through`, which must have existed. Purged records are left out.
   * Throws `Unavailable` if the coordinator does not send what it has.
   */
  async *read(options: ReadOptions): AsyncIterable<LogRecord> {
    const { first, through, signal } = options;
    const messages = await this.#consume({ ...options, first: Math.max(1, first) });
    if (messages === undefined) return;
    const stop = (): void => void messages.close();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const iterator = messages[Symbol.asyncIterator]();
    try {
      let pieces: Uint8Array[] = [];
      for (;;) {
        const coming = iterator.next();
        const next = through === undefined ? await coming : await this.#sent(coming, options);
        // Messages that were received before the signal are still delivered.
        if (next === undefined || signal.aborted) return;
        if (next.done === true) {
          if (through === undefined) return;
          throw new Unavailable(`the connection has ended while ${this.#names.stream} was read`);
        }
        const message = next.value;
        const { index, count } = pieceOf(message.headers?.get(PIECE));
        // A record without its last piece is dropped.
        if (index === 0) pieces = [];
        if (index === pieces.length) pieces.push(message.data);
        if (pieces.length === count) {
          const bytes = count === 1 ? message.data : Buffer.concat(pieces);
          pieces = [];
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
      // The first ends a wait for the next message, the second an iteration between messages.
      stop();
      await iterator.return?.();
    }
  }

  /** `undefined` if no messages arrive. */
  async #consume(options: ReadOptions): Promise<ConsumerMessages | undefined> {
    const { client, bytesMax } = this.#access;
    const { stream } = this.#names;
    const getting = client.consumers.get(stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: options.first,
    });
    const consumer = await answered(`read ${stream}`, getting);
    const opening = consumer.consume({
      max_messages: Math.min(
        AHEAD_MESSAGES_MAX,
        Math.max(AHEAD_MESSAGES_MIN, Math.floor(AHEAD_BYTES / bytesMax)),
      ),
      // Also the pause before the client retries, which is 30 s by default.
      expires: LIMITS.requestMs.value,
      idle_heartbeat: LIMITS.requestMs.value / 2,
    });
    let messages: ConsumerMessages | undefined;
    try {
      messages = await this.#sent(opening, options);
      return messages;
    } finally {
      // Nothing reads a consumer that is created late.
      if (messages === undefined)
        void opening.then(
          (late) => late.close(),
          () => undefined,
        );
    }
  }

  /**
   * Waits for the next message; `undefined` at the end. Throws `Unavailable` if the coordinator is
   * silent for too long.
   */
  async #sent<T>(coming: Promise<T>, { through, signal }: ReadOptions): Promise<T | undefined> {
    let silentMs = 0;
    let failure: unknown;
    for (;;) {
      const pause = delay(SILENCE_MS);
      const isHere = await Promise.race([coming.then(() => true), pause.then(() => false)]).finally(
        () => pause.cancel(),
      );
      if (isHere) return coming;
      if (signal.aborted) return undefined;
      silentMs += SILENCE_MS;
      try {
        if (through !== undefined && (await this.ends()).first > through) return undefined;
      } catch (error) {
        // Reported below, if the failure lasts.
        failure = error;
        silentMs += LIMITS.requestMs.value;
      }
      if (silentMs >= LIMITS.silentMs.value) {
        const what = through === undefined ? '' : `, up to message ${through},`;
        const why = failure === undefined ? '' : `: ${messageOf(failure)}`;
        throw new Unavailable(
          `the coordinator does not send its records${what} of ${this.#names.stream}${why}`,
          { cause: failure },
        );
      }
    }
  }

  /** Purges all messages before a number, or the first of them if the signal is aborted. */
  async purge(before: number, signal?: AbortSignal): Promise<void> {
    const { stream } = this.#names;
    const { manager, purgesExactly } = this.#access;
    if (purgesExactly)
      await answered(`shorten ${stream}`, manager.streams.purge(stream, { seq: before }));
    else await this.#deleteBefore(before, signal);
  }

  /** As `purge`, one message at a time: 6,000 per second. */
  async #deleteBefore(before: number, signal: AbortSignal | undefined): Promise<void> {
    const { first, last } = await this.ends();
    const end = Math.min(before, last + 1);
    for (let next = first; next < end && signal?.aborted !== true; next += DELETED_AT_ONCE) {
      const count = Math.min(DELETED_AT_ONCE, end - next);
      await Promise.all(
        Array.from({ length: count }, (_, i) => deleteMessage(this.#access, this.#names, next + i)),
      );
    }
  }

  /** The largest record that fits one message. */
  get bytesMax(): number {
    return this.#access.bytesMax;
  }
}

function pieceOf(header: string | undefined): { readonly index: number; readonly count: number } {
  const [index = 0, count = 1] = (header || '0/1').split('/').map(Number);
  return { index, count };
}

/** The result of `work`; throws `Unavailable` as soon as the signal fires. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Unavailable(messageOf(signal.reason)));
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function split(bytes: Uint8Array, bytesMax: number): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += bytesMax)
    pieces.push(bytes.subarray(at, at + bytesMax));
  return pieces.length === 0 ? [bytes] : pieces;
}
