// The catalog of a service, on disk (docs/adr/0032-journals.md), shared with others, or in memory.
// A change becomes visible and is acknowledged after it is synced.
import { existsSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { assert, messageOf, Unavailable } from '@tidemark/core';
import { DiskReserve, nodeDisk } from '@tidemark/storage';
import type { Disk } from '@tidemark/storage';
import type { StorageLog } from '@tidemark/storage-api';

import { CatalogFile, catalogPath } from './catalog-file.ts';
import { parseCatalogState, printCatalogChange, printCatalogState } from './catalog-record.ts';
import { EMPTY_CATALOG } from './model.ts';
import type { CatalogState, Database } from './model.ts';

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
  readonly #file: CatalogFile | undefined;
  readonly #share: CatalogShare | undefined;
  /** For changes that make the catalog smaller. */
  readonly #reserve: DiskReserve | undefined;
  #state: CatalogState;
  // Changes run one after another, each on the state that the previous one has left.
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #listeners = new Set<(state: CatalogState, before: CatalogState) => void>();
  /** There was no catalog: data beside it belongs to one that is lost. */
  readonly isNew: boolean;
  /** One copy in the file was damaged; the next change mends it. */
  readonly hasDamagedCopy: boolean;

  private constructor(found: Found, { file, reserve, share }: Parts = {}) {
    this.#file = file;
    this.#share = share;
    share?.onChange(() => this.#follow(share.text));
    this.#reserve = reserve;
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
    const { file, stored } = await CatalogFile.open(folder, options.disk);
    const reserve = new DiskReserve({
      disk: nodeDisk(),
      path: `${folder}/RESERVE`,
      sizeBytes: reserveBytesFor(catalogPath(folder), options.reserveBytes ?? 0),
      log: options.log ?? (() => undefined),
    });
    const found = stored ?? { state: EMPTY_CATALOG, hasDamagedCopy: false };
    return new Catalog({ ...found, isNew: stored === undefined }, { file, reserve });
  }

  /** A catalog that is only in memory. */
  static inMemory(state: CatalogState): Catalog {
    return new Catalog({ state, isNew: true, hasDamagedCopy: false });
  }

  /** A catalog that is shared with other services and not stored in a file. */
  static shared(share: CatalogShare): Catalog {
    const { text } = share;
    const state = text === undefined ? EMPTY_CATALOG : sharedState(text);
    return new Catalog({ state, isNew: text === undefined, hasDamagedCopy: false }, { share });
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
      return after === before ? undefined : printCatalogState(after);
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

  async #persist(after: CatalogState, before: CatalogState): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    const reserve = this.#reserve;
    const change = printCatalogChange(before, after);
    // What the opposite change would add is what goes.
    const isSmaller = change.length < printCatalogChange(after, before).length;
    try {
      if (reserve !== undefined && isSmaller) {
        await reserve.use(() => file.append(change, before));
      } else {
        await reserve?.make();
        await reserve?.admit();
        await file.append(change, before);
      }
      await reserve?.make();
    } catch (error) {
      const reason = messageOf(error);
      throw new Unavailable(`the catalog cannot be written: ${reason}`, { cause: error });
    }
  }

  /** Waits for requested changes. Idempotent. */
  async close(): Promise<void> {
    await this.#tail;
    this.#isClosed = true;
  }
}

/** Enough for two catalogs beside the present one, each of which is two copies. */
function reserveBytesFor(path: string, leastBytes: number): number {
  if (leastBytes === 0 || !existsSync(path)) return leastBytes;
  return Math.max(leastBytes, 4 * statSync(path).size);
}

type Parts = {
  readonly file?: CatalogFile | undefined;
  readonly reserve?: DiskReserve | undefined;
  readonly share?: CatalogShare | undefined;
};

type Found = {
  readonly state: CatalogState;
  readonly isNew: boolean;
  readonly hasDamagedCopy: boolean;
};

function sharedState(text: string): CatalogState {
  const state = parseCatalogState(text);
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
