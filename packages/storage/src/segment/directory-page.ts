// A directory page in memory: its bytes as in the file, and the positions of every eighth entry. So
// the entry of a series is found by decoding only a few others, and a page takes a twentieth of the
// memory that its entries would take as objects.
import { ByteReader, DecodeError } from '../columns/bytes.ts';
import { firstNotBelow } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { readChunks, skipChunks } from './format.ts';
import type { ChunkMeta, PageMeta, SegmentField } from './format.ts';

type Chunks = readonly ChunkMeta[];

/**
 * The position of every eighth entry is stored; skipping the entries between takes half a
 * microsecond at most.
 */
const ENTRIES_PER_MARK = 8;
const MARK_BYTES = 16;
/**
 * Shorter entries (a chunk of a row or two) are not cached decoded: decoding them again is cheap.
 */
const KEPT_ENTRY_BYTES = 64;

// Memory of decoded entries in V8's heap, roughly: objects, their arrays, and a bigint or boxed
// number per value.
const SERIES_BYTES = 130;
const CHUNK_BYTES = 210;
const COLUMN_BYTES = 72;
const STATISTICS_BYTES = 250;

/** Entries of consecutive series. Methods throw `DecodeError` when the bytes are not a page. */
export class DirectoryPage {
  readonly #bytes: Uint8Array;
  readonly #fields: readonly SegmentField[];
  /**
   * For every eighth entry: its series, where it begins in the page, where its first chunk begins
   * in the file.
   */
  readonly #series: number[] = [];
  readonly #positions: number[] = [];
  readonly #offsets: number[] = [];
  readonly #kept = new Map<SeriesId, Chunks>();
  #sizeBytes: number;

  /** Takes ownership of the bytes, and reads them once to find the positions. */
  constructor(bytes: Uint8Array, { firstSeries }: PageMeta, fields: readonly SegmentField[]) {
    this.#bytes = bytes;
    this.#fields = fields;
    const reader = new ByteReader(bytes);
    const cursor = { offset: reader.varint() };
    let series = firstSeries;
    for (let n = 0; reader.remaining > 0; n++) {
      const { position } = reader;
      const before = series;
      series += reader.varint();
      if (series === before && n > 0) throw new DecodeError('series of a page do not ascend');
      if (n % ENTRIES_PER_MARK === 0) {
        this.#series.push(series);
        this.#positions.push(position);
        this.#offsets.push(cursor.offset);
      }
      skipChunks(reader, cursor, fields);
    }
    this.#sizeBytes = bytes.length + this.#series.length * MARK_BYTES;
  }

  /** Grows when decoded entries are cached. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Chunks of a series, ascending and not overlapping; `undefined` when it has no entry here. */
  chunks(series: SeriesId): Chunks | undefined {
    const kept = this.#kept.get(series);
    if (kept !== undefined) return kept;
    const mark = this.#markBefore(series);
    if (mark < 0) return undefined;
    const reader = new ByteReader(this.#bytes, this.#positions[mark]);
    const cursor = { offset: this.#offsets[mark]! };
    // The delta of the marked entry counts from the one before it.
    reader.varint();
    for (let at = this.#series[mark]!; at <= series; at += reader.varint()) {
      if (at === series) return this.#decode(series, reader, cursor);
      skipChunks(reader, cursor, this.#fields);
      if (reader.remaining === 0) return undefined;
    }
    return undefined;
  }

  /** All entries, ascending; decoded one at a time and not cached. */
  *entries(): Generator<readonly [SeriesId, Chunks]> {
    const reader = new ByteReader(this.#bytes, this.#positions[0]);
    const cursor = { offset: this.#offsets[0] ?? 0 };
    let series = this.#series[0] ?? 0;
    for (let n = 0; this.#series.length > 0 && reader.remaining > 0; n++) {
      const delta = reader.varint();
      if (n > 0) series += delta;
      yield [series, readChunks(reader, cursor, this.#fields)];
    }
  }

  #decode(series: SeriesId, reader: ByteReader, cursor: { offset: number }): Chunks {
    const begin = reader.position;
    const chunks = readChunks(reader, cursor, this.#fields);
    if (reader.position - begin >= KEPT_ENTRY_BYTES) {
      this.#kept.set(series, chunks);
      this.#sizeBytes += decodedBytes(chunks);
    }
    return chunks;
  }

  /** The last mark whose series is not above `series`, -1 when there is none. */
  #markBefore(series: SeriesId): number {
    return firstNotBelow(this.#series, series + 1) - 1;
  }
}

function decodedBytes(chunks: Chunks): number {
  let bytes = SERIES_BYTES;
  for (const { columns } of chunks) {
    bytes += CHUNK_BYTES + columns.length * COLUMN_BYTES;
    for (const { statistics } of columns) if (statistics !== undefined) bytes += STATISTICS_BYTES;
  }
  return bytes;
}
