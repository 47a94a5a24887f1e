// Drops that are being logged, and drops of policies that could not be. Writes to their databases
// wait for both: rows after a drop in the log would be taken for rows of what it drops, and rows of
// a reused name must not be mixed with those that are to be dropped.
import type { Shard } from '../shard/shard.ts';

/** A drop that could not be logged. */
type Owed = {
  readonly database: string;
  readonly drop: () => Promise<void>;
  retrying: Promise<void> | undefined;
};

export class Drops {
  /** By database. */
  readonly #logging = new Map<string, Promise<void>>();
  /** By policy. */
  readonly #owed = new Map<number, Owed>();

  /** Shards are being dropped until `logged` is settled. */
  begin(shards: readonly Shard[], logged: Promise<unknown>): void {
    for (const name of new Set(shards.map(({ descriptor }) => descriptor.database))) {
      const all = Promise.allSettled([this.#logging.get(name), logged]).then(() => {
        if (this.#logging.get(name) === all) this.#logging.delete(name);
      });
      this.#logging.set(name, all);
    }
  }

  /** A policy could not be dropped. `drop` retries it. */
  owe(policyId: number, { database, drop }: Pick<Owed, 'database' | 'drop'>): void {
    if (!this.#owed.has(policyId)) {
      this.#owed.set(policyId, { database, drop, retrying: undefined });
    }
  }

  /**
   * A promise that a write to the database has to wait for; ask again afterwards. `undefined` when
   * there is none. Rejects when a drop that is owed cannot be logged this time either.
   */
  of(database: string): Promise<void> | undefined {
    const logging = this.#logging.get(database);
    if (logging !== undefined) return logging;
    for (const [policyId, owed] of this.#owed) {
      if (owed.database === database) return this.#retry(policyId, owed);
    }
    return undefined;
  }

  /** Resolves when `of` has nothing more. Rejects as it does. */
  async settle(database: string): Promise<void> {
    for (let drop = this.of(database); drop !== undefined; drop = this.of(database)) await drop;
  }

  /** Retries all drops that are owed. Rejects when one fails. */
  async retry(): Promise<void> {
    for (const [policyId, owed] of this.#owed) await this.#retry(policyId, owed);
  }

  #retry(policyId: number, owed: Owed): Promise<void> {
    owed.retrying ??= owed
      .drop()
      .then(() => void this.#owed.delete(policyId))
      .finally(() => (owed.retrying = undefined));
    return owed.retrying;
  }
}
