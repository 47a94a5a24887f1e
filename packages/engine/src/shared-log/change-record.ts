// Encodes changes of the metadata as a record of the shared log: a line of JSON that names them,
// followed by their values (docs/formats/engine-cluster.md).
import { Corruption } from '@tidemark/core';
import type { StoreChange, StoreKey } from '../store/tables.ts';

/** Kinds of records in the log. */
export const RecordLabel = {
  /** A leader begins: no records of earlier leaders follow. */
  Term: 'term',
  Changes: 'changes',
  /** Begins the complete content of the tables; earlier records do not count any more. */
  Begin: 'begin',
  /** A piece of the complete content. */
  Part: 'part',
  End: 'end',
} as const;

type Named = readonly [table: string, key: StoreKey, sizeBytes: number];

const NEWLINE = 0x0a;
const REMOVED = -1;

export function encodeChanges(changes: readonly StoreChange[]): Uint8Array {
  const names = changes.map(({ table, key, value }): Named => [
    table,
    key,
    value === undefined ? REMOVED : value.length,
  ]);
  const values = changes.map(({ value }) => value).filter((value) => value !== undefined);
  return Buffer.concat([Buffer.from(`${JSON.stringify(names)}\n`), ...values]);
}

/** Throws `Corruption`. */
export function decodeChanges(bytes: Uint8Array): readonly StoreChange[] {
  const end = bytes.indexOf(NEWLINE);
  let at = end + 1;
  try {
    const names = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString('utf8')) as Named[];
    const changes = names.map(([table, key, sizeBytes]): StoreChange => {
      if (sizeBytes === REMOVED) return { table, key, value: undefined };
      const value = bytes.subarray(at, at + sizeBytes);
      at += sizeBytes;
      return { table, key, value };
    });
    if (at === bytes.length) return changes;
  } catch {
    // Reported below, like a record that is too short or too long.
  }
  throw new Corruption('record of the shared log cannot be read', { file: 'changes', offset: at });
}
