// The difference between two manifests, as the journal of the manifest records it: only what has
// changed. Format: docs/formats/manifest.md.
import { shardToJson } from './manifest.ts';
import type { Manifest, ManifestChange, ManifestDatabase, ManifestShard } from './manifest.ts';

/** A manifest by the names and ids of its parts. */
export class IndexedManifest {
  readonly databases: ReadonlyMap<string, ManifestDatabase>;
  readonly shards: ReadonlyMap<number, ManifestShard>;
  readonly manifest: Manifest;

  constructor(manifest: Manifest) {
    this.manifest = manifest;
    this.databases = new Map(manifest.databases.map((one) => [one.name, one]));
    this.shards = new Map(manifest.shards.map((one) => [one.descriptor.id, one]));
  }

  /** What leads from this manifest to another one. Parts that are the same object are skipped. */
  changeTo(next: IndexedManifest): ManifestChange {
    const databases = next.manifest.databases.filter(
      (one) => !isSameDatabase(this.databases.get(one.name), one),
    );
    const shards = next.manifest.shards.filter(
      (one) => !isSameShard(this.shards.get(one.descriptor.id), one),
    );
    return {
      ...next.manifest,
      databases,
      goneDatabases: this.manifest.databases
        .filter(({ name }) => !next.databases.has(name))
        .map(({ name }) => name),
      shards,
      goneShards: this.manifest.shards
        .filter(({ descriptor }) => !next.shards.has(descriptor.id))
        .map(({ descriptor }) => descriptor.id),
    };
  }
}

/** The manifest after changes. */
export function applyChanges(
  { manifest, databases, shards }: IndexedManifest,
  changes: readonly ManifestChange[],
): IndexedManifest {
  if (changes.length === 0) return new IndexedManifest(manifest);
  const presentDatabases = new Map(databases);
  const presentShards = new Map(shards);
  for (const change of changes) {
    for (const name of change.goneDatabases) presentDatabases.delete(name);
    for (const id of change.goneShards) presentShards.delete(id);
    for (const one of change.databases) presentDatabases.set(one.name, one);
    for (const one of change.shards) presentShards.set(one.descriptor.id, one);
  }
  const { goneDatabases: _databases, goneShards: _shards, ...rest } = changes.at(-1)!;
  return new IndexedManifest({
    ...rest,
    databases: [...presentDatabases.values()],
    shards: [...presentShards.values()],
  });
}

function isSameDatabase(a: ManifestDatabase | undefined, b: ManifestDatabase): boolean {
  return (
    a !== undefined &&
    a.instance === b.instance &&
    a.indexFile === b.indexFile &&
    a.index?.bytes === b.index?.bytes &&
    a.index?.measurements === b.index?.measurements &&
    a.index?.series === b.index?.series &&
    a.index?.checksum === b.index?.checksum
  );
}

function isSameShard(a: ManifestShard | undefined, b: ManifestShard): boolean {
  if (a === b) return true;
  return a !== undefined && JSON.stringify(shardToJson(a)) === JSON.stringify(shardToJson(b));
}
