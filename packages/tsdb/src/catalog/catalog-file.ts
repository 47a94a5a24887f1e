// The catalog on disk: a checkpoint and a journal of the changes since (docs/formats/catalog.md).
import { Corruption } from '@tidemark/core';
import { Journal, NewerFormat, nodeDisk, readState } from '@tidemark/storage';
import type { Disk, JournalPlace } from '@tidemark/storage';

import {
  applyCatalogChange,
  parseCatalogChange,
  parseCatalogState,
  printCatalogState,
} from './catalog-record.ts';
import { readLegacyCatalog } from './legacy-catalog.ts';
import type { CatalogState } from './model.ts';

const FORMAT = { magic: 'TDMCAT', version: 3, firstVersion: 3 };
const FILE_NAME = 'catalog.tdm';

export type StoredCatalog = {
  readonly state: CatalogState;
  /** A copy of something is damaged; the next change mends it. */
  readonly hasDamagedCopy: boolean;
};

/** The file in the folder of a catalog; its journal is beside it. */
export function catalogPath(folder: string): string {
  return `${folder}/${FILE_NAME}`;
}

/**
 * `undefined` when there is no catalog. Throws `Corruption` when it, or an acknowledged change of
 * it, cannot be read.
 */
export function readCatalog(folder: string, disk: Disk = nodeDisk()): StoredCatalog | undefined {
  return fromState(readStored(placeOf(folder, disk)), folder);
}

/** Writes a catalog, whatever is there; durable when it resolves. */
export async function replaceCatalog(folder: string, state: CatalogState): Promise<void> {
  const text = Buffer.from(printCatalogState(state));
  await new Journal(placeOf(folder, nodeDisk()), undefined).checkpoint(text);
}

/** The file of a catalog that is open. */
export class CatalogFile {
  readonly #journal: Journal;

  private constructor(journal: Journal) {
    this.#journal = journal;
  }

  /**
   * Reads the catalog, and makes it durable. `stored` is `undefined` when there is none. Throws
   * `Corruption`.
   */
  static async open(
    folder: string,
    disk: Disk = nodeDisk(),
  ): Promise<{ readonly file: CatalogFile; readonly stored: StoredCatalog | undefined }> {
    const place = placeOf(folder, disk);
    const state = readStored(place);
    const stored = fromState(state, folder);
    const journal = new Journal(place, state);
    await journal.settle();
    const legacy = stored === undefined ? await readLegacyCatalog(`${folder}/catalog`) : undefined;
    if (legacy === undefined) return { file: new CatalogFile(journal), stored };
    await journal.checkpoint(Buffer.from(printCatalogState(legacy)));
    return { file: new CatalogFile(journal), stored: { state: legacy, hasDamagedCopy: false } };
  }

  /** Appends a change (`printCatalogChange`) of a state; durable when it resolves. */
  async append(change: string, before: CatalogState): Promise<void> {
    await this.#journal.append(Buffer.from(change), () => Buffer.from(printCatalogState(before)));
  }
}

function placeOf(folder: string, disk: Disk): JournalPlace {
  return { disk, path: catalogPath(folder), format: FORMAT };
}

/** As `readState`, with what to do about damage. */
function readStored(place: JournalPlace): ReturnType<typeof readState> {
  try {
    return readState(place);
  } catch (error) {
    if (error instanceof NewerFormat || !(error instanceof Corruption)) throw error;
    const { file, offset, reason } = error;
    throw new Corruption(`${reason}; restore the catalog from a backup`, { file, offset });
  }
}

function fromState(
  stored: ReturnType<typeof readState>,
  folder: string,
): StoredCatalog | undefined {
  if (stored === undefined) return undefined;
  const file = catalogPath(folder);
  let state = understood(parseCatalogState(textOf(stored.checkpoint)), file);
  for (const bytes of stored.changes) {
    const change = understood(parseCatalogChange(textOf(bytes)), file);
    state = applyCatalogChange(state, change);
  }
  return { state, hasDamagedCopy: stored.hasDamagedCopy };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** The checksum is right, so another program wrote what is not understood. */
function understood<T>(value: T | undefined, file: string): T {
  if (value !== undefined) return value;
  throw new Corruption('the catalog is not understood', { file, offset: 0 });
}
