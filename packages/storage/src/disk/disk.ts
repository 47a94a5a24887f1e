// The file layer. Everything that storage does with files goes through `Disk`, so that tests can
// simulate a disk that loses or tears writes and fails. Reads and writes are synchronous (they hit
// the page cache); syncs are not.

/** An open file. `close` is idempotent. */
export interface DiskFile {
  readonly path: string;
  /** Returns the number of bytes read, fewer than requested at the end of the file. */
  read(target: Uint8Array, position: number): number;
  /** Writes everything or throws; after a throw any prefix may have been written. */
  write(bytes: Uint8Array, position: number): void;
  size(): number;
  truncate(length: number): void;
  /**
   * fdatasync. After a failure, anything written since the last success may be lost.
   */
  sync(): Promise<void>;
  close(): void;
}

export type OpenMode = 'read' | 'create' | 'modify';

/** Paths are absolute. Methods throw the errors of `node:fs`, with `code`, unwrapped. */
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
  /** Free space on the file system of an existing directory. */
  freeBytes(path: string): number;
  /** Makes creations, renames and removals in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}
