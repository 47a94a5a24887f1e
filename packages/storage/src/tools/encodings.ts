// The encoding of a block, by its first bytes.
import { BLOCK_ENCODINGS } from '@tidemark/kernels';

import { ByteReader } from '../columns/bytes.ts';

/** The name of a block's encoding. Throws `DecodeError` when the block is too short. */
export function encodingName(block: Uint8Array): string {
  const reader = new ByteReader(block);
  reader.varint();
  const found = reader.u8();
  return BLOCK_ENCODINGS.find(({ code }) => code === found)?.name ?? `0x${found.toString(16)}`;
}
