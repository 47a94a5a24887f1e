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

type MatcherKind = '=' | '!=' | '=~' | '!~';
export type Matcher = { readonly kind: MatcherKind; readonly name: string; readonly value: string };
export type RemoteQuery = {
  readonly startMs: bigint;
  readonly endMs: bigint;
  readonly matchers: readonly Matcher[];
};

const MATCHER_KINDS: readonly MatcherKind[] = ['=', '!=', '=~', '!~'];

/**
 * Reads a WriteRequest as far as it is asked for. A series of more samples than `maxSamples` comes
 * as several.
 */
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

/** Throws `InvalidRequest` where bytes are no WriteRequest. */
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

/** Writes a ReadResponse: one result per query. */
export function writeReadResponse(results: readonly (readonly RemoteSeries[])[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const result of results) {
    writer.tag(1, WireType.LengthDelimited).fork();
    for (const series of result) {
      writer.tag(1, WireType.LengthDelimited).fork();
      writeSeries(writer, series);
      writer.join();
    }
    writer.join();
  }
  return writer.finish();
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

function writeSeries(writer: BinaryWriter, { labels, samples }: RemoteSeries): void {
  for (const { name, value } of labels) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(name);
    writer.tag(2, WireType.LengthDelimited).string(value);
    writer.join();
  }
  for (const { value, timestampMs } of samples) {
    writer.tag(2, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Bit64).double(value);
    writer.tag(2, WireType.Varint).int64(timestampMs);
    writer.join();
  }
}

/** Calls `onField` for every field; what it does not know (`false`) is skipped. */
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

/** The messages that a message has in one of its fields. */
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

/** Throws `InvalidRequest` where bytes are no message. */
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
