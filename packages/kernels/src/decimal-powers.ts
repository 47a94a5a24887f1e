// Powers of ten for the number scanner: 10^-n, n = 0..19, as 128-bit fractions with the highest bit
// set.
import { DECIMAL_POWERS } from './abi.gen.ts';
import type { Kernels } from './loader.ts';

/**
 * Fills the table of assembly/number.ts. They are powers of five there; the powers of two are in
 * the exponent.
 */
export function writeDecimalPowers(kernels: Kernels): void {
  const address = kernels.exports.decimalPowers() >>> 0;
  const table = new BigUint64Array(kernels.bytes.buffer, address, DECIMAL_POWERS * 2);
  const low = (1n << 64n) - 1n;
  for (let n = 0; n < DECIMAL_POWERS; n++) {
    const power = 5n ** BigInt(n);
    const bits = BigInt(power.toString(2).length);
    // 1 / 5^n rounded up, scaled so that 128 bits remain; one itself is exact.
    const scale = 1n << (bits + 127n);
    const fraction = n === 0 ? 1n << 127n : scale / power + 1n;
    table[2 * n] = fraction >> 64n;
    table[2 * n + 1] = fraction & low;
  }
}
