// Small values by key, the newest of each. A change is made against the revision that was read: of
// two that are made at once, one is refused.
import { utf8Text } from '@tidemark/core';
import { NatsError } from 'nats';

import { answered } from './answered.ts';
import type { StreamAccess, StreamPlace } from './coordinator.ts';

/** "The last sequence of the subject is another one." */
const WRONG_SEQUENCE = 10_071;

/** "There is no message." */
const NO_MESSAGE = 10_037;

export type Entry = {
  readonly text: string;
  /** Rises with every change of any value. */
  readonly revision: number;
};

export class Register {
  readonly #access: StreamAccess;
  readonly #place: StreamPlace;

  constructor(access: StreamAccess, place: StreamPlace) {
    this.#access = access;
    this.#place = place;
  }

  async get(key: string): Promise<Entry | undefined> {
    const { manager } = this.#access;
    try {
      const subject = this.#subjectOf(key);
      const getting = manager.streams.getMessage(this.#place.stream, { last_by_subj: subject });
      const message = await answered(`read ${subject}`, getting);
      return { text: utf8Text(message.data), revision: message.seq };
    } catch (error) {
      if (isApiError(error, NO_MESSAGE)) return undefined;
      throw error;
    }
  }

  /** All entries whose keys begin so. */
  async list(prefix: string): Promise<ReadonlyMap<string, Entry>> {
    const { manager } = this.#access;
    const { stream, subject } = this.#place;
    const filter = `${subject}.${prefix}.>`;
    const listing = manager.streams.info(stream, { subjects_filter: filter });
    const info = await answered(`list ${filter}`, listing);
    const keys = Object.keys(info.state.subjects ?? {}).map((one) => one.slice(subject.length + 1));
    const entries = await Promise.all(
      keys.sort().map(async (key) => [key.slice(prefix.length + 1), await this.get(key)] as const),
    );
    return new Map(entries.flatMap(([key, entry]) => (entry === undefined ? [] : [[key, entry]])));
  }

  /** Sets a value whatever it was. */
  async put(key: string, text: string): Promise<number> {
    const subject = this.#subjectOf(key);
    return (await answered(`set ${subject}`, this.#access.client.publish(subject, text))).seq;
  }

  /**
   * Sets a value that has this revision, 0 for one that is absent; the new revision, or `undefined`
   * when it has another one.
   */
  async change(key: string, text: string, revision: number): Promise<number | undefined> {
    try {
      const subject = this.#subjectOf(key);
      const expect = { lastSubjectSequence: revision };
      const publishing = this.#access.client.publish(subject, text, { expect });
      return (await answered(`set ${subject}`, publishing)).seq;
    } catch (error) {
      if (isApiError(error, WRONG_SEQUENCE)) return undefined;
      throw error;
    }
  }

  /** Forgets a value. */
  async remove(key: string): Promise<void> {
    const { manager } = this.#access;
    const filter = this.#subjectOf(key);
    await answered(`forget ${filter}`, manager.streams.purge(this.#place.stream, { filter }));
  }

  #subjectOf(key: string): string {
    return `${this.#place.subject}.${key}`;
  }
}

export function isApiError(error: unknown, code: number): boolean {
  return error instanceof NatsError && error.jsError()?.err_code === code;
}

/** Whether a log's end is another one than the writer has expected. */
export function isSuperseded(error: unknown): boolean {
  return isApiError(error, WRONG_SEQUENCE);
}
