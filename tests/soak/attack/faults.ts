// The faults of a round: none, slow or failing syncs (strace delays or fails the system calls),
// delayed syncs, or a full disk.
import {
  closeSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

import { programPath } from '@tidemark/testkit';

import type { SmallDisk } from '../disk-full/small-disk.ts';

export type FaultKind = 'none' | 'slow-sync' | 'failing-sync' | 'delayed-sync' | 'full-disk';

export type Fault = {
  readonly kind: FaultKind;
  readonly wrapper: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

const SYNCS = 'fsync,fdatasync';

/** `pick` gives integers below its argument; `trace` is a file that strace may write to. */
export function faultOf(
  kind: FaultKind,
  { pick, trace }: { readonly pick: (end: number) => number; readonly trace: string },
): Fault {
  const strace = (inject: string): readonly string[] => [
    // -D: the process that was started is the service itself, so that it gets the signals.
    'strace',
    '-D',
    '-f',
    '--seccomp-bpf',
    '-qqq',
    `--output=${trace}`,
    `--trace=${SYNCS}`,
    `--inject=${SYNCS}:${inject}`,
  ];
  switch (kind) {
    case 'slow-sync':
      return { kind, wrapper: strace(`delay_enter=${(20 + pick(280)) * 1000}`), environment: {} };
    case 'failing-sync': {
      // Each thread counts its own calls; the first ones are those of the start.
      const when = `${20 + pick(40)}+${7 + pick(30)}`;
      return { kind, wrapper: strace(`error=EIO:when=${when}`), environment: {} };
    }
    case 'delayed-sync': {
      const delay = `${50 + pick(500)}ms`;
      return { kind, wrapper: [], environment: { TIDEMARK_DATA_WAL_FSYNC_DELAY: delay } };
    }
    case 'none':
    case 'full-disk':
      return { kind, wrapper: [], environment: {} };
  }
}

export const canTrace = (): boolean => programPath('strace') !== undefined;

/** How many syncs strace has made wait or fail; 0 when it has not run. */
export function disturbedSyncs(trace: string): number {
  try {
    return (readFileSync(trace, 'utf8').match(/\((INJECTED|DELAYED)\)/g) ?? []).length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

const PIECE = new Uint8Array(1 << 20);

/** A file that takes the room of a small disk. */
export class Ballast {
  readonly #disk: SmallDisk;
  readonly #path: string;
  readonly #diskBytes: number;

  constructor(disk: SmallDisk, diskBytes: number) {
    this.#disk = disk;
    this.#path = join(disk.directory, 'ballast');
    this.#diskBytes = diskBytes;
  }

  /** Takes what is free but for so many bytes. */
  fill(leftBytes: number): void {
    const file = openSync(this.#path, 'a');
    try {
      if (this.#disk.isMounted) this.#write(file, leftBytes);
      // The process that is kept from writing more looks at lengths.
      else ftruncateSync(file, this.#diskBytes - usedBytes(this.#disk.directory) - leftBytes);
    } catch (error) {
      // Others write too.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  #write(file: number, leftBytes: number): void {
    const { bavail, bsize } = statfsSync(this.#disk.directory);
    for (let toTake = bavail * bsize - leftBytes; toTake > 0; toTake -= PIECE.length) {
      writeSync(file, PIECE, 0, Math.min(PIECE.length, toTake));
    }
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}

/** Without the ballast. */
function usedBytes(directory: string): number {
  let used = 0;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === 'ballast') continue;
    used += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return used;
}
