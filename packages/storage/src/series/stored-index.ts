// A series index with its files: how much of it is in the index log, and how much of that in a
// checkpoint.
import type { Disk } from '../disk/disk.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { IndexEnd } from './index-damage.ts';
import type { FramedEnd } from '../disk/framed-file.ts';
import type { SeriesIndex } from './series-index.ts';
import type { IndexAdditions } from './index-additions.ts';

/**
 * A checkpoint at the end must save a few milliseconds: opening builds a million series per second.
 */
const CLOSING_SERIES_MIN = 2_000;
/**
 * While the engine runs, a checkpoint is due after half as many new series as the last one held. So
 * all checkpoints together cost as much as writing the index three times.
 */
const RUNNING_SERIES_MIN = 50_000;

/**
 * Series encoded at once. A million would take 100 MiB in linear memory and as much outside; and
 * compressing a portion for a backup takes some milliseconds.
 */
const PORTION_SERIES = 1 << 13;
/** Keys encoded at once: those of 8,192 series with tags of 32 kB are 256 MiB. */
const PORTION_KEY_BYTES = 4 << 20;

/** Numbers of measurements and series. */
export type EntryCounts = { readonly measurements: number; readonly series: number };
/** The entries that are in the index log, and their bytes. */
export type PersistedEnd = EntryCounts & FramedEnd;

export class StoredIndex {
  #index: SeriesIndex | undefined;
  readonly #make: () => SeriesIndex;
  /** Id of the index files. */
  readonly fileId: number;
  #damagedEnd: { readonly known: IndexEnd | undefined } | undefined;
  #persisted: PersistedEnd = { measurements: 0, series: 0, logBytes: 0, checksum: 0 };
  /** Series with smaller ids are in the checkpoint. */
  #checkpointSeries = 0;

  readonly #checkpointSeriesMin: number | undefined;

  /**
   * `index` may be a function that reads it when somebody first needs it; `persisted` says then
   * what its files hold. `checkpointSeriesMin` replaces the series that a checkpoint usually waits
   * for.
   */
  constructor(
    index: SeriesIndex | (() => SeriesIndex),
    fileId: number,
    checkpointSeriesMin?: number,
  ) {
    if (typeof index !== 'function') this.#index = index;
    this.#make = typeof index === 'function' ? index : () => index;
    this.fileId = fileId;
    this.#checkpointSeriesMin = checkpointSeriesMin;
  }

  /** Read now if nobody has needed it before. Throws what reading throws. */
  get index(): SeriesIndex {
    return this.read();
  }

  /** Reads the index unless it is in memory. */
  read(): SeriesIndex {
    return (this.#index ??= this.#make());
  }

  /** Whether the index is in memory. One that is not is as its files are. */
  get isRead(): boolean {
    return this.#index !== undefined;
  }

  /** The numbers of entries that the index has now. */
  get end(): EntryCounts {
    return this.#index === undefined ? this.#persisted : endOf(this.#index);
  }

  /** Marks everything in the index as read from the index files. */
  markPersisted(end: FramedEnd): void {
    this.#persisted = { ...endOf(this.index), ...end };
  }

  /** The entries and bytes of the index log. */
  get persistedEnd(): PersistedEnd {
    return this.#persisted;
  }

  /** What the manifest records about the index log; `undefined` for older logs. */
  get manifestEnd(): IndexEnd | undefined {
    if (this.#damagedEnd !== undefined) return this.#damagedEnd.known;
    const { logBytes: bytes, measurements, series, checksum } = this.#persisted;
    return { bytes, measurements, series, checksum };
  }

  /**
   * The index log has lost entries. The file, and what the manifest records about it, stay as they
   * are.
   */
  leaveDamaged(known: IndexEnd | undefined): void {
    this.#damagedEnd = { known };
  }

  /**
   * Entries that are not in the index log yet, in portions, and the numbers that it will hold;
   * `undefined` when there are none.
   */
  unpersisted():
    | { readonly portions: Iterable<IndexAdditions>; readonly end: EntryCounts }
    | undefined {
    if (this.#damagedEnd !== undefined || !this.isRead) return undefined;
    const end = endOf(this.index);
    const first = this.#persisted;
    if (first.measurements === end.measurements && first.series === end.series) return undefined;
    return { portions: portionsOf(this.index, first, end), end };
  }

  /** Marks entries as written to the index log. */
  persisted(persisted: PersistedEnd): void {
    this.#persisted = persisted;
  }

  /**
   * Whether opening would take so much longer without a new checkpoint that one should be written.
   */
  needsCheckpoint(options: { readonly isClosing: boolean }): boolean {
    if (this.#damagedEnd !== undefined) return false;
    const uncovered = this.#persisted.series - this.#checkpointSeries;
    const least = this.#checkpointSeriesMin;
    if (options.isClosing) return uncovered > (least ?? CLOSING_SERIES_MIN);
    return uncovered > Math.max(least ?? RUNNING_SERIES_MIN, this.#checkpointSeries / 2);
  }

  /**
   * Writes a checkpoint of what the index log holds now. Entries may be added to the log meanwhile.
   */
  async writeCheckpoint(options: Parameters<typeof writeCheckpoint>[2]): Promise<void> {
    const range = this.#persisted;
    await writeCheckpoint(this.index, range, options);
    this.#checkpointSeries = range.series;
  }

  /** Reads a checkpoint into an empty index. Returns how many bytes of the index log it covers. */
  readCheckpoint(options: { readonly disk: Disk; readonly path: string }): number {
    const range = readCheckpoint(this.index, options);
    this.#checkpointSeries = range?.series ?? 0;
    return range?.logBytes ?? 0;
  }
}

/** The entries of an index below the given numbers, in portions. */
export function additionsUntil(index: SeriesIndex, end: EntryCounts): Generator<IndexAdditions> {
  return portionsOf(index, { measurements: 0, series: 0 }, end);
}

/** The numbers of entries that an index has now. */
export function endOf(index: SeriesIndex): EntryCounts {
  return { measurements: index.measurements.length, series: index.seriesEnd };
}

/** The first portion has all measurements, because any series may refer to them. */
function* portionsOf(
  index: SeriesIndex,
  first: EntryCounts,
  end: EntryCounts,
): Generator<IndexAdditions> {
  const all = index.measurements.slice(first.measurements, end.measurements);
  let measurements = all.map(({ name }) => name);
  let firstMeasurementId = first.measurements;
  let from = first.series;
  do {
    const to = portionEnd(index, { from, end: Math.min(end.series, from + PORTION_SERIES) });
    const series = index.encodedSeries(from, to);
    yield { firstMeasurementId, measurements, firstSeriesId: from, series };
    firstMeasurementId += measurements.length;
    measurements = [];
    from = to;
  } while (from < end.series);
}

/**
 * The end of a portion of ids that begins at `from`: it has at least one, and of long keys not
 * much more than `PORTION_KEY_BYTES`. `idAt` is the id at a position if positions are not ids.
 */
export function portionEnd(
  { keys }: SeriesIndex,
  { from, end, idAt = (at) => at }: { from: number; end: number; idAt?: (at: number) => SeriesId },
): number {
  let to = from;
  for (let bytes = 0; to < end && bytes < PORTION_KEY_BYTES; to++) {
    bytes += keys.keyLength(idAt(to));
  }
  return to;
}
