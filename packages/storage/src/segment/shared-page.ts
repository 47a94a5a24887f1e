// A directory page for series that share one chunk: their ids, and which rows belong to each. It is
// for series with few rows, for which a chunk, an entry and an object of their own would cost more
// than their contents. Format: docs/formats/segment.md.
import { ByteReader, ByteWriter, DecodeError } from '../columns/bytes.ts';
import { codecs, decoding } from '../columns/codecs.ts';
import { firstNotBelow } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { readChunkMeta, writeChunkMeta } from './format.ts';
import type { ChunkMeta, SegmentField } from './format.ts';
import type { ChunkRows } from './segment.ts';

/**
 * A shared chunk takes no further series once it has this many rows: reading one series decodes
 * them all.
 */
export const SHARED_CHUNK_ROWS = 1024;
/** Fewer series than these have chunks of their own. */
export const SHARED_SERIES_MIN = 8;

export class SharedPage {
  /** Ascending. */
  readonly series: Uint32Array;
  /** Where the rows of each series end in the chunk. */
  readonly ends: Uint32Array;
  readonly chunk: ChunkMeta;

  constructor(parts: {
    readonly series: Uint32Array;
    readonly ends: Uint32Array;
    readonly chunk: ChunkMeta;
  }) {
    this.series = parts.series;
    this.ends = parts.ends;
    this.chunk = parts.chunk;
  }

  /** Throws `DecodeError` when the bytes are not such a page. */
  static decode(bytes: Uint8Array, fields: readonly SegmentField[]): SharedPage {
    const reader = new ByteReader(bytes);
    const cursor = { offset: reader.varint() };
    const series = decoding((c) => c.decodeIds(reader.block()));
    const ends = decoding((c) => c.decodeIds(reader.block()));
    const chunk = readChunkMeta(reader, cursor, fields);
    if (reader.remaining > 0) throw new DecodeError('bytes after a shared page');
    if (series.length === 0 || ends.length !== series.length || ends.at(-1) !== chunk.rows) {
      throw new DecodeError('series of a shared page do not fit its rows');
    }
    if (!ascends(series) || !ascends(ends)) {
      throw new DecodeError('series of a shared page do not ascend');
    }
    return new SharedPage({ series, ends, chunk });
  }

  get sizeBytes(): number {
    return PAGE_BYTES + this.series.byteLength + this.ends.byteLength;
  }

  /** The rows of the series [first, last]: one element, or none when none of them is here. */
  rowsWithin(first: SeriesId, last: SeriesId): readonly ChunkRows[] {
    const { series, ends, chunk } = this;
    const start = firstNotBelow(series, first);
    const end =
      last === first
        ? start + Number(series[start] === first)
        : firstNotBelow(series, last + 1, start);
    if (start === end) return NO_ROWS;
    const from = start === 0 ? 0 : ends[start - 1]!;
    const to = ends[end - 1]!;
    if (end - start === 1) return [{ chunk, from, to, ids: [series[start]!], ends: [to - from] }];
    const ownEnds = ends.subarray(start, end);
    return [
      {
        chunk,
        from,
        to,
        ids: series.subarray(start, end),
        ends: from === 0 ? ownEnds : ownEnds.map((each) => each - from),
      },
    ];
  }
}

const NO_ROWS: readonly ChunkRows[] = [];

/** Memory of a page beside its arrays, roughly. */
const PAGE_BYTES = 400;

/** The bytes that `SharedPage.decode` reads. */
export function encodeSharedPage(
  { series, ends, chunk }: Pick<SharedPage, 'series' | 'ends' | 'chunk'>,
  fields: readonly SegmentField[],
): Uint8Array {
  const out = new ByteWriter(1 << 10);
  out.varint(chunk.timeOffset);
  out.block(codecs().encodeIds(series, 'small'));
  out.block(codecs().encodeIds(ends, 'small'));
  writeChunkMeta(out, chunk, fields);
  return out.finish();
}

function ascends(numbers: Uint32Array): boolean {
  for (let i = 1; i < numbers.length; i++) if (numbers[i]! <= numbers[i - 1]!) return false;
  return true;
}
