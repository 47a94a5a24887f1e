// The protocol of user-defined functions: requests out, responses in, protobuf with a varint length
// before each. Guide: docs/guide/user-functions.md.
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { UdfInfo, UdfValueType } from '@tidemark/pipeline';

export type UdfPoint = {
  readonly time: bigint;
  readonly name: string;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly group: string;
  readonly dimensions: readonly string[];
  readonly isByName: boolean;
  readonly tags: ReadonlyMap<string, string>;
  readonly fields: ReadonlyMap<string, number | bigint | string | boolean>;
};

export type UdfBegin = {
  readonly name: string;
  readonly group: string;
  readonly tags: ReadonlyMap<string, string>;
  readonly isByName: boolean;
  readonly sizeCount: number;
};

export type UdfEnd = Omit<UdfBegin, 'sizeCount'> & { readonly time: bigint };

export type UdfOptionValue =
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int' | 'duration'; readonly value: bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'string'; readonly value: string };

export type UdfRequest =
  | { readonly kind: 'info' }
  | {
      readonly kind: 'init';
      readonly options: readonly {
        readonly name: string;
        readonly values: readonly UdfOptionValue[];
      }[];
      readonly taskId: string;
      readonly nodeId: string;
    }
  | { readonly kind: 'keepalive'; readonly time: bigint }
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'restore'; readonly snapshot: Uint8Array }
  | { readonly kind: 'begin'; readonly begin: UdfBegin }
  | { readonly kind: 'point'; readonly point: UdfPoint }
  | { readonly kind: 'end'; readonly end: UdfEnd };

export type UdfResponse =
  | { readonly kind: 'info'; readonly info: UdfInfo }
  | { readonly kind: 'init' | 'restore'; readonly isSuccess: boolean; readonly error: string }
  | { readonly kind: 'keepalive'; readonly time: bigint }
  | { readonly kind: 'snapshot'; readonly snapshot: Uint8Array }
  | { readonly kind: 'error'; readonly error: string }
  | { readonly kind: 'begin'; readonly begin: UdfBegin }
  | { readonly kind: 'point'; readonly point: UdfPoint }
  | { readonly kind: 'end'; readonly end: UdfEnd }
  | { readonly kind: 'unknown' };

const FIELD = { info: 1, init: 2, keepalive: 3, snapshot: 4, restore: 5, error: 6 } as const;
const DATA_FIELD = { begin: 16, point: 17, end: 18 } as const;

const VALUE_TYPES: readonly UdfValueType[] = ['bool', 'int', 'float', 'string', 'duration'];

/** A request preceded by its length. */
export function encodeRequest(request: UdfRequest): Uint8Array {
  const writer = new BinaryWriter();
  const field = (number: number): BinaryWriter =>
    writer.tag(number, WireType.LengthDelimited).fork();
  switch (request.kind) {
    case 'info':
    case 'snapshot':
      field(FIELD[request.kind]).join();
      break;
    case 'init':
      writeInit(field(FIELD.init), request).join();
      break;
    case 'keepalive':
      field(FIELD.keepalive).tag(1, WireType.Varint).int64(request.time).join();
      break;
    case 'restore':
      field(FIELD.restore).tag(1, WireType.LengthDelimited).bytes(request.snapshot).join();
      break;
    case 'begin':
      writeBegin(field(DATA_FIELD.begin), request.begin).join();
      break;
    case 'point':
      writePoint(field(DATA_FIELD.point), request.point).join();
      break;
    case 'end':
      writeEnd(field(DATA_FIELD.end), request.end).join();
      break;
  }
  const body = writer.finish();
  return new BinaryWriter().uint32(body.length).raw(body).finish();
}

function writeInit(
  writer: BinaryWriter,
  init: Extract<UdfRequest, { kind: 'init' }>,
): BinaryWriter {
  for (const option of init.options) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(option.name);
    for (const value of option.values) {
      writer.tag(2, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.Varint).int32(VALUE_TYPES.indexOf(value.type));
      writeOptionValue(writer, value);
      writer.join();
    }
    writer.join();
  }
  writer.tag(2, WireType.LengthDelimited).string(init.taskId);
  return writer.tag(3, WireType.LengthDelimited).string(init.nodeId);
}

function writeOptionValue(writer: BinaryWriter, value: UdfOptionValue): void {
  switch (value.type) {
    case 'bool':
      writer.tag(2, WireType.Varint).bool(value.value);
      break;
    case 'int':
      writer.tag(3, WireType.Varint).int64(value.value);
      break;
    case 'float':
      writer.tag(4, WireType.Bit64).double(value.value);
      break;
    case 'string':
      writer.tag(5, WireType.LengthDelimited).string(value.value);
      break;
    case 'duration':
      writer.tag(6, WireType.Varint).int64(value.value);
      break;
  }
}

function writeText(writer: BinaryWriter, field: number, text: string): void {
  if (text !== '') writer.tag(field, WireType.LengthDelimited).string(text);
}

function writeTags(writer: BinaryWriter, field: number, tags: ReadonlyMap<string, string>): void {
  for (const [key, value] of tags) {
    writer.tag(field, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key);
    writer.tag(2, WireType.LengthDelimited).string(value).join();
  }
}

function writeBegin(writer: BinaryWriter, begin: UdfBegin): BinaryWriter {
  writeText(writer, 1, begin.name);
  writeText(writer, 2, begin.group);
  writeTags(writer, 3, begin.tags);
  writer.tag(4, WireType.Varint).int64(begin.sizeCount);
  if (begin.isByName) writer.tag(5, WireType.Varint).bool(true);
  return writer;
}

function writeEnd(writer: BinaryWriter, end: UdfEnd): BinaryWriter {
  writeText(writer, 1, end.name);
  writeText(writer, 2, end.group);
  writer.tag(3, WireType.Varint).int64(end.time);
  writeTags(writer, 4, end.tags);
  if (end.isByName) writer.tag(5, WireType.Varint).bool(true);
  return writer;
}

function writePoint(writer: BinaryWriter, point: UdfPoint): BinaryWriter {
  writer.tag(1, WireType.Varint).int64(point.time);
  writeText(writer, 2, point.name);
  writeText(writer, 3, point.database);
  writeText(writer, 4, point.retentionPolicy);
  writeText(writer, 5, point.group);
  for (const name of point.dimensions) writer.tag(6, WireType.LengthDelimited).string(name);
  writeTags(writer, 7, point.tags);
  for (const [key, value] of point.fields) writeField(writer, key, value);
  if (point.isByName) writer.tag(11, WireType.Varint).bool(true);
  return writer;
}

function writeField(
  writer: BinaryWriter,
  key: string,
  value: number | bigint | string | boolean,
): void {
  const entry = (field: number): BinaryWriter => {
    writer.tag(field, WireType.LengthDelimited).fork();
    return writer.tag(1, WireType.LengthDelimited).string(key);
  };
  switch (typeof value) {
    case 'number':
      entry(8).tag(2, WireType.Bit64).double(value).join();
      break;
    case 'bigint':
      entry(9).tag(2, WireType.Varint).int64(value).join();
      break;
    case 'string':
      entry(10).tag(2, WireType.LengthDelimited).string(value).join();
      break;
    default:
      entry(12).tag(2, WireType.Varint).bool(value).join();
  }
}

/** Calls `read` for every field of a message; fields that it does not read are skipped. */
function eachField(
  reader: BinaryReader,
  end: number,
  read: (field: number, reader: BinaryReader) => boolean,
): void {
  while (reader.pos < end) {
    const [field, type] = reader.tag();
    if (!read(field, reader)) reader.skip(type, field);
  }
}

/** Reads a nested message. */
function nested(
  reader: BinaryReader,
  read: (field: number, reader: BinaryReader) => boolean,
): void {
  const length = reader.uint32();
  eachField(reader, reader.pos + length, read);
}

/** A response without its length. Throws for bytes that are no protobuf. */
export function decodeResponse(bytes: Uint8Array): UdfResponse {
  let response: UdfResponse = { kind: 'unknown' };
  eachField(new BinaryReader(bytes), bytes.length, (field, reader) => {
    const read = RESPONSES.get(field);
    if (read === undefined) return false;
    response = read(reader);
    return true;
  });
  return response;
}

const RESPONSES: ReadonlyMap<number, (reader: BinaryReader) => UdfResponse> = new Map<
  number,
  (reader: BinaryReader) => UdfResponse
>([
  [FIELD.info, (reader) => ({ kind: 'info', info: readInfo(reader) })],
  [FIELD.init, (reader) => ({ kind: 'init', ...readResult(reader) })],
  [FIELD.keepalive, (reader) => ({ kind: 'keepalive', time: readKeepalive(reader) })],
  [FIELD.snapshot, (reader) => ({ kind: 'snapshot', snapshot: readBytes(reader) })],
  [FIELD.restore, (reader) => ({ kind: 'restore', ...readResult(reader) })],
  [FIELD.error, (reader) => ({ kind: 'error', error: readError(reader) })],
  [DATA_FIELD.begin, (reader) => ({ kind: 'begin', begin: readBegin(reader) })],
  [DATA_FIELD.point, (reader) => ({ kind: 'point', point: readPoint(reader) })],
  [DATA_FIELD.end, (reader) => ({ kind: 'end', end: readEnd(reader) })],
]);

function readInfo(reader: BinaryReader): UdfInfo {
  let wants: UdfInfo['wants'] = 'stream';
  let provides: UdfInfo['provides'] = 'stream';
  const options: Record<string, UdfValueType[]> = {};
  nested(reader, (field, r) => {
    if (field === 1) wants = r.int32() === 1 ? 'batch' : 'stream';
    else if (field === 2) provides = r.int32() === 1 ? 'batch' : 'stream';
    else if (field === 3) {
      const [name, types] = readOption(r);
      options[name] = types;
    } else return false;
    return true;
  });
  return { wants, provides, options };
}

function readOption(reader: BinaryReader): [string, UdfValueType[]] {
  let name = '';
  const types: UdfValueType[] = [];
  nested(reader, (field, r) => {
    if (field === 1) name = r.string();
    else if (field === 2) nested(r, (inner, value) => inner === 1 && readTypes(value, types));
    else return false;
    return true;
  });
  return [name, types];
}

/** Enumerations are packed: one length, then varints. */
function readTypes(reader: BinaryReader, types: UdfValueType[]): boolean {
  const length = reader.uint32();
  const end = reader.pos + length;
  while (reader.pos < end) types.push(VALUE_TYPES[reader.int32()] ?? 'string');
  return true;
}

function readResult(reader: BinaryReader): { isSuccess: boolean; error: string } {
  let isSuccess = false;
  let error = '';
  nested(reader, (field, r) => {
    if (field === 1) isSuccess = r.bool();
    else if (field === 2) error = r.string();
    else return false;
    return true;
  });
  return { isSuccess, error };
}

function readKeepalive(reader: BinaryReader): bigint {
  let time = 0n;
  nested(reader, (field, r) => {
    if (field !== 1) return false;
    time = BigInt(r.int64());
    return true;
  });
  return time;
}

function readBytes(reader: BinaryReader): Uint8Array {
  let bytes = new Uint8Array(0);
  nested(reader, (field, r) => {
    if (field !== 1) return false;
    bytes = r.bytes().slice();
    return true;
  });
  return bytes;
}

function readError(reader: BinaryReader): string {
  let error = '';
  nested(reader, (field, r) => {
    if (field !== 1) return false;
    error = r.string();
    return true;
  });
  return error;
}

/** An entry of a map with values read by `read`. */
function readEntry<T>(
  reader: BinaryReader,
  into: Map<string, T>,
  zero: T,
  read: (r: BinaryReader) => T,
): true {
  let key = '';
  let value = zero;
  nested(reader, (field, r) => {
    if (field === 1) key = r.string();
    else if (field === 2) value = read(r);
    else return false;
    return true;
  });
  into.set(key, value);
  return true;
}

const readTag = (reader: BinaryReader, tags: Map<string, string>): true =>
  readEntry(reader, tags, '', (r) => r.string());

function readBegin(reader: BinaryReader): UdfBegin {
  const tags = new Map<string, string>();
  const begin = { name: '', group: '', tags, isByName: false, sizeCount: 0 };
  nested(reader, (field, r) => {
    if (field === 1) begin.name = r.string();
    else if (field === 2) begin.group = r.string();
    else if (field === 3) readTag(r, tags);
    else if (field === 4) begin.sizeCount = Number(r.int64());
    else if (field === 5) begin.isByName = r.bool();
    else return false;
    return true;
  });
  return begin;
}

function readEnd(reader: BinaryReader): UdfEnd {
  const tags = new Map<string, string>();
  const end = { name: '', group: '', time: 0n, tags, isByName: false };
  nested(reader, (field, r) => {
    if (field === 1) end.name = r.string();
    else if (field === 2) end.group = r.string();
    else if (field === 3) end.time = BigInt(r.int64());
    else if (field === 4) readTag(r, tags);
    else if (field === 5) end.isByName = r.bool();
    else return false;
    return true;
  });
  return end;
}

function readPoint(reader: BinaryReader): UdfPoint {
  const tags = new Map<string, string>();
  const fields = new Map<string, number | bigint | string | boolean>();
  const dimensions: string[] = [];
  const point = {
    time: 0n,
    name: '',
    database: '',
    retentionPolicy: '',
    group: '',
    isByName: false,
    dimensions,
    tags,
    fields,
  };
  nested(reader, (field, r) => {
    if (field === 1) point.time = BigInt(r.int64());
    else if (field === 2) point.name = r.string();
    else if (field === 3) point.database = r.string();
    else if (field === 4) point.retentionPolicy = r.string();
    else if (field === 5) point.group = r.string();
    else if (field === 6) dimensions.push(r.string());
    else if (field === 7) readTag(r, tags);
    else if (field === 8) readEntry(r, fields, 0, (v) => v.double());
    else if (field === 9) readEntry(r, fields, 0n, (v) => BigInt(v.int64()));
    else if (field === 10) readEntry(r, fields, '', (v) => v.string());
    else if (field === 11) point.isByName = r.bool();
    else if (field === 12) readEntry(r, fields, false, (v) => v.bool());
    else return false;
    return true;
  });
  return point;
}

/** Cuts a byte stream into messages. */
export class FrameReader {
  #buffer = new Uint8Array(0);
  readonly #lengthMax: number;

  constructor(lengthMax = 64 * 1024 * 1024) {
    this.#lengthMax = lengthMax;
  }

  /** The messages that these bytes complete. Throws when a length is out of range. */
  push(bytes: Uint8Array): Uint8Array[] {
    const joined = new Uint8Array(this.#buffer.length + bytes.length);
    joined.set(this.#buffer);
    joined.set(bytes, this.#buffer.length);
    const messages: Uint8Array[] = [];
    let at = 0;
    for (;;) {
      const length = varint(joined, at);
      if (length === undefined) break;
      if (length.value > this.#lengthMax) throw new RangeError(`message of ${length.value} bytes`);
      const end = length.end + length.value;
      if (end > joined.length) break;
      messages.push(joined.subarray(length.end, end));
      at = end;
    }
    this.#buffer = joined.slice(at);
    return messages;
  }
}

/** An unsigned varint at an offset; `undefined` when its end has not arrived. */
function varint(bytes: Uint8Array, start: number): { value: number; end: number } | undefined {
  let value = 0;
  let factor = 1;
  for (let i = start; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return { value, end: i + 1 };
    factor *= 128;
    if (factor > 2 ** 35) throw new RangeError('message length is no varint');
  }
  return undefined;
}
