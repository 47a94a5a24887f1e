// Reserves space in the metadata file before it is used. LMDB ends the process when it finds the
// disk full during a transaction (its error text does not fit its buffer), so LMDB must not be the
// one to find out: the file is first extended with zeros, and a write for which that fails is
// refused. LMDB uses the space after its last page as it uses the end of a file.
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { assert, messageOf, Unavailable } from '@tidemark/core';
import type { RootDatabase } from 'lmdb';

/** Pages of an LMDB file. */
export const PAGE_BYTES = 4096;

/** Changes of a transaction besides its entries: roots of tables and the list of free pages. */
const TRANSACTION_BYTES = 256 * 1024;

/** Bytes of the list of free pages per page that is replaced. */
const FREE_PAGE_BYTES = 8;

const GROWTH_BYTES = 1024 * 1024;

const ZEROS = Buffer.alloc(64 * 1024);

/** Reserved for writes that only remove or end something, so that a full disk can be tidied up. */
const SPARE_BYTES = 512 * 1024;

/** How large a write is. */
type Size = {
  /** Entries that are put or removed. */
  readonly entries: number;
  /** Bytes of the values that are put. */
  readonly bytes: number;
  /** It ends something and may use the reserved space. */
  readonly isEnd?: boolean | undefined;
};

export class MetadataRoom {
  readonly #root: RootDatabase;
  readonly #fd: number;
  readonly #growthBytes: number;
  /** Bytes of the file, and those that LMDB used, when they were last checked. */
  #length = 0;
  #used = 0;
  /** Bytes for writes in progress, and for those that have ended since that check. */
  #inFlight = 0;
  #ended = 0;

  /** `growthBytes` is the minimum by which the file grows. */
  constructor(root: RootDatabase, path: string, growthBytes = GROWTH_BYTES) {
    this.#root = root;
    this.#growthBytes = growthBytes;
    // Appending is atomic: it never overwrites what LMDB has written meanwhile.
    this.#fd = openSync(path, 'a');
    this.#look();
  }

  /**
   * Reserves space for a write that is about to begin. Call the result when it has ended, in any
   * way. Throws `Unavailable` with the reason when there is no space.
   */
  take(size: Size): () => void {
    const needed = this.#neededBytes(size);
    assert(Number.isSafeInteger(needed), 'room is taken in whole bytes');
    const spare = size.bytes === 0 || size.isEnd === true ? 0 : SPARE_BYTES;
    if (this.#lacking(needed + spare) > 0) {
      this.#look();
      const lacking = this.#lacking(needed + spare);
      if (lacking > 0) this.#grow(lacking);
    }
    this.#inFlight += needed;
    return () => {
      this.#inFlight -= needed;
      this.#ended += needed;
    };
  }

  close(): void {
    closeSync(this.#fd);
  }

  // The most that LMDB can need: no page is replaced twice in a transaction, none is reused.
  #neededBytes({ entries, bytes }: Size): number {
    const most = 2 * (this.#used + this.#ended + this.#inFlight);
    const replacedPages = Math.min(2 * entries, Math.ceil(most / PAGE_BYTES));
    const split = Math.min(bytes, entries * PAGE_BYTES);
    return bytes + split + replacedPages * (PAGE_BYTES + FREE_PAGE_BYTES) + TRANSACTION_BYTES;
  }

  #lacking(needed: number): number {
    return needed + this.#inFlight + this.#ended - (this.#length - this.#used);
  }

  #look(): void {
    this.#length = fstatSync(this.#fd).size;
    this.#used = (lastPageOf(this.#root) + 1) * PAGE_BYTES;
    this.#ended = 0;
  }

  // Grows by at least `growthBytes` if the disk has space.
  #grow(lacking: number): void {
    const needed = this.#length + lacking;
    const wanted = this.#length + Math.max(lacking, this.#growthBytes);
    let reason: unknown;
    try {
      while (this.#length < wanted) {
        this.#length += writeSync(
          this.#fd,
          ZEROS,
          0,
          Math.min(wanted - this.#length, ZEROS.length),
        );
      }
    } catch (error) {
      reason = error;
    }
    this.#length = fstatSync(this.#fd).size;
    if (this.#length >= needed) return;
    throw new Unavailable(`metadata cannot be written: ${messageOf(reason)}`, {
      cause: reason,
      hint: 'free space on the disk of the data directory',
    });
  }
}

function lastPageOf(root: RootDatabase): number {
  const { lastPageNumber } = root.getStats() as { readonly lastPageNumber: number };
  return lastPageNumber;
}
