// A disk in memory that keeps only what was synced: a crash drops, reorders and tears the writes
// since the last sync, and forgets names whose directory was not synced. It can also end after any
// operation, be full, fail a sync, and let a sync take as long as a simulation wants.
import type { Disk, DiskFile, OpenMode } from '../disk/disk.ts';

type Write =
  | { readonly kind: 'write'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly length: number };

type Inode = {
  current: Uint8Array;
  durable: Uint8Array;
  unsynced: readonly Write[];
  /** Its last sync failed. */
  hasFailed?: boolean;
};

/** A change of names that its directory's sync has not made durable. */
type NameChange = { readonly directory: string; readonly undo: () => void };

/** What a sync waits for; called with the file or directory. */
export type SyncGate = (kind: 'sync' | 'sync-directory', path: string) => Promise<void>;

export class SimulatedCrash extends Error {
  override readonly name = 'SimulatedCrash';
}

/** Deterministic random numbers in [0, 1). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export class SimulatedDisk implements Disk {
  readonly #names = new Map<string, Inode>();
  readonly #directories = new Set<string>();
  #changes: readonly NameChange[] = [];
  /** Syncs wait for it. Without one they end at once. */
  gate: SyncGate | undefined;
  /** Operations that changed something so far. */
  operations = 0;
  /** Every operation from this number on fails: the machine is off. */
  crashAt = Number.POSITIVE_INFINITY;
  /** Total bytes of all files; writing beyond fails with ENOSPC after a part was written. */
  capacityBytes = Number.POSITIVE_INFINITY;
  /** The next syncs of files fail, and what they should have made durable is lost. */
  failSyncs = 0;
  /** What a failed sync should have made durable is durable all the same. */
  keepsFailed = false;
  /** The same for syncs of folders. */
  failDirectorySyncs = 0;
  openFiles = 0;
  openFilesMax = Number.POSITIVE_INFINITY;

  /** Nothing more fits until something is removed. */
  fill(): void {
    this.capacityBytes = this.#usedBytes();
  }

  /** The contents after a power cut. */
  afterCrash(random: () => number): SimulatedDisk {
    // Names go back to a random moment since the last sync of their directory; the journal keeps
    // their order.
    const byDirectory = new Map<string, NameChange[]>();
    for (const change of this.#changes) {
      byDirectory.set(change.directory, [...(byDirectory.get(change.directory) ?? []), change]);
    }
    for (const changes of byDirectory.values()) {
      const kept = Math.floor(random() * (changes.length + 1));
      for (const change of changes.slice(kept).reverse()) change.undo();
    }
    const disk = this.#emptyCopy();
    for (const [path, inode] of this.#names) {
      const bytes = survivingBytes(inode, random);
      disk.#names.set(path, { current: bytes, durable: bytes, unsynced: [] });
    }
    return disk;
  }

  /** The contents after the process was killed: a power cut may still take what was not synced. */
  afterKill(): SimulatedDisk {
    const disk = this.#emptyCopy();
    for (const [path, inode] of this.#names) disk.#names.set(path, { ...inode });
    return disk;
  }

  /** Bytes of a file, to damage them. */
  bytes(path: string): Uint8Array {
    const inode = this.#inode(path);
    inode.durable = inode.current;
    return inode.current;
  }

  /** Length of the part of a file that a power cut certainly leaves. */
  syncedBytes(path: string): number {
    return this.#inode(path).durable.length;
  }

  replace(path: string, bytes: Uint8Array): void {
    this.#names.set(path, { current: bytes, durable: bytes, unsynced: [] });
  }

  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  /** A copy of the present state. */
  copy(): SimulatedDisk {
    const disk = this.#emptyCopy();
    for (const [path, { current }] of this.#names) disk.replace(path, current.slice());
    return disk;
  }

  #emptyCopy(): SimulatedDisk {
    const disk = new SimulatedDisk();
    for (const path of this.#directories) disk.#directories.add(path);
    return disk;
  }

  /**
   * Offset of the bytes that a power cut may take, as far as syncs report: after a successful sync,
   * the bytes of an earlier failed one count as durable.
   */
  unsyncedFrom(path: string): number {
    const { current, durable, unsynced, hasFailed } = this.#inode(path);
    const firstOther =
      hasFailed === true ? current.findIndex((byte, at) => byte !== durable[at]) : -1;
    const starts = unsynced.map((one) => (one.kind === 'write' ? one.at : one.length));
    return Math.min(firstOther === -1 ? current.length : firstOther, ...starts);
  }

  /** Whether a power cut may take names from a folder. */
  hasUnsyncedNames(directory: string): boolean {
    return this.#changes.some((change) => change.directory === directory);
  }

  open(path: string, mode: OpenMode): DiskFile {
    if (this.openFiles >= this.openFilesMax) throw systemError('EMFILE', path);
    if (mode === 'create') {
      this.#step();
      if (this.#names.has(path)) throw systemError('EEXIST', path);
      if (!this.#hasDirectory(directoryOf(path))) throw systemError('ENOENT', path);
      const inode: Inode = { current: EMPTY, durable: EMPTY, unsynced: [] };
      this.#change(
        path,
        () => this.#names.set(path, inode),
        () => this.#names.delete(path),
      );
    }
    this.#checkAlive();
    const inode = this.#inode(path);
    this.openFiles++;
    return this.#file(path, inode);
  }

  exists(path: string): boolean {
    this.#checkAlive();
    if (this.#names.has(path) || this.#directories.has(path)) return true;
    return this.list(path).length > 0;
  }

  makeDirectory(path: string): void {
    this.#checkAlive();
    this.#directories.add(path);
  }

  list(path: string): string[] {
    this.#checkAlive();
    const names = new Set<string>();
    for (const name of [...this.#names.keys(), ...this.#directories]) {
      if (name.startsWith(`${path}/`)) names.add(name.slice(path.length + 1).split('/')[0]!);
    }
    return [...names].sort();
  }

  rename(from: string, to: string): void {
    this.#step();
    const inode = this.#inode(from);
    const replaced = this.#names.get(to);
    this.#change(
      to,
      () => {
        this.#names.delete(from);
        this.#names.set(to, inode);
      },
      () => {
        if (replaced === undefined) this.#names.delete(to);
        else this.#names.set(to, replaced);
        this.#names.set(from, inode);
      },
    );
  }

  remove(path: string): void {
    const inode = this.#names.get(path);
    this.#checkAlive();
    if (inode === undefined) return;
    this.#step();
    this.#change(
      path,
      () => this.#names.delete(path),
      () => this.#names.set(path, inode),
    );
  }

  removeDirectory(path: string): void {
    for (const name of this.#names.keys()) if (name.startsWith(`${path}/`)) this.remove(name);
    this.#directories.delete(path);
  }

  freeBytes(): number {
    return Math.max(0, this.capacityBytes - this.#usedBytes());
  }

  async syncDirectory(path: string): Promise<void> {
    this.#step();
    if (!this.#hasDirectory(path)) throw systemError('ENOENT', path);
    const covered = new Set(this.#changes);
    if (this.gate !== undefined) {
      await this.gate('sync-directory', path);
      this.#checkAlive();
    }
    if (this.failDirectorySyncs > 0) {
      this.failDirectorySyncs--;
      throw systemError('EIO', path);
    }
    const isDurable = (change: NameChange): boolean =>
      change.directory === path && covered.has(change);
    this.#changes = this.#changes.filter((change) => !isDurable(change));
  }

  #file(path: string, inode: Inode): DiskFile {
    let isOpen = true;
    return {
      path,
      size: () => inode.current.length,
      read: (target, position) => {
        this.#checkAlive();
        const bytes = inode.current.subarray(position, position + target.length);
        target.set(bytes);
        return bytes.length;
      },
      write: (bytes, position) => {
        this.#step();
        const room = this.#room(inode, position);
        const fits = Math.min(bytes.length, room);
        change(inode, { kind: 'write', at: position, bytes: bytes.slice(0, fits) });
        if (fits < bytes.length) throw systemError('ENOSPC', path);
      },
      truncate: (length) => {
        this.#step();
        change(inode, { kind: 'truncate', length });
      },
      sync: async () => {
        this.#step();
        if (!isOpen) throw systemError('EBADF', path);
        const covered = new Set(inode.unsynced);
        if (this.gate !== undefined) {
          await this.gate('sync', path);
          this.#checkAlive();
          // The descriptor was closed during the sync, and may be another file's by now.
          if (!isOpen) throw systemError('EBADF', path);
        }
        const { unsynced } = inode;
        inode.unsynced = unsynced.filter((write) => !covered.has(write));
        if (this.failSyncs > 0) {
          this.failSyncs--;
          inode.hasFailed = true;
          if (this.keepsFailed) makeDurable(inode, unsynced, covered);
          // As Linux does: the pages are clean now and their contents may never reach the disk.
          throw systemError('EIO', path);
        }
        inode.hasFailed = false;
        makeDurable(inode, unsynced, covered);
      },
      close: () => {
        if (isOpen) this.openFiles--;
        isOpen = false;
      },
    };
  }

  /** Directories in the root are there from the beginning. */
  #hasDirectory(path: string): boolean {
    return path.lastIndexOf('/') === 0 || this.exists(path);
  }

  #room(inode: Inode, position: number): number {
    if (this.capacityBytes === Number.POSITIVE_INFINITY) return this.capacityBytes;
    const free = this.capacityBytes - this.#usedBytes();
    return Math.max(0, free + Math.max(0, inode.current.length - position));
  }

  #usedBytes(): number {
    let used = 0;
    for (const { current } of this.#names.values()) used += current.length;
    return used;
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw systemError('ENOENT', path);
    return inode;
  }

  #change(path: string, redo: () => void, undo: () => void): void {
    redo();
    this.#changes = [...this.#changes, { directory: directoryOf(path), undo }];
  }

  #checkAlive(): void {
    if (this.operations >= this.crashAt) throw new SimulatedCrash('the machine is off');
  }

  #step(): void {
    this.#checkAlive();
    this.operations++;
  }
}

const EMPTY = new Uint8Array(0);

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

function change(inode: Inode, write: Write): void {
  inode.current = applied(inode.current, write);
  inode.unsynced = [...inode.unsynced, write];
}

function makeDurable(inode: Inode, writes: readonly Write[], covered: ReadonlySet<Write>): void {
  for (const write of writes) {
    if (covered.has(write)) inode.durable = applied(inode.durable, write);
  }
}

function applied(bytes: Uint8Array, write: Write): Uint8Array {
  if (write.kind === 'truncate') {
    const result = new Uint8Array(write.length);
    result.set(bytes.subarray(0, write.length));
    return result;
  }
  const result = new Uint8Array(Math.max(bytes.length, write.at + write.bytes.length));
  result.set(bytes);
  result.set(write.bytes, write.at);
  return result;
}

/** Durable bytes plus some of the unsynced writes, in any order, cut anywhere. */
function survivingBytes(inode: Inode, random: () => number): Uint8Array {
  let bytes = inode.durable;
  const writes = inode.unsynced.filter(() => random() < 0.5);
  writes.sort(() => random() - 0.5);
  for (const write of writes) {
    const isTorn = write.kind === 'write' && random() < 0.5;
    const length = isTorn ? Math.floor(random() * write.bytes.length) : 0;
    bytes = applied(bytes, isTorn ? { ...write, bytes: write.bytes.subarray(0, length) } : write);
  }
  return bytes;
}
