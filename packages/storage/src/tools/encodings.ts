// The names of block encodings (docs/formats/encodings.md), recognised by a block's first bytes.
import { ByteReader } from '../columns/bytes.ts';

const NAMES: Readonly<Record<number, string>> = {
  0x01: 'raw',
  0x02: 'constant',
  0x03: 'step',
  0x04: 'packed',
  0x05: 'delta',
  0x06: 'delta of delta',
  0x07: 'huffman',
  0x10: 'raw',
  0x11: 'constant',
  0x12: 'scaled',
  0x13: 'xor',
  0x20: 'packed',
  0x21: 'constant',
  0x22: 'runs',
  0x30: 'dictionary',
};

/** The encoding of a block. Throws `DecodeError` when the block is too short. */
export function encodingName(block: Uint8Array): string {
  const reader = new ByteReader(block);
  reader.varint();
  const code = reader.u8();
  return NAMES[code] ?? `0x${code.toString(16)}`;
}
