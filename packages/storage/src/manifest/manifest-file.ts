// The manifest on disk: a checkpoint and a journal of the commits since. A commit writes what it
// changes. Format: docs/formats/manifest.md.
import type { Disk } from '../disk/disk.ts';
import { Journal, readState, stateFiles } from '../disk/journal.ts';
import type { JournalPlace, StoredState } from '../disk/journal.ts';
import { IndexedManifest } from './manifest-change.ts';
import type { ManifestParts, NextManifest } from './manifest-change.ts';
import {
  EMPTY_MANIFEST,
  MANIFEST_NAME,
  parseChange,
  parseManifest,
  printChange,
  printManifest,
} from './manifest.ts';
import type { Manifest, ManifestChange, ManifestDatabase } from './manifest.ts';

const FORMAT = { magic: 'TDMMAN', version: 5, firstVersion: 5 };

export type StoredManifest = {
  readonly manifest: Manifest;
  /** A copy of something is damaged; the next commit repairs it. */
  readonly hasDamagedCopy: boolean;
  /** Shards whose entry or database the last commit changed: their files may lack that. */
  readonly lastChanged: ReadonlySet<number>;
};

/** Reads the manifest of a directory; an empty one when there is none yet. Throws `Corruption`. */
export function readManifest(disk: Disk, directory: string): StoredManifest {
  return fromState(readState(placeOf(disk, directory)), manifestPath(directory));
}

/** Replaces the manifest, whatever is there; durable when it resolves. */
export async function replaceManifest(
  disk: Disk,
  directory: string,
  manifest: Manifest,
): Promise<void> {
  await new Journal(placeOf(disk, directory), undefined).checkpoint(printManifest(manifest));
}

/** The files of the manifest, for keeping copies of them. */
export function manifestFiles(disk: Disk, directory: string): readonly string[] {
  return stateFiles({ disk, path: manifestPath(directory) });
}

export function manifestPath(directory: string): string {
  return `${directory}/${MANIFEST_NAME}`;
}

/** The manifest of an engine that is open. */
export class ManifestFile {
  readonly #journal: Journal;
  /** What is on disk. */
  readonly #durable: IndexedManifest;

  private constructor(journal: Journal, manifest: Manifest) {
    this.#journal = journal;
    this.#durable = new IndexedManifest(manifest);
  }

  /** Reads the manifest, and makes it durable. Throws `Corruption`. */
  static async open(
    disk: Disk,
    directory: string,
  ): Promise<{ readonly file: ManifestFile; readonly stored: StoredManifest }> {
    const place = placeOf(disk, directory);
    const state = readState(place);
    const stored = fromState(state, place.path);
    const journal = new Journal(place, state);
    await journal.settle();
    return { file: new ManifestFile(journal, stored.manifest), stored };
  }

  /** The manifest on disk. */
  get durable(): ManifestParts {
    return this.#durable;
  }

  /**
   * Records a manifest; durable when it resolves. Returns the ids of shards whose file has to be
   * written.
   */
  async write(next: NextManifest): Promise<ReadonlySet<number>> {
    const change = this.#durable.changeTo(next);
    await this.#journal.append(printChange(change), () => printManifest(this.#durable.manifest));
    return applied(this.#durable, change);
  }
}

function placeOf(disk: Disk, directory: string): JournalPlace {
  return { disk, path: manifestPath(directory), format: FORMAT };
}

function fromState(state: StoredState | undefined, path: string): StoredManifest {
  if (state === undefined) {
    return { manifest: EMPTY_MANIFEST, hasDamagedCopy: false, lastChanged: new Set() };
  }
  const indexed = new IndexedManifest(parseManifest(state.checkpoint, path));
  let lastChanged = new Set<number>();
  for (const bytes of state.changes) lastChanged = applied(indexed, parseChange(bytes, path));
  return { manifest: indexed.manifest, hasDamagedCopy: state.hasDamagedCopy, lastChanged };
}

/** Applies a change. Returns the ids of shards whose file has to be written then. */
function applied(manifest: IndexedManifest, change: ManifestChange): Set<number> {
  const changed = new Set(change.shards.map(({ descriptor }) => descriptor.id));
  const owners = new Set(
    change.databases
      .filter((one) => !isSameOwner(manifest.databases.get(one.name), one))
      .map(({ name }) => name),
  );
  manifest.apply(change);
  if (owners.size === 0) return changed;
  for (const [id, { descriptor }] of manifest.shards) {
    if (owners.has(descriptor.database)) changed.add(id);
  }
  return changed;
}

function isSameOwner(a: ManifestDatabase | undefined, b: ManifestDatabase): boolean {
  return a?.instance === b.instance && a.indexFile === b.indexFile;
}
