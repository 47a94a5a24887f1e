// A register of small values by key. Changes are compare-and-set on the revision that was read: of
// two concurrent changes one is refused. What is read is what the leader of the stream has; the
// key-value store of the NATS client lists keys from any server (docs/adr/0020-engine-cluster.md).
import { JetStreamApiCodes } from '@nats-io/jetstream';
import { utf8Text } from '@tidemark/core';

import { answered, isApiError } from './answered.ts';
import type { StreamAccess, StreamNames } from './nats-coordinator.ts';
import type { Entry, SharedRegister } from './coordinator.ts';

export class Register implements SharedRegister {
  readonly #access: StreamAccess;
  readonly #names: StreamNames;

  constructor(access: StreamAccess, names: StreamNames) {
    this.#access = access;
    this.#names = names;
  }

  async get(key: string): Promise<Entry | undefined> {
    const { manager } = this.#access;
    const subject = this.#subjectOf(key);
    const getting = manager.streams.getMessage(this.#names.stream, { last_by_subj: subject });
    const message = await answered(`read ${subject}`, getting);
    return message === null ? undefined : { text: utf8Text(message.data), revision: message.seq };
  }

  /** All entries whose keys have a prefix. */
  async list(prefix: string): Promise<ReadonlyMap<string, Entry>> {
    const { manager } = this.#access;
    const { stream, subject } = this.#names;
    const filter = `${subject}.${prefix}.>`;
    const listing = manager.streams.info(stream, { subjects_filter: filter });
    const info = await answered(`list ${filter}`, listing);
    const keys = Object.keys(info.state.subjects ?? {}).map((one) => one.slice(subject.length + 1));
    const entries = await Promise.all(
      keys.sort().map(async (key) => [key.slice(prefix.length + 1), await this.get(key)] as const),
    );
    return new Map(entries.flatMap(([key, entry]) => (entry === undefined ? [] : [[key, entry]])));
  }

  /** Sets a value unconditionally. */
  async put(key: string, text: string): Promise<number> {
    const subject = this.#subjectOf(key);
    return (await answered(`set ${subject}`, this.#access.client.publish(subject, text))).seq;
  }

  /**
   * Sets a value if it has this revision (0: if it is absent). Returns the new revision, or
   * `undefined` if the value has another one.
   */
  async change(key: string, text: string, revision: number): Promise<number | undefined> {
    try {
      const subject = this.#subjectOf(key);
      const expect = { lastSubjectSequence: revision };
      const publishing = this.#access.client.publish(subject, text, { expect });
      return (await answered(`set ${subject}`, publishing)).seq;
    } catch (error) {
      if (isSuperseded(error)) return undefined;
      throw error;
    }
  }

  /** Removes a value; one that is set meanwhile stays. */
  async remove(key: string): Promise<void> {
    const entry = await this.get(key);
    if (entry !== undefined) await deleteMessage(this.#access, this.#names, entry.revision);
  }

  #subjectOf(key: string): string {
    return `${this.#names.subject}.${key}`;
  }
}

/**
 * Deletes a message, which may be gone already. Purging by a filter or up to a number is not safe
 * with every server, see `purgesExactly`.
 */
export async function deleteMessage(
  { manager }: StreamAccess,
  { stream }: StreamNames,
  sequence: number,
): Promise<void> {
  try {
    const deleting = manager.streams.deleteMessage(stream, sequence, false);
    await answered(`delete message ${sequence} of ${stream}`, deleting);
  } catch (error) {
    if (!GONE.some((code) => isApiError(error, code))) throw error;
  }
}

/** "sequence … not found", and what the store says of a message that was deleted. */
const GONE = [10_043, 10_057];

/** Whether the stream ends with another number than the writer expected. */
export function isSuperseded(error: unknown): boolean {
  return isApiError(error, JetStreamApiCodes.StreamWrongLastSequence);
}
