// Codecs and scans, one instance per thread. They are pure functions that keep nothing between
// calls, so that all engines of a thread can share them. Blocks are described in
// docs/formats/encodings.md.
import { CodecError, Codecs, Kernels, Scans } from '@tidemark/kernels';

import { DecodeError } from './bytes.ts';

let kernels: Kernels | undefined;
let sharedCodecs: Codecs | undefined;
let sharedScans: Scans | undefined;

export function codecs(): Codecs {
  kernels ??= new Kernels();
  sharedCodecs ??= new Codecs(kernels);
  return sharedCodecs;
}

export function scans(): Scans {
  kernels ??= new Kernels();
  sharedScans ??= new Scans(kernels);
  return sharedScans;
}

/** Runs a decoder; bytes that no encoder wrote become `DecodeError`. */
export function decoding<T>(decode: (codecs: Codecs) => T): T {
  try {
    return decode(codecs());
  } catch (cause) {
    if (cause instanceof CodecError) throw new DecodeError(cause.message, { cause });
    throw cause;
  }
}

// Below this a call into the kernel costs more than it saves; measured 0.9 µs per call for 64
// bytes.
const KERNEL_CRC_BYTES = 256;
const TABLE = Int32Array.from({ length: 256 }, (_, i) => {
  let crc = i;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C of `bytes`, continuing `seed`. */
export function crc32c(bytes: Uint8Array, seed = 0): number {
  if (bytes.length >= KERNEL_CRC_BYTES) return codecs().crc32c(bytes, seed);
  let crc = ~seed;
  for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
