// SERIES: the keys of all series in a shard's segments, stored beside them. When the series index
// is damaged, they still tell whose rows the shard holds. Only `verify` and `repair` read the file.
// Format: docs/formats/shard.md.
import { ByteReader, ByteWriter, DecodeError } from '../columns/bytes.ts';
import type { Disk } from '../disk/disk.ts';
import { shardDirectory } from '../disk/paths.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { sizeOf } from '../disk/read-file.ts';
import { scanFrames } from '../disk/frames.ts';

const SERIES_FILE_NAME = 'SERIES';

/** Bytes reserved per entry: enough for a key of usual length. */
const ENTRY_BYTES = 64;

/** Series of one measurement; ids are ascending. */
export type SeriesKeys = {
  readonly measurementId: number;
  readonly name: string;
  readonly ids: ArrayLike<SeriesId>;
  /** The canonical key of each series, without the measurement. */
  readonly tags: readonly Uint8Array[];
};

export function seriesFilePath(directory: string, shardId: number): string {
  return `${shardDirectory(directory, shardId)}/${SERIES_FILE_NAME}`;
}

/**
 * Encodes keys of series, whose ids are ascending, as one record. Series for which `tagsOf` returns
 * `undefined` are left out.
 */
export function encodeSeriesKeys({
  measurementId,
  name,
  ids,
  tagsOf,
}: Pick<SeriesKeys, 'measurementId' | 'name' | 'ids'> & {
  /** The result may be a view that is valid until the next call. */
  readonly tagsOf: (id: SeriesId) => Uint8Array | undefined;
}): Uint8Array {
  const entries = new ByteWriter(ids.length * ENTRY_BYTES);
  let count = 0;
  let previous = 0;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    const tags = tagsOf(id);
    if (tags === undefined) continue;
    entries.varint(id - previous);
    entries.block(tags);
    previous = id;
    count++;
  }
  const out = new ByteWriter(entries.length + ENTRY_BYTES);
  out.varint(measurementId);
  out.text(name);
  out.varint(count);
  out.raw(entries.finish());
  return out.finish();
}

function decodeSeriesKeys(payload: Uint8Array): SeriesKeys {
  const reader = new ByteReader(payload);
  const measurementId = reader.varint();
  const name = reader.text();
  const ids: SeriesId[] = [];
  const tags: Uint8Array[] = [];
  let id = 0;
  for (let n = reader.count(2); n > 0; n--) {
    id += reader.varint();
    ids.push(id);
    tags.push(reader.block());
  }
  return { measurementId, name, ids, tags };
}

export type SeriesFileContents = {
  readonly keys: readonly SeriesKeys[];
  /** What is wrong with the file; `undefined` when it is as the manifest describes it. */
  readonly fault: { readonly message: string; readonly offset: number } | undefined;
  readonly fileBytes: number;
  readonly records: number;
};

/** Reads the file of a shard as far as possible. `knownBytes` is its length by the manifest. */
export function readSeriesFile(disk: Disk, path: string, knownBytes: number): SeriesFileContents {
  const fileBytes = sizeOf(disk, path);
  if (fileBytes === 0) {
    const fault = { message: `keys of the shard's series are missing`, offset: 0 };
    return { keys: [], fault: knownBytes === 0 ? undefined : fault, fileBytes, records: 0 };
  }
  const file = disk.open(path, 'read');
  try {
    const { payloads, damaged: ranges, goodBytes } = scanFrames(file, { to: knownBytes });
    const keys: SeriesKeys[] = [];
    const damaged = ranges.map(({ offset }) => offset);
    for (const payload of payloads) {
      try {
        keys.push(decodeSeriesKeys(payload));
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        damaged.push(payload.byteOffset);
      }
    }
    const [offset] = damaged;
    const fault =
      offset !== undefined
        ? { message: `keys of the shard's series are damaged`, offset }
        : goodBytes < knownBytes
          ? { message: `keys of the shard's series are cut off`, offset: goodBytes }
          : undefined;
    return { keys, fault, fileBytes, records: payloads.length };
  } finally {
    file.close();
  }
}
