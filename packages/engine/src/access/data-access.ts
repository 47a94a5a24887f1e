// Decides which data a request may see: the user needs READ on the databases that the data comes
// from. Every endpoint that returns data must call this, even if it finds nothing or authentication
// is off; an endpoint that does not call it cannot answer (http/server.ts).
import { Forbidden } from '@tidemark/core';
import type { RequestUser } from './request.ts';

/** Stands for unknown databases: there are no grants on it, so it is for admins. */
export const UNKNOWN_DATABASE = '';

export class DataAccess {
  readonly #user: RequestUser | undefined;
  #wasAsked = false;

  /** Without a user everything may be read. */
  constructor(user: RequestUser | undefined) {
    this.#user = user;
  }

  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  /** For endpoints that check each part of an answer, of which there may be none. */
  ofParts(): this {
    this.#wasAsked = true;
    return this;
  }

  /**
   * Checks the present rights: a stream checks again and again. `databases` is not called if
   * everything may be read.
   */
  async mayRead(databases: () => readonly string[]): Promise<boolean> {
    this.#wasAsked = true;
    const user = this.#user;
    if (user === undefined) return true;
    for (const name of databases()) if (!(await user.canRead(name))) return false;
    return true;
  }

  /** Throws `Forbidden`, which names the first database without a grant. */
  async requireRead(databases: readonly string[]): Promise<void> {
    this.#wasAsked = true;
    for (const database of databases) {
      if (await this.mayRead(() => [database])) continue;
      const name = this.#user?.name ?? '';
      throw new Forbidden(
        database === UNKNOWN_DATABASE
          ? 'only for admins: the databases that it comes from are unknown'
          : `user ${name} does not have READ on database ${JSON.stringify(database)}, where this comes from`,
      );
    }
  }

  /** The items of a list that the user may read. */
  async readable<T>(
    items: Iterable<T>,
    databasesOf: (item: T) => readonly string[],
  ): Promise<readonly T[]> {
    this.#wasAsked = true;
    if (this.#user === undefined) return [...items];
    // Many items are from few databases.
    const known = new Map<string, boolean>();
    const found: T[] = [];
    for (const item of items) {
      const databases = databasesOf(item);
      for (const name of databases)
        if (!known.has(name)) known.set(name, await this.mayRead(() => [name]));
      if (databases.every((name) => known.get(name) === true)) found.push(item);
    }
    return found;
  }
}
