// The catalog on disk: one small file that is replaced with every change
// (docs/adr/0006-catalog-file.md). A change becomes visible and is acknowledged after it is synced.
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { assert, Corruption, messageOf, Unavailable } from '@tidemark/core';
import { DiskReserve, nodeDisk, readCheckedFile, writeCheckedFile } from '@tidemark/storage';
import type { Disk } from '@tidemark/storage';
import type { StorageLog } from '@tidemark/storage-api';

import { parseCatalog, printCatalog } from './catalog-record.ts';
import { readLegacyCatalog } from './legacy-catalog.ts';
import { EMPTY_CATALOG } from './model.ts';
import type { CatalogState, Database } from './model.ts';

const FORMAT = { magic: 'TDMCAT', version: 2 };
const FILE_NAME = 'catalog.tdm';

/** The file in the folder of a catalog. */
export function catalogPath(folder: string): string {
  return `${folder}/${FILE_NAME}`;
}

export type CatalogOptions = {
  /**
   * Disk space reserved for changes that make the catalog smaller; 0, the default, reserves none.
   */
  readonly reserveBytes?: number | undefined;
  readonly log?: StorageLog | undefined;
  /** The disk for changes; replaced in tests. */
  readonly disk?: Disk | undefined;
};

/** A catalog that several services share, as text. */
export interface CatalogShare {
  /** `undefined` when there is none yet. */
  readonly text: string | undefined;
  /** Calls the listener when the text has changed. */
  onChange(listener: () => void): void;
  /**
   * Replaces the text, which is up to date when `make` is called. It may be called several times.
   */
  change(make: () => string | undefined): Promise<void>;
}

export class Catalog {
  /** `undefined`: not stored in a file. */
  readonly #path: string | undefined;
  readonly #share: CatalogShare | undefined;
  /** For changes that make the catalog smaller. */
  readonly #reserve: DiskReserve | undefined;
  readonly #disk: Disk;
  #state: CatalogState;
  // Changes run one after another, each on the state that the previous one has left.
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #listeners = new Set<(state: CatalogState, before: CatalogState) => void>();
  /** There was no catalog: data beside it belongs to one that is lost. */
  readonly isNew: boolean;
  /** One copy in the file was damaged; the next change mends it. */
  readonly hasDamagedCopy: boolean;

  private constructor(
    path: string | undefined,
    found: Found,
    { reserve, share, disk = nodeDisk() }: Parts = {},
  ) {
    this.#path = path;
    this.#share = share;
    share?.onChange(() => this.#follow(share.text));
    this.#reserve = reserve;
    this.#disk = disk;
    if (reserve !== undefined) this.#tail = reserve.make(); // Never rejects.
    this.#state = found.state;
    this.isNew = found.isNew;
    this.hasDamagedCopy = found.hasDamagedCopy;
  }

  /**
   * Opens or creates the catalog in a folder, which exists. Throws `Corruption` when it cannot be
   * read.
   */
  static async open(folder: string, options: CatalogOptions = {}): Promise<Catalog> {
    const path = catalogPath(folder);
    const { disk } = options;
    const reserve = new DiskReserve({
      disk: nodeDisk(),
      path: `${folder}/RESERVE`,
      sizeBytes: reserveBytesFor(path, options.reserveBytes ?? 0),
      log: options.log ?? (() => undefined),
    });
    const found = readCatalogFile(path);
    if (found !== undefined) return new Catalog(path, found, { reserve, disk });
    const legacy = await readLegacyCatalog(`${folder}/catalog`);
    if (legacy !== undefined) await writeCatalogFile(path, legacy);
    const state = legacy ?? EMPTY_CATALOG;
    const made = { state, isNew: legacy === undefined, hasDamagedCopy: false };
    return new Catalog(path, made, { reserve, disk });
  }

  /** A catalog that is only in memory. */
  static inMemory(state: CatalogState): Catalog {
    return new Catalog(undefined, { state, isNew: true, hasDamagedCopy: false });
  }

  /** A catalog that is shared with other services and not stored in a file. */
  static shared(share: CatalogShare): Catalog {
    const { text } = share;
    const state = text === undefined ? EMPTY_CATALOG : sharedState(text);
    return new Catalog(
      undefined,
      { state, isNew: text === undefined, hasDamagedCopy: false },
      { share },
    );
  }

  /** The present state. Keep it for as long as one answer needs a consistent view. */
  get state(): CatalogState {
    return this.#state;
  }

  /** Calls the listener for every change after it is durable, before its promise resolves. */
  onChange(listener: (state: CatalogState, before: CatalogState) => void): void {
    this.#listeners.add(listener);
  }

  /** Applies a change; if `make` throws, nothing changes. Resolves with the new state. */
  change(make: (state: CatalogState) => CatalogState): Promise<CatalogState> {
    const result = this.#tail.then(async () => {
      if (this.#isClosed) throw new Unavailable('the catalog is closed');
      if (this.#share !== undefined) return this.#changeShared(this.#share, make);
      const before = this.#state;
      const after = make(before);
      if (after === before) return before;
      assert(after.nextId >= before.nextId, 'ids are never given twice');
      await this.#persist(after, before);
      this.#state = after;
      for (const listener of this.#listeners) listener(after, before);
      return after;
    });
    // The caller gets the error; the next change must still run.
    this.#tail = result.catch(() => undefined);
    return result;
  }

  async #changeShared(
    share: CatalogShare,
    make: (state: CatalogState) => CatalogState,
  ): Promise<CatalogState> {
    await share.change(() => {
      const before = this.#state;
      const after = make(before);
      return after === before ? undefined : textOf(after);
    });
    return this.#state;
  }

  /** Applies a change that was agreed on, by this service or by another one. */
  #follow(text: string | undefined): void {
    if (text === undefined) return;
    const before = this.#state;
    this.#state = withUnchanged(sharedState(text), before);
    for (const listener of this.#listeners) listener(this.#state, before);
  }

  async #persist(state: CatalogState, before: CatalogState): Promise<void> {
    const path = this.#path;
    if (path === undefined) return;
    const reserve = this.#reserve;
    try {
      const isSmaller = textOf(state).length < textOf(before).length;
      if (isSmaller && reserve !== undefined) {
        await reserve.use(() => this.#replace(path, state));
      } else {
        await reserve?.make();
        await reserve?.admit();
        await this.#replace(path, state);
      }
      await reserve?.make();
    } catch (error) {
      const reason = messageOf(error);
      throw new Unavailable(`the catalog cannot be written: ${reason}`, { cause: error });
    }
  }

  /**
   * Replaces the file. If the new name cannot be synced, the present file gets it back: a refused
   * change must not be there after the next start, which would drop the data of what it lacks.
   */
  async #replace(path: string, state: CatalogState): Promise<void> {
    const present = `${path}.present`;
    rmSync(present, { force: true });
    const isNew = !existsSync(path);
    if (!isNew) keepUnder(present, path);
    try {
      await writeCatalogFile(path, state, this.#disk);
    } catch (error) {
      if (existsSync(present)) renameSync(present, path);
      else if (isNew) rmSync(path, { force: true });
      throw error;
    } finally {
      rmSync(present, { force: true });
    }
  }

  /** Waits for requested changes. Idempotent. */
  async close(): Promise<void> {
    await this.#tail;
    this.#isClosed = true;
  }
}

/** Gives a file a second name, if the file system can. */
function keepUnder(name: string, path: string): void {
  try {
    linkSync(path, name);
  } catch (error) {
    if (!LACKS_LINKS.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

const LACKS_LINKS: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
]);

/** Enough for two catalogs beside the present one, each of which is two copies. */
function reserveBytesFor(path: string, leastBytes: number): number {
  if (leastBytes === 0 || !existsSync(path)) return leastBytes;
  return Math.max(leastBytes, 4 * statSync(path).size);
}

type Parts = {
  readonly reserve?: DiskReserve | undefined;
  readonly share?: CatalogShare | undefined;
  readonly disk?: Disk | undefined;
};

type Found = {
  readonly state: CatalogState;
  readonly isNew: boolean;
  readonly hasDamagedCopy: boolean;
};

/** Durable when it resolves. */
export function writeCatalogFile(path: string, state: CatalogState, disk?: Disk): Promise<void> {
  return writeCheckedFile(path, { format: FORMAT, body: Buffer.from(textOf(state)), disk });
}

function textOf(state: CatalogState): string {
  return printCatalog({
    nextId: state.nextId,
    databases: [...state.databases.values()],
    users: [...state.users.values()],
    tokens: [...state.tokens.values()],
  });
}

/**
 * `undefined` when there is no such file. Throws `Corruption` when neither of its copies can be
 * read.
 */
export function readCatalogFile(path: string): Found | undefined {
  const stored = readCheckedFile(path, FORMAT);
  if (stored === undefined) return undefined;
  const state = parseState(Buffer.from(stored.body).toString('utf8'));
  if (state === undefined) {
    throw new Corruption('the catalog is not understood', { file: path, offset: 0 });
  }
  return { state, isNew: false, hasDamagedCopy: stored.hasDamagedCopy };
}

/** `undefined` for anything that `textOf` did not write. */
function parseState(text: string): CatalogState | undefined {
  const entries = parseCatalog(text);
  if (entries?.nextId === undefined) return undefined;
  const byName = <T extends { readonly name: string }>(all: readonly T[]): Map<string, T> =>
    new Map(all.map((one) => [one.name, one]));
  const { databases, users, tokens, nextId } = entries;
  return {
    databases: byName(databases),
    users: byName(users),
    tokens: byName(tokens),
    nextId,
  };
}

function sharedState(text: string): CatalogState {
  const state = parseState(text);
  if (state === undefined)
    throw new Unavailable('the shared catalog is not understood: another version has written it');
  return state;
}

/**
 * Keeps the objects of unchanged subscriptions, so that writes on their way to them are kept too.
 */
function withUnchanged(state: CatalogState, before: CatalogState): CatalogState {
  const known = new Map(
    [...before.databases.values()]
      .flatMap(({ policies }) => policies)
      .map(({ id, subscriptions }) => [id, subscriptions]),
  );
  const databases = new Map<string, Database>();
  for (const [name, database] of state.databases) {
    const policies = database.policies.map((policy) => ({
      ...policy,
      subscriptions: policy.subscriptions.map(
        (one) => known.get(policy.id)?.find((other) => isDeepStrictEqual(one, other)) ?? one,
      ),
    }));
    databases.set(name, { ...database, policies });
  }
  return { ...state, databases };
}
