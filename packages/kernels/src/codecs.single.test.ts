import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { Area, BLOCK_KINDS, EFFORTS } from './abi.gen.ts';
import { Codecs } from './codecs.ts';
import { Kernels } from './loader.ts';

const kernels = new Kernels();
const codecs = new Codecs(kernels);

/** The block as the kernel writes it. */
function byKernel(kind: number, value: ArrayBufferView): Uint8Array {
  const input = kernels.scratch(Area.input, 8);
  const output = kernels.scratch(Area.output, 256);
  kernels.bytes.set(new Uint8Array(value.buffer, value.byteOffset, 8), input);
  const size = kernels.exports.encodeBlock(kind, input, 1, output, EFFORTS.small);
  return kernels.bytes.slice(output, output + size);
}

test('the block of one integer is that of the kernel', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.nat(63), (n, shift) => {
      for (const value of [n, n >> BigInt(shift)]) {
        const array = BigInt64Array.of(value);
        expect(codecs.encodeIntegers(array, 'small')).toEqual(
          byKernel(BLOCK_KINDS.integers, array),
        );
        expect(codecs.decodeIntegers(codecs.encodeTimes(array))).toEqual(array);
      }
    }),
    {
      numRuns: 1000,
      examples: [
        [0n, 0],
        [-1n, 0],
        [63n, 0],
        [64n, 0],
        [-(2n ** 63n), 0],
      ],
    },
  );
});

test('the block of one float is that of the kernel, bit by bit', () => {
  fc.assert(
    fc.property(fc.double(), (value) => {
      const array = Float64Array.of(value);
      expect(codecs.encodeFloats(array, 'small')).toEqual(byKernel(BLOCK_KINDS.floats, array));
    }),
    { examples: [[-0], [5e-324], [Number.NaN], [Number.POSITIVE_INFINITY]] },
  );
});
