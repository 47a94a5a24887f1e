// The table of powers of ten for reading numbers: 10^-n for n = 0..19 as 128-bit fractions whose
// highest bit is set.
import { DECIMAL_POWERS } from './abi.gen.ts';
import type { Kernels } from './loader.ts';

/**
 * Fills the table of assembly/number.ts. Its entries are powers of five; the exponent there
 * accounts for the powers of two.
 */
export function writeDecimalPowers(kernels: Kernels): void {
  const address = kernels.exports.decimalPowers() >>> 0;
  const table = new BigUint64Array(kernels.bytes.buffer, address, DECIMAL_POWERS * 2);
  const low = (1n << 64n) - 1n;
  for (let n = 0; n < DECIMAL_POWERS; n++) {
    const power = 5n ** BigInt(n);
    const bits = BigInt(power.toString(2).length);
    // 1 / 5^n, rounded up and scaled to 128 bits. 1 itself is exact.
    const scale = 1n << (bits + 127n);
    const fraction = n === 0 ? 1n << 127n : scale / power + 1n;
    table[2 * n] = fraction >> 64n;
    table[2 * n + 1] = fraction & low;
  }
}
