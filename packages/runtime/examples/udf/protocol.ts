// The protocol of user-defined functions in TypeScript, with nothing but Node's own modules: copy
// it beside your function. Messages are protobuf with a varint length in front; the numbers below
// are the fields of `Request` and `Response`.
import { createServer } from 'node:net';
import { rmSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

export type FieldValue = number | bigint | string | boolean;

export type Point = {
  /** Nanoseconds. */
  time: bigint;
  name: string;
  database: string;
  retentionPolicy: string;
  group: string;
  dimensions: string[];
  isByName: boolean;
  tags: Map<string, string>;
  fields: Map<string, FieldValue>;
};

export type OptionType = 'bool' | 'int' | 'float' | 'string' | 'duration';

/**
 * A function's side of a conversation. One object per conversation: a task that runs twice has two.
 */
export interface Agent {
  readonly wants: 'stream' | 'batch';
  readonly provides: 'stream' | 'batch';
  /** Types of the values of each option. */
  readonly options: Readonly<Record<string, readonly OptionType[]>>;
  /** Throws to refuse the options. */
  init(options: ReadonlyMap<string, readonly FieldValue[]>): void;
  /** Called for each point, in order; `emit` may be called any number of times. */
  point(point: Point, emit: (point: Point) => void): void;
  /** The whole state, which is passed to `restore` of a later conversation. */
  snapshot(): Uint8Array;
  restore(state: Uint8Array): void;
}

const KIND = { info: 1, init: 2, keepalive: 3, snapshot: 4, restore: 5, error: 6 } as const;
const DATA = { begin: 16, point: 17, end: 18 } as const;
const OPTION_TYPES: readonly OptionType[] = ['bool', 'int', 'float', 'string', 'duration'];

/**
 * Runs agents: over standard input and output, or for every connection to the socket in `--socket
 * PATH`.
 */
export function serve(makeAgent: () => Agent): void {
  const at = process.argv.indexOf('--socket');
  const path = at < 0 ? undefined : process.argv[at + 1];
  if (path === undefined) {
    converse(makeAgent(), process.stdin, process.stdout);
    return;
  }
  rmSync(path, { force: true });
  createServer({ allowHalfOpen: true }, (socket) => converse(makeAgent(), socket, socket)).listen(
    path,
    // The starting process waits for this line.
    () => process.stderr.write(`listening on ${path}\n`),
  );
}

/** Answers requests until the other side ends. */
export function converse(agent: Agent, input: Readable, output: Writable): void {
  let buffer = Buffer.alloc(0);
  const send = (kind: number, body: Uint8Array): void => {
    const message = new Encoder().bytes(kind, body).finish();
    output.write(Buffer.concat([varint(BigInt(message.length)), message]));
  };
  input.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const head = readVarint(buffer, 0);
      if (head === undefined || buffer.length < head.next + Number(head.value)) return;
      const end = head.next + Number(head.value);
      const message = buffer.subarray(head.next, end);
      buffer = buffer.subarray(end);
      try {
        for (const [kind, body] of fieldsOf(message)) answer(agent, kind, body as Buffer, send);
      } catch (cause) {
        const text = cause instanceof Error ? cause.message : String(cause);
        send(KIND.error, new Encoder().text(1, text).finish());
      }
    }
  });
  // Everything has been written: the other side may close.
  input.on('end', () => output.end());
}

function answer(
  agent: Agent,
  kind: number,
  body: Buffer,
  send: (kind: number, body: Uint8Array) => void,
): void {
  const agreed = (act: () => void): Uint8Array => {
    try {
      act();
      return new Encoder().number(1, 1n).finish();
    } catch (cause) {
      return new Encoder().text(2, cause instanceof Error ? cause.message : String(cause)).finish();
    }
  };
  switch (kind) {
    case KIND.info:
      send(kind, encodeInfo(agent));
      break;
    case KIND.init:
      send(
        kind,
        agreed(() => agent.init(decodeOptions(body))),
      );
      break;
    case KIND.keepalive:
      send(kind, body);
      break;
    case KIND.snapshot:
      send(kind, new Encoder().bytes(1, agent.snapshot()).finish());
      break;
    case KIND.restore:
      send(
        kind,
        agreed(() => agent.restore(bytesOf(body, 1))),
      );
      break;
    case DATA.begin:
    case DATA.end:
      // Batches keep their begin and end.
      if (agent.provides === 'batch') send(kind, body);
      break;
    case DATA.point:
      agent.point(decodePoint(body), (point) => send(DATA.point, encodePoint(point)));
      break;
  }
}

function encodeInfo(agent: Agent): Uint8Array {
  const encoder = new Encoder();
  encoder.number(1, agent.wants === 'batch' ? 1n : 0n);
  encoder.number(2, agent.provides === 'batch' ? 1n : 0n);
  for (const [name, types] of Object.entries(agent.options)) {
    const packed = Buffer.concat(types.map((type) => varint(BigInt(OPTION_TYPES.indexOf(type)))));
    const option = new Encoder().bytes(1, packed).finish();
    encoder.bytes(3, new Encoder().text(1, name).bytes(2, option).finish());
  }
  return encoder.finish();
}

function decodeOptions(body: Buffer): Map<string, FieldValue[]> {
  const options = new Map<string, FieldValue[]>();
  for (const [number, option] of fieldsOf(body)) {
    if (number !== 1) continue;
    let name = '';
    const values: FieldValue[] = [];
    for (const [part, content] of fieldsOf(option as Buffer)) {
      if (part === 1) name = String(content);
      else if (part === 2) values.push(...decodeOptionValue(content as Buffer));
    }
    options.set(name, values);
  }
  return options;
}

function* decodeOptionValue(body: Buffer): Iterable<FieldValue> {
  for (const [number, value] of fieldsOf(body)) {
    if (number === 2) yield value !== 0n;
    else if (number === 5) yield String(value);
    else if (number > 2 && !Buffer.isBuffer(value)) yield value;
  }
}

function decodePoint(body: Buffer): Point {
  const point: Point = {
    time: 0n,
    name: '',
    database: '',
    retentionPolicy: '',
    group: '',
    dimensions: [],
    isByName: false,
    tags: new Map(),
    fields: new Map(),
  };
  for (const [number, value] of fieldsOf(body)) {
    switch (number) {
      case 1:
        point.time = value as bigint;
        break;
      case 2:
        point.name = String(value);
        break;
      case 3:
        point.database = String(value);
        break;
      case 4:
        point.retentionPolicy = String(value);
        break;
      case 5:
        point.group = String(value);
        break;
      case 6:
        point.dimensions.push(String(value));
        break;
      case 11:
        point.isByName = value !== 0n;
        break;
      default:
        decodeEntry(point, number, value as Buffer);
    }
  }
  return point;
}

/** An entry of one of the maps. Protobuf omits zero and empty values. */
function decodeEntry(point: Point, number: number, body: Buffer): void {
  const entry = new Map(fieldsOf(body));
  const key = String(entry.get(1) ?? '');
  const value = entry.get(2);
  if (number === 7) point.tags.set(key, String(value ?? ''));
  else if (number === 8) point.fields.set(key, (value as number | undefined) ?? 0);
  else if (number === 9) point.fields.set(key, (value as bigint | undefined) ?? 0n);
  else if (number === 10) point.fields.set(key, String(value ?? ''));
  else if (number === 12) point.fields.set(key, value === 1n);
}

function encodePoint(point: Point): Uint8Array {
  const encoder = new Encoder();
  encoder.number(1, point.time).text(2, point.name).text(3, point.database);
  encoder.text(4, point.retentionPolicy).text(5, point.group);
  for (const dimension of point.dimensions) encoder.text(6, dimension);
  for (const [key, value] of point.tags) {
    encoder.bytes(7, new Encoder().text(1, key).text(2, value).finish());
  }
  for (const [key, value] of point.fields) {
    const entry = new Encoder().text(1, key);
    if (typeof value === 'number') encoder.bytes(8, entry.double(2, value).finish());
    else if (typeof value === 'bigint') encoder.bytes(9, entry.number(2, value).finish());
    else if (typeof value === 'string') encoder.bytes(10, entry.text(2, value).finish());
    else encoder.bytes(12, entry.number(2, value ? 1n : 0n).finish());
  }
  if (point.isByName) encoder.number(11, 1n);
  return encoder.finish();
}

function bytesOf(body: Buffer, number: number): Buffer {
  for (const [found, value] of fieldsOf(body)) if (found === number) return value as Buffer;
  return Buffer.alloc(0);
}

/**
 * Fields of a message: varints as signed integers, doubles as numbers, everything else as bytes.
 */
function* fieldsOf(message: Buffer): Iterable<[number: number, value: bigint | number | Buffer]> {
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    if (tag === undefined) throw new Error('message is cut off');
    at = tag.next;
    const number = Number(tag.value >> 3n);
    const type = Number(tag.value & 7n);
    if (type === 1) {
      yield [number, message.readDoubleLE(at)];
      at += 8;
      continue;
    }
    const value = readVarint(message, at);
    if (value === undefined || (type !== 0 && type !== 2)) throw new Error('message is damaged');
    at = value.next;
    if (type === 0) yield [number, BigInt.asIntN(64, value.value)];
    else {
      yield [number, message.subarray(at, at + Number(value.value))];
      at += Number(value.value);
    }
  }
}

function readVarint(bytes: Buffer, from: number): { value: bigint; next: number } | undefined {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[from + i];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 127) << BigInt(7 * i);
    if (byte < 128) return { value, next: from + i + 1 };
  }
  throw new Error('number is too long');
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

class Encoder {
  readonly #parts: Uint8Array[] = [];

  number(field: number, value: bigint): this {
    this.#parts.push(varint(BigInt(field << 3)), varint(value));
    return this;
  }

  double(field: number, value: number): this {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#parts.push(varint(BigInt((field << 3) | 1)), bytes);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#parts.push(varint(BigInt((field << 3) | 2)), varint(BigInt(value.length)), value);
    return this;
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value));
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
