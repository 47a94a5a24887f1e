// Directories of instances in a simulation, and the files of their stores: tables in memory with
// the interface of LMDB that the engine uses. A transaction ends before the call that begins it
// returns, so that the same seed gives the same history. A file on the disk names its store, so
// that a store moves with its directory.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import type { StoreFile } from '../../../../packages/engine/src/store/metadata-file.ts';
import type { FileReader } from '../../../../packages/engine/src/tasks/load-directory.ts';
import { MemoryTable } from './memory-table.ts';

const MEMORY = '/dev/shm';

/** By the text of their files; those of the run. */
const stores = new Map<string, Map<string, MemoryTable>>();

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

  /** One with a task in a file. */
  loadDirectory(task: string, text: string): string {
    const path = this.directory();
    mkdirSync(join(path, 'tasks'));
    writeFileSync(join(path, 'tasks', `${task}.json`), text);
    return path;
  }

  remove(): void {
    stores.clear();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Files are read at once, so that the same seed gives the same history. */
export const files: FileReader = {
  readdir: async (folder) => readdirSync(folder),
  readFile: async (file) => readFileSync(file, 'utf8'),
  stat: async (path) => statSync(path),
};

export function openInMemory(file: string): StoreFile {
  const tables = tablesOf(file);
  const done = Promise.resolve(true);
  const root = {
    flushed: done,
    openDB: ({ name, encoding }: { readonly name: string; readonly encoding: string }) => {
      const table = tables.get(name) ?? new MemoryTable();
      tables.set(name, table);
      return encoding === 'json' ? table.asJson() : table;
    },
    getKeys: () => [...tables.keys()].sort(),
    batch: (changes: () => void) => {
      changes();
      return done;
    },
    close: () => Promise.resolve(),
  };
  return {
    root: root as unknown as RootDatabase,
    room: { take: () => () => undefined, close: () => undefined },
    // For a person to look at; here nobody does.
    backup: () => Promise.resolve(Buffer.alloc(0)),
  };
}

function tablesOf(file: string): Map<string, MemoryTable> {
  if (!existsSync(file)) writeFileSync(file, String(stores.size));
  const id = readFileSync(file, 'utf8');
  const tables = stores.get(id) ?? new Map<string, MemoryTable>();
  stores.set(id, tables);
  return tables;
}
