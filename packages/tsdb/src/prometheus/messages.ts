// Messages of Prometheus' remote protocol, read and written field by field
// (prometheus/prompb/remote.proto, types.proto).
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { InvalidRequest } from '@tidemark/core';

export type Label = { readonly name: string; readonly value: string };
export type Sample = { readonly value: number; readonly timestampMs: bigint };
export type RemoteSeries = {
  readonly labels: readonly Label[];
  readonly samples: readonly Sample[];
};

/**
 * A series as encoded in messages: its labels (`LabelEncoder`), its samples (`sampleFields`), in
 * parts.
 */
export type EncodedSeries = {
  readonly labels: Uint8Array;
  readonly samples: readonly Uint8Array[];
};

type MatcherKind = '=' | '!=' | '=~' | '!~';
export type Matcher = { readonly kind: MatcherKind; readonly name: string; readonly value: string };
export type RemoteQuery = {
  readonly startMs: bigint;
  readonly endMs: bigint;
  readonly matchers: readonly Matcher[];
};

const MATCHER_KINDS: readonly MatcherKind[] = ['=', '!=', '=~', '!~'];

/** Reads a WriteRequest lazily. A series of more samples than `maxSamples` is split. */
export function* readWriteRequest(
  bytes: Uint8Array,
  maxSamples = Number.POSITIVE_INFINITY,
): Generator<RemoteSeries, void, undefined> {
  for (const series of messagesIn(bytes, 1)) {
    const labels = Array.from(messagesIn(series, 1), readLabel);
    let samples: Sample[] = [];
    for (const sample of messagesIn(series, 2)) {
      if (samples.length === maxSamples) {
        yield { labels, samples };
        samples = [];
      }
      samples.push(readSample(sample));
    }
    yield { labels, samples };
  }
}

/** Throws `InvalidRequest` if the bytes are no WriteRequest. */
export function checkWriteRequest(bytes: Uint8Array): void {
  for (const series of messagesIn(bytes, 1)) {
    for (const label of messagesIn(series, 1)) readLabel(label);
    for (const sample of messagesIn(series, 2)) readSample(sample);
  }
}

/** Reads a ReadRequest. */
export function readReadRequest(bytes: Uint8Array): readonly RemoteQuery[] {
  return Array.from(messagesIn(bytes, 1), readQuery);
}

/** Length of a message including its tag and length. */
const withHeader = (length: number): number => 1 + varintLength(length) + length;

const MESSAGE_TAG = (1 << 3) | WireType.LengthDelimited;

/**
 * A ReadResponse in parts: one result per query. It may be as large as everything a query holds, so
 * no other copy of it is made, and each part is freed when the next one is taken: the collector
 * would leave hundreds of megabytes of them behind until later.
 */
export function readResponse(results: readonly (readonly EncodedSeries[])[]): {
  readonly length: number;
  readonly parts: Iterable<Uint8Array>;
} {
  const seriesLength = ({ labels, samples }: EncodedSeries): number =>
    samples.reduce((sum, { length }) => sum + length, labels.length);
  const lengths = results.map((result) =>
    result.reduce((sum, series) => sum + withHeader(seriesLength(series)), 0),
  );
  const partsOf = function* (): Generator<Uint8Array> {
    let block: ArrayBufferLike | undefined;
    for (const [number, result] of results.entries()) {
      yield header(lengths[number]!);
      for (const { labels, samples } of result) {
        yield header(seriesLength({ labels, samples }));
        // Labels of several series are in one block.
        if (labels.buffer !== block) free(block);
        block = labels.buffer;
        yield labels;
        for (const part of samples) {
          yield part;
          free(part.buffer);
        }
      }
    }
    free(block);
  };
  const length = lengths.reduce((sum, each) => sum + withHeader(each), 0);
  return { length, parts: partsOf() };
}

function free(buffer: ArrayBufferLike | undefined): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Tag and length of a message. */
function header(length: number): Uint8Array {
  const bytes = new Uint8Array(1 + varintLength(length));
  putHeader(bytes, 0, { tag: MESSAGE_TAG, length });
  return bytes;
}

/** Writes a tag and a length. Returns their end. */
function putHeader(
  bytes: Uint8Array,
  start: number,
  { tag, length }: { readonly tag: number; readonly length: number },
): number {
  bytes[start] = tag;
  return putInt64(bytes, start + 1, length);
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) length++;
  return length;
}

const LABEL_BLOCK_BYTES = 1 << 20;
const LABEL_NAME_TAG = (1 << 3) | WireType.LengthDelimited;
const LABEL_VALUE_TAG = (2 << 3) | WireType.LengthDelimited;

/**
 * Encodes labels of many series into large blocks, which go back to the system when they are freed:
 * of as many small ones the allocator would keep hundreds of megabytes.
 */
export class LabelEncoder {
  #block = Buffer.alloc(0);
  #used = 0;

  /** The labels of a series as fields of its message. */
  fields(labels: readonly Label[]): Uint8Array {
    const length = labels.reduce((sum, label) => sum + withHeader(labelLength(label)), 0);
    if (this.#used + length > this.#block.length) {
      const sizeBytes = Math.min(LABEL_BLOCK_BYTES, this.#block.length * 2);
      this.#block = Buffer.allocUnsafeSlow(Math.max(sizeBytes, length));
      this.#used = 0;
    }
    const start = this.#used;
    for (const label of labels) {
      this.#put(MESSAGE_TAG, labelLength(label));
      this.#putText(LABEL_NAME_TAG, label.name);
      this.#putText(LABEL_VALUE_TAG, label.value);
    }
    return this.#block.subarray(start, this.#used);
  }

  #put(tag: number, length: number): void {
    this.#used = putHeader(this.#block, this.#used, { tag, length });
  }

  #putText(tag: number, text: string): void {
    this.#put(tag, Buffer.byteLength(text));
    this.#used += this.#block.write(text, this.#used);
  }
}

function labelLength({ name, value }: Label): number {
  return withHeader(Buffer.byteLength(name)) + withHeader(Buffer.byteLength(value));
}

/** Tag and length of a sample, its value, its time with ten digits of seven bits. */
const SAMPLE_BYTES_MAX = 2 + 9 + 11;
const SAMPLE_TAG = (2 << 3) | WireType.LengthDelimited;
const VALUE_TAG = (1 << 3) | WireType.Bit64;
const TIMESTAMP_TAG = (2 << 3) | WireType.Varint;

/**
 * The samples of a series as fields of its message. An answer has hundreds of thousands: encoding a
 * sample allocates nothing else.
 */
export function sampleFields(times: BigInt64Array, { values, valid }: SampleColumn): Uint8Array {
  const bytes = new Uint8Array(times.length * SAMPLE_BYTES_MAX);
  const view = new DataView(bytes.buffer);
  const words = new Uint32Array(times.buffer, times.byteOffset, times.length * 2);
  let at = 0;
  for (let i = 0; i < times.length; i++) {
    if (valid !== undefined && valid[i] !== 1) continue;
    const start = at;
    bytes[at] = SAMPLE_TAG;
    bytes[at + 2] = VALUE_TAG;
    view.setFloat64(at + 3, values[i]!, true);
    bytes[at + 11] = TIMESTAMP_TAG;
    at = putInt64(bytes, at + 12, millisOf(words[2 * i]!, words[2 * i + 1]! | 0));
    bytes[start + 1] = at - start - 2;
  }
  return bytes.subarray(0, at);
}

type SampleColumn = {
  readonly values: Float64Array;
  readonly valid: Uint8Array | undefined;
};

/** Whole milliseconds from nanoseconds in two words; exact, because no product reaches 2^53. */
function millisOf(low: number, high: number): number {
  // 2^32 is 4294 million and 967296.
  return high * 4294 + Math.floor((high * 967_296 + low) / 1_000_000);
}

/** Writes a varint of 64 bits, negative numbers as their two's complement. Returns its end. */
function putInt64(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let high = Math.floor(value / 2 ** 32) >>> 0;
  let low = value >>> 0;
  while (high !== 0 || low > 0x7f) {
    bytes[at++] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
  }
  bytes[at++] = low;
  return at;
}

/** Writes a WriteRequest; tests and forwarding need it. */
export function writeWriteRequest(all: readonly RemoteSeries[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const series of all) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writeSeries(writer, series);
    writer.join();
  }
  return writer.finish();
}

/** Writes a ReadRequest; tests need it. */
export function writeReadRequest(queries: readonly RemoteQuery[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const query of queries) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Varint).int64(query.startMs);
    writer.tag(2, WireType.Varint).int64(query.endMs);
    for (const { kind, name, value } of query.matchers) {
      writer.tag(3, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.Varint).int32(MATCHER_KINDS.indexOf(kind));
      writer.tag(2, WireType.LengthDelimited).string(name);
      writer.tag(3, WireType.LengthDelimited).string(value);
      writer.join();
    }
    writer.join();
  }
  return writer.finish();
}

function writeLabels(writer: BinaryWriter, labels: readonly Label[]): void {
  for (const { name, value } of labels) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(name);
    writer.tag(2, WireType.LengthDelimited).string(value);
    writer.join();
  }
}

function writeSeries(writer: BinaryWriter, { labels, samples }: RemoteSeries): void {
  writeLabels(writer, labels);
  for (const { value, timestampMs } of samples) {
    writer.tag(2, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Bit64).double(value);
    writer.tag(2, WireType.Varint).int64(timestampMs);
    writer.join();
  }
}

/** Calls `onField` for every field; unknown ones (`false`) are skipped. */
function readMessage(
  bytes: Uint8Array,
  onField: (field: number, reader: BinaryReader) => boolean,
): void {
  understood(() => {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (!onField(field, reader)) reader.skip(wireType, field);
    }
  });
}

/** The messages in one of a message's fields. */
function* messagesIn(bytes: Uint8Array, wanted: number): Generator<Uint8Array, void, undefined> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const found = understood(() => {
      const [field, wireType] = reader.tag();
      if (field === wanted) return reader.bytes();
      reader.skip(wireType, field);
      return undefined;
    });
    if (found !== undefined) yield found;
  }
}

/** Throws `InvalidRequest` if the bytes are no message. */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidRequest) throw error;
    throw new InvalidRequest('the body is not the expected protobuf message', { cause: error });
  }
}

function readLabel(bytes: Uint8Array): Label {
  let name = '';
  let value = '';
  readMessage(bytes, (field, reader) => {
    if (field === 1) name = reader.string();
    else if (field === 2) value = reader.string();
    else return false;
    return true;
  });
  return { name, value };
}

function readSample(bytes: Uint8Array): Sample {
  let value = 0;
  let timestampMs = 0n;
  readMessage(bytes, (field, reader) => {
    if (field === 1) value = reader.double();
    else if (field === 2) timestampMs = BigInt(reader.int64());
    else return false;
    return true;
  });
  return { value, timestampMs };
}

function readQuery(bytes: Uint8Array): RemoteQuery {
  let startMs = 0n;
  let endMs = 0n;
  const matchers: Matcher[] = [];
  readMessage(bytes, (field, reader) => {
    if (field === 1) startMs = BigInt(reader.int64());
    else if (field === 2) endMs = BigInt(reader.int64());
    else if (field === 3) matchers.push(readMatcher(reader.bytes()));
    else return false;
    return true;
  });
  return { startMs, endMs, matchers };
}

function readMatcher(bytes: Uint8Array): Matcher {
  let kind: MatcherKind | undefined = '=';
  let name = '';
  let value = '';
  readMessage(bytes, (field, reader) => {
    if (field === 1) kind = MATCHER_KINDS[reader.int32()];
    else if (field === 2) name = reader.string();
    else if (field === 3) value = reader.string();
    else return false;
    return true;
  });
  if (kind === undefined) throw new InvalidRequest('a matcher has an unknown type');
  return { kind, name, value };
}
