// The catalog on disk: one small file that is replaced with every change (docs/adr/0006-catalog-file.md). A change is answered after it
// is synced; what it changes becomes visible at the same moment.
import { assert, Corruption, messageOf, Unavailable } from '@tidemark/core';
import { readCheckedFile, writeCheckedFile } from '@tidemark/storage';

import { parseCatalog, printCatalog } from './catalog-record.ts';
import { readLegacyCatalog } from './legacy-catalog.ts';
import { EMPTY_CATALOG } from './model.ts';
import type { CatalogState } from './model.ts';

const FORMAT = { magic: 'TDMCAT', version: 2 };
const FILE_NAME = 'catalog.tdm';

/** The file in the folder of a catalog. */
export function catalogPath(folder: string): string {
  return `${folder}/${FILE_NAME}`;
}

export class Catalog {
  /** `undefined`: it is stored nowhere. */
  readonly #path: string | undefined;
  #state: CatalogState;
  // Changes run one after the other, each on the state that the one before has left.
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #listeners = new Set<(state: CatalogState, before: CatalogState) => void>();
  /** There was no catalog: whatever data lies beside it belongs to one that is lost. */
  readonly isNew: boolean;
  /** One copy in the file was damaged; the next change mends it. */
  readonly isMended: boolean;

  private constructor(path: string | undefined, found: Found) {
    this.#path = path;
    this.#state = found.state;
    this.isNew = found.isNew;
    this.isMended = found.isMended;
  }

  /** Opens or creates the catalog in a folder, which exists. Throws `Corruption` when it can not be read. */
  static async open(folder: string): Promise<Catalog> {
    const path = catalogPath(folder);
    const found = readCatalogFile(path);
    if (found !== undefined) return new Catalog(path, found);
    const legacy = await readLegacyCatalog(`${folder}/catalog`);
    if (legacy === undefined) {
      return new Catalog(path, { state: EMPTY_CATALOG, isNew: true, isMended: false });
    }
    await writeCatalogFile(path, legacy);
    return new Catalog(path, { state: legacy, isNew: false, isMended: false });
  }

  /** A catalog that is stored nowhere. */
  static inMemory(state: CatalogState): Catalog {
    return new Catalog(undefined, { state, isNew: true, isMended: false });
  }

  /** What is true now. Keep it for as long as one answer needs a consistent view. */
  get state(): CatalogState {
    return this.#state;
  }

  /** Is told about every change after it is durable, before its promise resolves. */
  onChange(listener: (state: CatalogState, before: CatalogState) => void): void {
    this.#listeners.add(listener);
  }

  /** Applies a change; what it throws leaves everything as it was. Resolves with the state that it made. */
  change(make: (state: CatalogState) => CatalogState): Promise<CatalogState> {
    const result = this.#tail.then(async () => {
      if (this.#isClosed) throw new Unavailable('the catalog is closed');
      const before = this.#state;
      const after = make(before);
      if (after === before) return before;
      assert(after.nextId >= before.nextId, 'ids are never given twice');
      await this.#persist(after);
      this.#state = after;
      for (const listener of this.#listeners) listener(after, before);
      return after;
    });
    this.#tail = result.catch(() => undefined); // The caller gets the error; the next change must still run.
    return result;
  }

  async #persist(state: CatalogState): Promise<void> {
    if (this.#path === undefined) return;
    try {
      await writeCatalogFile(this.#path, state);
    } catch (error) {
      const reason = messageOf(error);
      throw new Unavailable(`the catalog can not be written: ${reason}`, { cause: error });
    }
  }

  /** Lets changes that were asked for end. Idempotent. */
  async close(): Promise<void> {
    await this.#tail;
    this.#isClosed = true;
  }
}

type Found = {
  readonly state: CatalogState;
  readonly isNew: boolean;
  readonly isMended: boolean;
};

/** Durable when it resolves. */
export function writeCatalogFile(path: string, state: CatalogState): Promise<void> {
  const text = printCatalog({
    nextId: state.nextId,
    databases: [...state.databases.values()],
    users: [...state.users.values()],
    tokens: [...state.tokens.values()],
  });
  return writeCheckedFile(path, { format: FORMAT, body: Buffer.from(text) });
}

/** `undefined` when there is no such file. Throws `Corruption` when neither of its copies can be read. */
export function readCatalogFile(path: string): Found | undefined {
  const stored = readCheckedFile(path, FORMAT);
  if (stored === undefined) return undefined;
  const entries = parseCatalog(Buffer.from(stored.body).toString('utf8'));
  if (entries?.nextId === undefined) {
    throw new Corruption('the catalog is not understood', { file: path, offset: 0 });
  }
  const byName = <T extends { readonly name: string }>(all: readonly T[]): Map<string, T> =>
    new Map(all.map((one) => [one.name, one]));
  const { databases, users, tokens, nextId } = entries;
  const state = {
    databases: byName(databases),
    users: byName(users),
    tokens: byName(tokens),
    nextId,
  };
  return { state, isNew: false, isMended: stored.isMended };
}
