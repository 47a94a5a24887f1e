// Blocks of one value, without the kernel.
import { BLOCK_KINDS, FLOAT_ENCODINGS, INTEGER_ENCODINGS } from './abi.gen.ts';

/** What a block holds. */
export type BlockKind = (typeof BLOCK_KINDS)[keyof typeof BLOCK_KINDS];

/**
 * Encodes a single value as a constant. The kernel would write the same bytes, but calling it costs
 * ten times as much, and segments of many short series consist of such blocks.
 */
export function encodeSingle(kind: BlockKind, values: Single): Uint8Array {
  if (values instanceof Float64Array) SINGLE.setFloat64(0, values[0]!, true);
  else SINGLE.setBigInt64(0, BigInt(values[0]!), true);
  if (kind === BLOCK_KINDS.floats) {
    const block = new Uint8Array(10);
    block[0] = 1;
    block[1] = FLOAT_ENCODINGS.constant;
    for (let i = 0; i < 8; i++) block[2 + i] = SINGLE.getUint8(i);
    return block;
  }
  const sign = SINGLE.getInt32(4, true) >> 31;
  let low = ((SINGLE.getUint32(0, true) << 1) ^ sign) >>> 0;
  let high = ((SINGLE.getInt32(4, true) << 1) | (SINGLE.getUint32(0, true) >>> 31)) ^ sign;
  const bits = high === 0 ? 32 - Math.clz32(low) : 64 - Math.clz32(high);
  const block = new Uint8Array(2 + Math.max(1, Math.ceil(bits / 7)));
  block[0] = 1;
  block[1] = INTEGER_ENCODINGS.constant;
  let at = 2;
  while (high !== 0 || low >= 0x80) {
    block[at++] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
  }
  block[at] = low;
  return block;
}

type Single = BigInt64Array | BigUint64Array | Float64Array | Uint8Array;

/** Holds a value while it is encoded: asking a small array for its buffer makes V8 move it. */
const SINGLE = new DataView(new ArrayBuffer(8));
