// Reduces the contents of a backup to the wanted databases and shards.
import type { TimeRange } from '@tidemark/core';

import { shardOverlaps } from '../columns/overlaps.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { BackupContents } from './format.ts';

export type Selection = {
  /** All by default. */
  readonly databases?: readonly string[] | undefined;
  /** Shards that overlap the range are taken as a whole. */
  readonly timeRange?: TimeRange | undefined;
};

export function selectFromManifest(manifest: Manifest, selection: Selection): Manifest {
  const { databases, timeRange } = selection;
  const wanted = databases === undefined ? undefined : new Set(databases);
  const isWanted = (name: string): boolean => wanted === undefined || wanted.has(name);
  return {
    ...manifest,
    databases: manifest.databases.filter(({ name }) => isWanted(name)),
    shards: manifest.shards.filter(({ descriptor: d }) => {
      if (!isWanted(d.database)) return false;
      return timeRange === undefined || shardOverlaps(d, timeRange);
    }),
  };
}

export function selectFromContents(contents: BackupContents, selection: Selection): BackupContents {
  const manifest = selectFromManifest(contents.manifest, selection);
  const shards = new Set(manifest.shards.map(({ descriptor }) => descriptor.id));
  const all = contents.manifest.shards.flatMap(({ descriptor, segments }) =>
    segments.map(() => descriptor.id),
  );
  const segments = contents.segments.filter((_name, i) => shards.has(all[i] ?? -1));
  const kept = new Set(segments);
  const includes = contents.includes.filter((name) => kept.has(name));
  return { ...contents, manifest, segments, includes };
}
