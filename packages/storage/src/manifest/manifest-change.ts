// A manifest by the names and ids of its parts, so that a commit costs what it changes; and the
// difference between two, as the journal records it. Format: docs/formats/manifest.md.
import { shardToJson } from './manifest.ts';
import type { Manifest, ManifestChange, ManifestDatabase, ManifestShard } from './manifest.ts';

/** A manifest to be written. */
export type NextManifest = Omit<Manifest, 'shards'> & {
  /** The shards that may have changed, by id; `undefined` for those that are gone. */
  readonly touched: ReadonlyMap<number, ManifestShard | undefined>;
};

/** An `IndexedManifest` that belongs to somebody else. */
export type ManifestParts = {
  readonly databases: ReadonlyMap<string, ManifestDatabase>;
  readonly shards: ReadonlyMap<number, ManifestShard>;
};

export class IndexedManifest implements ManifestParts {
  readonly databases: Map<string, ManifestDatabase>;
  readonly shards: Map<number, ManifestShard>;
  #rest: Omit<Manifest, 'databases' | 'shards'>;

  constructor({ databases, shards, ...rest }: Manifest) {
    this.databases = new Map(databases.map((one) => [one.name, one]));
    this.shards = new Map(shards.map((one) => [one.descriptor.id, one]));
    this.#rest = rest;
  }

  get manifest(): Manifest {
    const { databases, shards } = this;
    return { ...this.#rest, databases: [...databases.values()], shards: [...shards.values()] };
  }

  /** What leads from this manifest to the next one. */
  changeTo({ touched, databases, ...rest }: NextManifest): ManifestChange {
    const shards: ManifestShard[] = [];
    const goneShards: number[] = [];
    for (const [id, next] of touched) {
      const present = this.shards.get(id);
      if (next === undefined) {
        if (present !== undefined) goneShards.push(id);
      } else if (!isSameShard(present, next)) shards.push(next);
    }
    const names = new Set(databases.map(({ name }) => name));
    return {
      ...rest,
      databases: databases.filter((one) => !isSameDatabase(this.databases.get(one.name), one)),
      goneDatabases: [...this.databases.keys()].filter((name) => !names.has(name)),
      shards,
      goneShards,
    };
  }

  apply({ databases, goneDatabases, shards, goneShards, ...rest }: ManifestChange): void {
    for (const name of goneDatabases) this.databases.delete(name);
    for (const id of goneShards) this.shards.delete(id);
    for (const one of databases) this.databases.set(one.name, one);
    for (const one of shards) this.shards.set(one.descriptor.id, one);
    this.#rest = rest;
  }
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
