// The encodings of blocks (docs/formats/encodings.md). A new one is a new row, with the versions of
// segments and log files that may have it: older programs then refuse the file as written by a
// newer version, instead of reading into an encoding that they do not know.
import { BIT_ENCODINGS, FLOAT_ENCODINGS, INTEGER_ENCODINGS, STRING_ENCODINGS } from './abi.gen.ts';

export type BlockEncoding = {
  /** The first byte after the count of a block. */
  readonly code: number;
  readonly name: string;
  /** The first versions of segments and log files that may have it; none has it where absent. */
  readonly since: { readonly segment: number; readonly log?: number };
};

const FIRST = { segment: 1, log: 1 };

export const BLOCK_ENCODINGS: readonly BlockEncoding[] = [
  { code: INTEGER_ENCODINGS.raw, name: 'raw', since: FIRST },
  { code: INTEGER_ENCODINGS.constant, name: 'constant', since: FIRST },
  { code: INTEGER_ENCODINGS.step, name: 'step', since: FIRST },
  { code: INTEGER_ENCODINGS.packed, name: 'packed', since: FIRST },
  { code: INTEGER_ENCODINGS.delta, name: 'delta', since: FIRST },
  { code: INTEGER_ENCODINGS.delta2, name: 'delta of delta', since: FIRST },
  { code: INTEGER_ENCODINGS.huffman, name: 'huffman', since: FIRST },
  { code: FLOAT_ENCODINGS.raw, name: 'raw', since: FIRST },
  { code: FLOAT_ENCODINGS.constant, name: 'constant', since: FIRST },
  { code: FLOAT_ENCODINGS.scaled, name: 'scaled', since: FIRST },
  { code: FLOAT_ENCODINGS.xor, name: 'xor', since: FIRST },
  { code: BIT_ENCODINGS.packed, name: 'packed', since: FIRST },
  { code: BIT_ENCODINGS.constant, name: 'constant', since: FIRST },
  { code: BIT_ENCODINGS.runs, name: 'runs', since: FIRST },
  { code: STRING_ENCODINGS.dictionary, name: 'dictionary', since: FIRST },
  { code: STRING_ENCODINGS.evenFrames, name: 'frames of as many rows', since: { segment: 3 } },
  { code: STRING_ENCODINGS.frames, name: 'frames', since: { segment: 4 } },
];
