// What assembly/index.ts exports. Addresses and sizes are unsigned 32-bit; negative results are errors.
import type { WasmMemory } from './web-assembly.ts';

/** Exports of the compiled kernels. */
export type KernelExports = {
  readonly memory: WasmMemory;
  scratch(slot: number, bytes: number): number;
  trimScratch(bytes: number): void;
  memoryInUse(): number;

  crc32c(address: number, bytes: number, crc: number): number;

  blockBound(count: number): number;
  stringsBound(count: number, bytes: number): number;
  encodeBlock(kind: number, src: number, count: number, dst: number, effort: number): number;
  encodeStringBlock(references: number, count: number, dst: number, effort: number): number;
  startBlock(src: number, bytes: number): number;
  finishBlock(kind: number, count: number, dst: number): number;
  finishStringBlock(count: number): number;
  stringCodes(): number;
  stringOffsets(): number;
  stringBytes(): number;
  stringEntries(): number;
};
