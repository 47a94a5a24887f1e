// Loads the compiled kernels. In Node they are found beside the package; a browser passes the
// bytes.
import { assert, Unavailable } from '@tidemark/core';
import type { Area } from './abi.gen.ts';
import type { KernelExports } from './kernel-exports.gen.ts';
import { webAssembly } from './web-assembly.ts';
import type { WasmMemory, WasmModule } from './web-assembly.ts';

/** Compiled code; can be sent to another thread and instantiated there. */
export type KernelModule = WasmModule;

/**
 * One instance with a linear memory of its own, which never shrinks: drop the instance to give
 * memory back. Views are made afresh by every getter call after the memory grew, so never keep one
 * across a call into `exports`.
 */
export class Kernels {
  readonly exports: KernelExports;
  readonly #memory: WasmMemory;
  #bytes: Uint8Array;
  #words: BigInt64Array;

  constructor(module: KernelModule = compileKernels()) {
    const instance = new webAssembly.Instance(module, {});
    // The only place that trusts the compiler to have made what the description of the border says;
    // abi.test.ts compares them.
    this.exports = instance.exports as unknown as KernelExports;
    this.#memory = this.exports.memory;
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#words = new BigInt64Array(this.#memory.buffer);
  }

  /** All of linear memory. Valid until the next call into `exports`. */
  get bytes(): Uint8Array {
    if (this.#bytes.byteLength === 0) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes;
  }

  /** All of linear memory as 64-bit words. Valid as long as `bytes` is. */
  get words(): BigInt64Array {
    if (this.#words.byteLength === 0) this.#words = new BigInt64Array(this.#memory.buffer);
    return this.#words;
  }

  /** The buffer of `bytes`. */
  get buffer(): ArrayBuffer {
    return this.#memory.buffer;
  }

  get memoryBytes(): number {
    return this.bytes.byteLength;
  }

  /**
   * The scratch area with room for `sizeBytes`; what is in it is of no meaning to the next caller.
   */
  scratch(area: Area, sizeBytes: number): number {
    return this.#checked(this.exports.scratch(area, sizeBytes), sizeBytes);
  }

  /** A copy of an array in a scratch area. */
  copyIn(area: Area, { buffer, byteOffset, byteLength }: ArrayBufferView): number {
    const address = this.scratch(area, byteLength);
    this.bytes.set(new Uint8Array(buffer, byteOffset, byteLength), address);
    return address;
  }

  /** Memory that belongs to the caller until it calls `free`, in runs of 64 KiB. */
  allocate(sizeBytes: number): number {
    return this.#checked(this.exports.allocateRun(sizeBytes), sizeBytes);
  }

  /** Gives back what `allocate` gave; the size is that which was asked for. */
  free(address: number, sizeBytes: number): void {
    this.exports.freeRun(address, sizeBytes);
  }

  #checked(address: number, sizeBytes: number): number {
    if (address === 0) throw new Unavailable(`kernel memory is exhausted. bytes=${sizeBytes}`);
    return address >>> 0;
  }
}

let compiled: KernelModule | undefined;

/** Compiles the kernels once per thread. `wasm` is needed where there is no file system. */
export function compileKernels(wasm?: Uint8Array): KernelModule {
  compiled ??= new webAssembly.Module(wasm ?? readKernelFile());
  return compiled;
}

// src/ and dist/ are both one level below the package's root.
const WASM_URL = new URL('../build/kernels.wasm', import.meta.url);

function readKernelFile(): Uint8Array {
  // Not imported statically: this file is bundled for browsers too.
  const fs = globalThis.process?.getBuiltinModule?.('node:fs');
  assert(fs !== undefined, 'the bytes of kernels.wasm are passed in where there is no file system');
  return fs.readFileSync(WASM_URL);
}
