// Files of stores in a simulation: real LMDB on a file system in memory, whose transactions end
// before the call that begins them returns, so that the same seed gives the same history.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';

const MEMORY = '/dev/shm';

export class MemoryDisk {
  readonly #directory: string;
  #count = 0;

  constructor() {
    const parent = existsSync(MEMORY) ? MEMORY : tmpdir();
    this.#directory = mkdtempSync(join(parent, 'tidemark-simulation-'));
  }

  /** A directory that was not there. */
  directory(): string {
    const path = join(this.#directory, String(this.#count++));
    mkdirSync(path);
    return path;
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export function openInMemory(file: string): RootDatabase {
  const root = open({
    path: file,
    noSubdir: true,
    maxDbs: 32,
    eventTurnBatching: false,
    noSync: true,
  });
  const done = Promise.resolve(true);
  return new Proxy(root, {
    get: (target, name) => {
      if (name === 'flushed') return done;
      if (name === 'batch')
        return (changes: () => void) => {
          target.transactionSync(changes);
          return done;
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
