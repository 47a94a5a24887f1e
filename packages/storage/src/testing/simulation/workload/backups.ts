// Backups of a simulation: the possible contents of each, and the policies and contents of its
// restore.
import type { Cell, Effect } from '../model/world.ts';
import { describeRows } from '../words.ts';
import type { Catalog } from './catalog.ts';
import { RESTORED } from './operations.ts';

/** The database that is backed up. */
export const BACKED_UP = 'a';

/** A backup: its possible contents, and its bytes. */
export type Backup = {
  /** The visible contents at the moments between its start and its first bytes. */
  readonly moments: ReadonlyMap<string, number>[];
  /** The engine was closed before its first bytes came. */
  isUnknown: boolean;
  readonly pieces: Uint8Array[];
};

/** Policies of the restored database by those of the backup. They get their names here. */
export function restoredPolicies(catalog: Catalog): ReadonlyMap<number, number> {
  const policies = new Map<number, number>();
  // Those that had the same name one after the other become one.
  for (const [old, retentionPolicy] of catalog.everPolicies(BACKED_UP)) {
    const id = catalog.known(RESTORED, retentionPolicy);
    policies.set(old, id ?? catalog.add(RESTORED, retentionPolicy));
  }
  return policies;
}

/** The possible effects of a restore: the contents of one of the moments. */
export function restoredContents({ moments }: Backup, catalog: Catalog): Effect {
  const distinct = new Map<string, ReadonlyMap<string, number>>();
  for (const seen of moments) {
    const rows = rowsOf(seen, BACKED_UP);
    distinct.set(describeRows(rows), rows);
  }
  const restored = ([name, value]: readonly [string, number]): readonly [Cell, number] => [
    catalog.cellNamed(`${RESTORED}${name.slice(BACKED_UP.length)}`),
    value,
  ];
  return {
    kind: 'one-of',
    contents: [...distinct.values()].map((rows) => [...rows].map(restored)),
  };
}

function rowsOf(seen: ReadonlyMap<string, number>, database: string): Map<string, number> {
  return new Map([...seen].filter(([name]) => name.startsWith(`${database}.`)));
}
