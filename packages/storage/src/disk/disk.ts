// The file layer: everything that storage does with files goes through `Disk`, so that tests can
// put a disk under the engine that loses, tears and refuses. Reads and writes are synchronous (they
// hit the page cache); syncs are not.

/** An open file. `close` is idempotent. */
export interface DiskFile {
  readonly path: string;
  /** Bytes read, fewer than asked at the end of the file. */
  read(target: Uint8Array, position: number): number;
  /** Writes everything or throws; after a throw any prefix may have been written. */
  write(bytes: Uint8Array, position: number): void;
  size(): number;
  truncate(length: number): void;
  /**
   * fdatasync. After a rejection nothing is known about what was written since the last success.
   */
  sync(): Promise<void>;
  close(): void;
}

export type OpenMode = 'read' | 'create' | 'modify';

/** Paths are absolute. Errors are those of `node:fs` (with `code`), wrapped nowhere. */
export interface Disk {
  /**
   * `create` fails when the file exists; `modify` opens an existing one for reading and writing.
   */
  open(path: string, mode: OpenMode): DiskFile;
  exists(path: string): boolean;
  makeDirectory(path: string): void;
  /** Names in a directory, sorted; empty when there is none. */
  list(path: string): string[];
  rename(from: string, to: string): void;
  /** Removes a file; nothing happens when there is none. */
  remove(path: string): void;
  removeDirectory(path: string): void;
  /** Bytes that can still be written in a directory, which exists. */
  freeBytes(path: string): number;
  /** Makes creations, renames and removals in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}
