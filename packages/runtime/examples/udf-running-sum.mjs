// A user-defined function: adds up the option's field per group and sets `sum`. Shows the whole
// protocol: info, init, keep-alive, snapshot, restore, points. Run it as `prog = "node", args =
// ["udf-running-sum.mjs"]`.
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

let field = 'value';
const sums = new Map();

/** Writes a response: field `number` of the message holds what `fill` writes. */
function respond(number, fill) {
  const writer = new BinaryWriter();
  writer.tag(number, WireType.LengthDelimited).fork();
  fill(writer);
  const body = writer.join().finish();
  process.stdout.write(new BinaryWriter().uint32(body.length).raw(body).finish());
}

/**
 * Fields of a message as [number, value]: texts and messages are bytes, other values are as
 * encoded.
 */
function* fieldsOf(bytes) {
  const reader = new BinaryReader(bytes);
  while (reader.pos < bytes.length) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) yield [number, reader.bytes()];
    else if (type === WireType.Bit64) yield [number, reader.double()];
    else yield [number, reader.int64()];
  }
}

const text = (bytes) => Buffer.from(bytes).toString('utf8');

function onInit(init) {
  for (const [number, option] of fieldsOf(init)) {
    if (number !== 1) continue;
    const parts = [...fieldsOf(option)];
    const name = text(parts.find(([n]) => n === 1)?.[1] ?? new Uint8Array());
    const value = parts.find(([n]) => n === 2)?.[1];
    if (name === 'field' && value !== undefined) {
      field = text([...fieldsOf(value)].find(([n]) => n === 5)?.[1] ?? new Uint8Array());
    }
  }
  respond(2, (w) => w.tag(1, WireType.Varint).bool(true));
}

function onPoint(point) {
  let group = '';
  let value = 0;
  for (const [number, part] of fieldsOf(point)) {
    if (number === 5) group = text(part);
    if (number !== 8) continue;
    const entry = Object.fromEntries(fieldsOf(part));
    if (text(entry[1]) === field) value = entry[2] ?? 0;
  }
  const sum = (sums.get(group) ?? 0) + value;
  sums.set(group, sum);
  respond(17, (w) => {
    w.raw(point);
    w.tag(8, WireType.LengthDelimited).fork();
    w.tag(1, WireType.LengthDelimited).string('sum');
    w.tag(2, WireType.Bit64).double(sum).join();
  });
}

function onRequest(bytes) {
  for (const [number, body] of fieldsOf(bytes)) {
    switch (number) {
      case 1:
        respond(1, (w) => {
          // Wants and provides a stream; one option that takes a string.
          w.tag(3, WireType.LengthDelimited).fork();
          w.tag(1, WireType.LengthDelimited).string('field');
          w.tag(2, WireType.LengthDelimited).fork();
          w.tag(1, WireType.LengthDelimited).fork().int32(3).join().join().join();
        });
        break;
      case 2:
        onInit(body);
        break;
      case 3:
        respond(3, (w) => w.raw(body));
        break;
      case 4: {
        const state = new TextEncoder().encode(JSON.stringify([...sums]));
        respond(4, (w) => w.tag(1, WireType.LengthDelimited).bytes(state));
        break;
      }
      case 5: {
        const state = [...fieldsOf(body)].find(([n]) => n === 1)?.[1];
        for (const [group, sum] of JSON.parse(text(state))) sums.set(group, sum);
        respond(5, (w) => w.tag(1, WireType.Varint).bool(true));
        break;
      }
      case 17:
        onPoint(body);
        break;
    }
  }
}

let buffer = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    let length = 0;
    let at = 0;
    let shift = 0;
    do {
      if (at >= buffer.length) return;
      length += (buffer[at] & 127) * 2 ** shift;
      shift += 7;
    } while (buffer[at++] >= 128);
    if (buffer.length < at + length) return;
    onRequest(buffer.subarray(at, at + length));
    buffer = buffer.subarray(at + length);
  }
});
