// A series index and how much of it is in its files: the index log, and a checkpoint of it.
import type { Disk } from '../disk/disk.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import type { IndexEnd } from './index-damage.ts';
import type { FramedEnd } from '../disk/framed-file.ts';
import type { SeriesIndex } from './series-index.ts';
import type { IndexAdditions } from './index-additions.ts';

/** Opening builds about a million series per second: these are done in a few milliseconds. */
const CLOSING_SERIES_MIN = 2_000;
/**
 * Beyond half of what the last checkpoint held, so that all of them together cost as much as three
 * times the index.
 */
const RUNNING_SERIES_MIN = 50_000;

/**
 * Encoded at once: a million new series would take 100 MiB in linear memory and as much outside of
 * it. Deflating so many for a backup takes some milliseconds.
 */
const PORTION_SERIES = 1 << 13;

/** Numbers of entries of an index. */
type EntryCounts = { readonly measurements: number; readonly series: number };
/** Entries that are in the index log, and the bytes of it that hold them. */
type Persisted = EntryCounts & FramedEnd;

export class StoredIndex {
  readonly index: SeriesIndex;
  /** Number of its files. */
  readonly fileId: number;
  #damagedEnd: { readonly known: IndexEnd | undefined } | undefined;
  #persisted: Persisted = { measurements: 0, series: 0, logBytes: 0, checksum: 0 };
  /** Where the ids end that the checkpoint holds. */
  #checkpointSeries = 0;

  constructor(index: SeriesIndex, fileId: number) {
    this.index = index;
    this.fileId = fileId;
  }

  /** Everything that is in the index now came from the index files. */
  markPersisted(end: FramedEnd): void {
    this.#persisted = { ...endOf(this.index), ...end };
  }

  /** What is in the index log. */
  get persistedEnd(): Persisted {
    return this.#persisted;
  }

  /** What the manifest says of the index log. */
  get manifestEnd(): IndexEnd | undefined {
    if (this.#damagedEnd !== undefined) return this.#damagedEnd.known;
    const { logBytes: bytes, measurements, series, checksum } = this.#persisted;
    return { bytes, measurements, series, checksum };
  }

  /** The index log lacks entries: it stays as it is, and so does what the manifest says of it. */
  leaveDamaged(known: IndexEnd | undefined): void {
    this.#damagedEnd = { known };
  }

  /**
   * Entries that only the log files hold, in portions, and where they end; `undefined` when there
   * are none.
   */
  unpersisted():
    | { readonly portions: Iterable<IndexAdditions>; readonly end: EntryCounts }
    | undefined {
    const end = endOf(this.index);
    const first = this.#persisted;
    if (this.#damagedEnd !== undefined) return undefined;
    if (first.measurements === end.measurements && first.series === end.series) return undefined;
    return { portions: portionsOf(this.index, first, end), end };
  }

  /** Entries up to these numbers are in the index log now. */
  persisted(persisted: Persisted): void {
    this.#persisted = persisted;
  }

  /** Whether opening would have to build so many series that a new checkpoint pays. */
  needsCheckpoint(options: { readonly isClosing: boolean }): boolean {
    if (this.#damagedEnd !== undefined) return false;
    const uncovered = this.#persisted.series - this.#checkpointSeries;
    if (options.isClosing) return uncovered > CLOSING_SERIES_MIN;
    return uncovered > Math.max(RUNNING_SERIES_MIN, this.#checkpointSeries / 2);
  }

  /** Writes a checkpoint of what is in the index log now; the log may get more meanwhile. */
  async writeCheckpoint(options: Parameters<typeof writeCheckpoint>[2]): Promise<void> {
    const range = this.#persisted;
    await writeCheckpoint(this.index, range, options);
    this.#checkpointSeries = range.series;
  }

  /** Fills the empty index from a checkpoint; bytes of the index log that need not be read. */
  readCheckpoint(options: { readonly disk: Disk; readonly path: string }): number {
    const range = readCheckpoint(this.index, options);
    this.#checkpointSeries = range?.series ?? 0;
    return range?.logBytes ?? 0;
  }
}

/** All entries of an index, in portions. Later additions are left out. */
export function allAdditions(index: SeriesIndex): Generator<IndexAdditions> {
  return portionsOf(index, { measurements: 0, series: 0 }, endOf(index));
}

function endOf(index: SeriesIndex): EntryCounts {
  return { measurements: index.measurements.length, series: index.seriesEnd };
}

/** Measurements come with the first portion: series of all of them may refer to any. */
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
    const to = Math.min(end.series, from + PORTION_SERIES);
    const series = index.encodedSeries(from, to);
    yield { firstMeasurementId, measurements, firstSeriesId: from, series };
    firstMeasurementId += measurements.length;
    measurements = [];
    from = to;
  } while (from < end.series);
}
