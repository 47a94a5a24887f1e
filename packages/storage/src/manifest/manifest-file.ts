// The manifest on disk: a checkpoint and a journal of the commits since. A commit writes what it
// changes. Format: docs/formats/manifest.md.
import type { Disk } from '../disk/disk.ts';
import { Journal, readState, stateFiles } from '../disk/journal.ts';
import type { JournalPlace, StoredState } from '../disk/journal.ts';
import { applyChanges, IndexedManifest } from './manifest-change.ts';
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
  #durable: IndexedManifest;

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

  /**
   * Records a manifest; durable when it resolves. Returns the ids of shards whose file has to be
   * written.
   */
  async write(manifest: Manifest): Promise<ReadonlySet<number>> {
    const before = this.#durable;
    const after = new IndexedManifest(manifest);
    const change = before.changeTo(after);
    await this.#journal.append(printChange(change), () => printManifest(before.manifest));
    this.#durable = after;
    return changedShards(before, change, after);
  }
}

function placeOf(disk: Disk, directory: string): JournalPlace {
  return { disk, path: manifestPath(directory), format: FORMAT };
}

function fromState(state: StoredState | undefined, path: string): StoredManifest {
  if (state === undefined) {
    return { manifest: EMPTY_MANIFEST, hasDamagedCopy: false, lastChanged: new Set() };
  }
  const checkpoint = new IndexedManifest(parseManifest(state.checkpoint, path));
  const changes = state.changes.map((change) => parseChange(change, path));
  const last = changes.at(-1);
  const before = applyChanges(checkpoint, changes.slice(0, -1));
  const after = last === undefined ? before : applyChanges(before, [last]);
  const lastChanged = last === undefined ? new Set<number>() : changedShards(before, last, after);
  return { manifest: after.manifest, hasDamagedCopy: state.hasDamagedCopy, lastChanged };
}

/** Shards whose file has to be written after a change, by their ids. */
function changedShards(
  before: IndexedManifest,
  { databases, shards }: ManifestChange,
  after: IndexedManifest,
): Set<number> {
  const changed = new Set(shards.map(({ descriptor }) => descriptor.id));
  const owners = new Set(
    databases
      .filter((one) => !isSameOwner(before.databases.get(one.name), one))
      .map(({ name }) => name),
  );
  if (owners.size === 0) return changed;
  for (const { descriptor } of after.manifest.shards) {
    if (owners.has(descriptor.database)) changed.add(descriptor.id);
  }
  return changed;
}

function isSameOwner(a: ManifestDatabase | undefined, b: ManifestDatabase): boolean {
  return a?.instance === b.instance && a.indexFile === b.indexFile;
}
