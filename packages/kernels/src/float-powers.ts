// The table of powers of ten for printing floats: 10^k for k = -292..324 as 128-bit numbers whose
// highest bit is set, rounded up.
import { FLOAT_POWER_LEAST, FLOAT_POWER_MOST } from './abi.gen.ts';
import type { Kernels } from './loader.ts';

/** Fills the table of assembly/float-text.ts. Takes about a millisecond. */
export function writeFloatPowers(kernels: Kernels): void {
  const address = kernels.exports.floatPowers() >>> 0;
  const powers = FLOAT_POWER_MOST - FLOAT_POWER_LEAST + 1;
  const table = new BigUint64Array(kernels.bytes.buffer, address, powers * 2);
  const low = (1n << 64n) - 1n;
  for (let k = FLOAT_POWER_LEAST; k <= FLOAT_POWER_MOST; k++) {
    const power = 10n ** BigInt(Math.abs(k));
    const bits = BigInt(power.toString(2).length);
    // Scaled so that it lies in [2^127, 2^128).
    const value =
      k < 0
        ? ceilingQuotient(1n << (127n + bits), power)
        : ceilingQuotient(power << 128n, 1n << bits);
    table[2 * (k - FLOAT_POWER_LEAST)] = value >> 64n;
    table[2 * (k - FLOAT_POWER_LEAST) + 1] = value & low;
  }
}

function ceilingQuotient(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b;
}
