// Blocks: a count and an encoded sequence of one kind. The codecs of src/ call these functions.
import {
  AREA_WIDE_IDS,
  BLOCK_BITS,
  BLOCK_FLOATS,
  BLOCK_INTEGERS,
  BLOCK_VALUES_MAX,
  ERROR_TOO_LARGE,
  ERROR_TRUNCATED,
  ERROR_VALUE,
} from './abi.gen';
import { at, end, failed, openReader, readVarint, writeVarint } from './bytes';
import { decodeBits, encodeBits } from './bits';
import { decodeFloats, encodeFloats } from './floats';
import { decodeInts, encodeInts } from './ints';
import { scratch } from './memory';
import { decodeStrings, encodeStrings } from './strings';

/** An upper bound of the size of a block with `count` values, except for strings. */
export function blockBound(count: u32): usize {
  return <usize>count * 11 + 128;
}

export function writeBlock(kind: u32, src: usize, count: u32, dst: usize, effort: i32): usize {
  dst = writeVarint(dst, <u64>count);
  if (kind === BLOCK_FLOATS) return encodeFloats(src, count, dst, effort);
  if (kind === BLOCK_BITS) return encodeBits(src, count, dst);
  return encodeInts(src, count, dst, effort);
}

/** Encodes a block to `dst`, which has room for `blockBound`. Returns its size. */
export function encodeBlock(kind: u32, src: usize, count: u32, dst: usize, effort: i32): i32 {
  return <i32>(writeBlock(kind, src, count, dst, effort) - dst);
}

/**
 * Reads the count of the block at the reader's position. Returns an error if there cannot be this
 * many values.
 */
export function readBlockCount(): i32 {
  const count = readVarint();
  if (failed) return ERROR_TRUNCATED;
  return count > <u64>BLOCK_VALUES_MAX ? ERROR_TOO_LARGE : <i32>count;
}

/** Where the opened block begins. */
let started: usize = 0;

/**
 * Opens a block. Returns its count or an error. `finishBlock` must follow, with room for this many
 * values.
 */
export function startBlock(src: usize, bytes: usize): i32 {
  openReader(src, bytes);
  started = src;
  return readBlockCount();
}

export function readBody(kind: u32, count: u32, dst: usize): i32 {
  if (kind === BLOCK_FLOATS) return decodeFloats(count, dst);
  if (kind === BLOCK_BITS) return decodeBits(count, dst);
  return decodeInts(count, dst);
}

/** Decodes the block of `startBlock`. Returns 0 or an error; bytes after the block are an error. */
export function finishBlock(kind: u32, count: u32, dst: usize): i32 {
  const error = readBody(kind, count, dst);
  if (error < 0) return error;
  return at === end ? 0 : ERROR_VALUE;
}

/**
 * Encodes `count` strings, given as references (address u32, length u32). `dst` has room for
 * `stringsBound`. Returns the size or an error.
 */
export function encodeStringBlock(references: usize, count: u32, dst: usize, effort: i32): i32 {
  const after = encodeStrings(references, count, dst, writeVarint(dst, <u64>count), effort);
  return after === 0 ? ERROR_TOO_LARGE : <i32>(after - dst);
}

/**
 * Decodes the strings of `startBlock`. `stringCodes` and the exports beside it return the result.
 */
export function finishStringBlock(count: u32): i32 {
  const error = decodeStrings(started, count);
  if (error < 0) return error;
  return at === end ? 0 : ERROR_VALUE;
}

/**
 * As `encodeBlock` for ids of four bytes, which are encoded as integers. Returns 0 when memory is
 * exhausted.
 */
export function encodeIds(src: usize, count: u32, dst: usize, effort: i32): i32 {
  const wide = scratch(AREA_WIDE_IDS, <usize>count * 8);
  if (wide === 0) return 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u64>(wide + i * 8, <u64>load<u32>(src + i * 4));
  }
  return encodeBlock(BLOCK_INTEGERS, wide, count, dst, effort);
}
