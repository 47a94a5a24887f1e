// Loads the compiled kernels. In Node they are in a file of this package; a browser passes their
// bytes.
import { assert, Unavailable } from '@tidemark/core';
import type { Area } from './abi.gen.ts';
import type { KernelExports } from './kernel-exports.gen.ts';
import { webAssembly } from './web-assembly.ts';
import type { WasmMemory, WasmModule } from './web-assembly.ts';

/** Compiled code, which can be sent to another thread and instantiated there. */
export type KernelModule = WasmModule;

/**
 * An instance of the kernels with its own linear memory. The memory never shrinks; dropping the
 * instance frees it. Growing the memory detaches all views, so none may be kept across a call into
 * `exports`.
 */
export class Kernels {
  readonly exports: KernelExports;
  readonly #memory: WasmMemory;
  #bytes: Uint8Array;
  #words: BigInt64Array;

  constructor(module: KernelModule = compileKernels()) {
    const instance = new webAssembly.Instance(module, {});
    // The type is generated from the description of the border, and abi.test.ts compares that with
    // the compiled module.
    this.exports = instance.exports as unknown as KernelExports;
    // Random, so that clients cannot choose keys and names with colliding hashes.
    const [seed = 0n] = crypto.getRandomValues(new BigInt64Array(1));
    this.exports.seedHashes(seed);
    this.#memory = this.exports.memory;
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#words = new BigInt64Array(this.#memory.buffer);
  }

  /** The whole linear memory. Valid until the next call into `exports`. */
  get bytes(): Uint8Array {
    if (this.#bytes.byteLength === 0) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes;
  }

  /** The whole linear memory as 64-bit words. Valid as long as `bytes`. */
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
   * The address of a scratch area with at least `sizeBytes` bytes. Other callers overwrite its
   * contents.
   */
  scratch(area: Area, sizeBytes: number): number {
    return this.#checked(this.exports.scratch(area, sizeBytes), sizeBytes);
  }

  /** Copies an array to a scratch area and returns the address. */
  copyIn(area: Area, { buffer, byteOffset, byteLength }: ArrayBufferView): number {
    const address = this.scratch(area, byteLength);
    this.bytes.set(new Uint8Array(buffer, byteOffset, byteLength), address);
    return address;
  }

  /** Allocates memory, in units of 64 KiB, that belongs to the caller until `free`. */
  allocate(sizeBytes: number): number {
    return this.#checked(this.exports.allocatePages(sizeBytes), sizeBytes);
  }

  /** Frees memory of `allocate`; `sizeBytes` is the requested size. */
  free(address: number, sizeBytes: number): void {
    this.exports.freePages(address, sizeBytes);
  }

  #checked(address: number, sizeBytes: number): number {
    if (address === 0) throw new Unavailable(`kernel memory is exhausted. bytes=${sizeBytes}`);
    return address >>> 0;
  }
}

let compiled: KernelModule | undefined;

/** Compiles the kernels once per thread. Without a file system the bytes must be passed. */
export function compileKernels(wasm?: Uint8Array): KernelModule {
  compiled ??= new webAssembly.Module(wasm ?? readKernelFile());
  return compiled;
}

// src/ and dist/ are both directly in the package's folder.
const WASM_URL = new URL('../build/kernels.wasm', import.meta.url);

function readKernelFile(): Uint8Array {
  // No static import, because this file is bundled for browsers, too.
  const fs = globalThis.process?.getBuiltinModule?.('node:fs');
  assert(fs !== undefined, 'the bytes of kernels.wasm are passed in where there is no file system');
  return fs.readFileSync(WASM_URL);
}
