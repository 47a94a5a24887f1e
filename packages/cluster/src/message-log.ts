// A log at the coordinator: records with numbers that rise, kept until they are purged. A record
// that is longer than a message is several of them; readers see it when its last part is there.
import { randomUUID } from 'node:crypto';

import { DeliverPolicy } from '@nats-io/jetstream';
import type { ConsumerMessages } from '@nats-io/jetstream';
import { delay, headers } from '@nats-io/transport-node';
import { assert, InvalidRequest, messageOf, Unavailable } from '@tidemark/core';

import { answered, isUnanswered } from './answered.ts';
import type { StreamAccess, StreamPlace } from './nats-coordinator.ts';
import { FIRST_LEVEL } from './leader-entry.ts';
import { LIMITS } from './limits.ts';
import { isSuperseded } from './register.ts';
import { Superseded } from './coordinator.ts';
import type { AppendOptions, LogEnds, LogRecord, ReadOptions, SharedLog } from './coordinator.ts';

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

/** When so long nothing has come that is there, it is looked whether it still is. */
const SILENCE_MS = 500;

export class MessageLog implements SharedLog {
  readonly #access: StreamAccess;
  readonly #place: StreamPlace;

  constructor(access: StreamAccess, place: StreamPlace) {
    this.#access = access;
    this.#place = place;
  }

  /** Numbers of the first and the last message; the first is one more where there are none. */
  async ends(): Promise<LogEnds> {
    const { stream } = this.#place;
    const { manager } = this.#access;
    const { state } = await answered(`look at ${stream}`, manager.streams.info(stream));
    return { first: state.first_seq, last: state.last_seq, bytes: state.bytes };
  }

  /**
   * Appends a record; resolves with its number when the coordinator has it. An attempt without an
   * answer is repeated and counts once. A record that is longer than a message needs one writer,
   * who says what it is `after`.
   */
  async append(bytes: Uint8Array, options: AppendOptions): Promise<number> {
    const { bytesMax } = this.#access;
    // Of several writers, one with short records would keep the parts of another from ever being
    // appended one behind the other.
    if (options.after === undefined && bytes.length > bytesMax)
      throw new InvalidRequest(`a record is too long: ${bytes.length} bytes, at most ${bytesMax}`);
    return this.#appendParts(split(bytes, bytesMax), options);
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
   * signal ends it, or up to the message `through`, which has been there: what is purged meanwhile
   * is left out. Throws `Unavailable` when the coordinator does not send what it has.
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
      let parts: Uint8Array[] = [];
      for (;;) {
        const coming = iterator.next();
        const next = through === undefined ? await coming : await this.#sent(coming, options);
        // Messages that are here already come after the end of the signal, too.
        if (next === undefined || signal.aborted) return;
        if (next.done === true) {
          if (through === undefined) return;
          throw new Unavailable(`the connection has ended while ${this.#place.stream} was read`);
        }
        const message = next.value;
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
      // The first ends a wait for the next message, the second an iteration between two.
      stop();
      await iterator.return?.();
    }
  }

  /** `undefined` when nothing comes. */
  async #consume(options: ReadOptions): Promise<ConsumerMessages | undefined> {
    const { client, bytesMax } = this.#access;
    const { stream } = this.#place;
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
      // Also how long the client waits before it repeats what has failed: 30 s unless told.
      expires: LIMITS.requestMs.value,
      idle_heartbeat: LIMITS.requestMs.value / 2,
    });
    let messages: ConsumerMessages | undefined;
    try {
      messages = await this.#sent(opening, options);
      return messages;
    } finally {
      // Nobody reads what it sends when it comes late.
      if (messages === undefined)
        void opening.then(
          (late) => late.close(),
          () => undefined,
        );
    }
  }

  /**
   * Waits for what the coordinator sends by itself; `undefined` when nothing more comes. Throws
   * `Unavailable` when it is silent for too long.
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
        // Told below, if it goes on.
        failure = error;
        silentMs += LIMITS.requestMs.value;
      }
      if (silentMs >= LIMITS.silentMs.value) {
        const what = through === undefined ? '' : `, up to message ${through},`;
        const why = failure === undefined ? '' : `: ${messageOf(failure)}`;
        throw new Unavailable(
          `the coordinator does not send what it has${what} of ${this.#place.stream}${why}`,
          { cause: failure },
        );
      }
    }
  }

  /** Forgets everything before a number. */
  async purge(before: number): Promise<void> {
    const { stream } = this.#place;
    const { manager } = this.#access;
    await answered(`shorten ${stream}`, manager.streams.purge(stream, { seq: before }));
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
