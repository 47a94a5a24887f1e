// Whether the log of a series index has what it should have.
import type { FramedEnd } from '../disk/framed-file.ts';

/** Durable entries of a series index: less than these in its file is damage. */
export type IndexEnd = {
  readonly bytes: number;
  readonly measurements: number;
  readonly series: number;
  /** CRC-32C of the bytes; absent when the file is from before it was counted. */
  readonly checksum?: number | undefined;
};

/** What an index log was found to hold: its good bytes and the numbers of its entries. */
export type FoundIndex = FramedEnd & { readonly measurements: number; readonly series: number };

/** What is wrong with it; `undefined` when it has everything that it should have. */
export function indexDamage(
  found: FoundIndex,
  expected: {
    /** What the manifest says; `undefined` in manifests from before it did. */
    readonly known: IndexEnd | undefined;
    /** Bytes whose entries came from a checkpoint. */
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
