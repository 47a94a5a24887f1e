// Loads the compiled kernels. In Node they are found beside the package; a browser passes the
// bytes.
import { assert, Unavailable } from '@tidemark/core';
import type { KernelExports } from './kernel-exports.ts';
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
    // The only place that trusts the compiler to have made what kernel-exports.ts declares.
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

  /** Scratch buffer `slot` with room for `sizeBytes`. */
  scratch(slot: number, sizeBytes: number): number {
    const address = this.exports.scratch(slot, sizeBytes) >>> 0;
    if (address === 0) throw new Unavailable(`kernel memory is exhausted. bytes=${sizeBytes}`);
    return address;
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
