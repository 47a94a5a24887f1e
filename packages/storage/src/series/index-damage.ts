// Checks whether the log of a series index has all the entries that it should have.
import type { FramedEnd } from '../disk/framed-file.ts';

/** Entries that are known to be durable; a file with fewer is damaged. */
export type IndexEnd = {
  readonly bytes: number;
  readonly measurements: number;
  readonly series: number;
  /** CRC-32C of the bytes; absent for files from before it was recorded. */
  readonly checksum?: number | undefined;
};

/** The contents found in an index log: its good bytes and the numbers of its entries. */
export type FoundIndex = FramedEnd & { readonly measurements: number; readonly series: number };

/** The damage; `undefined` when nothing is missing. */
export function indexDamage(
  found: FoundIndex,
  expected: {
    /** From the manifest; `undefined` in manifests from before they recorded it. */
    readonly known: IndexEnd | undefined;
    /** Bytes that were not read because a checkpoint held their entries. */
    readonly covered: number;
    /** Offsets of damaged records. */
    readonly damagedAt: readonly number[];
  },
): string | undefined {
  const { known, covered, damagedAt } = expected;
  if (damagedAt.length > 0) return 'a record of the series index is damaged';
  const bytes = Math.max(known?.bytes ?? 0, covered);
  if (found.logBytes < bytes) {
    return `the series index has ${found.logBytes} readable bytes instead of ${bytes}`;
  }
  if (known === undefined) return undefined;
  const hasAll = found.series >= known.series && found.measurements >= known.measurements;
  const isSame =
    found.logBytes !== known.bytes ||
    found.checksum === undefined ||
    known.checksum === undefined ||
    found.checksum === known.checksum;
  return hasAll && isSame ? undefined : 'the series index is not the one that was written';
}
