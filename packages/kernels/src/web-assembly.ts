// The few parts of the WebAssembly API that the loader uses. They are declared here because the
// type libraries that have them declare all globals of a browser, which server packages must not
// see.

/** Compiled code. It can be cloned, and so sent to another thread. */
export type WasmModule = { readonly __wasmModule: never };
export type WasmMemory = { readonly buffer: ArrayBuffer };
type WasmInstance = { readonly exports: unknown };

type WebAssemblyApi = {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => WasmInstance;
};

/** `globalThis.WebAssembly`, typed. */
export const webAssembly: WebAssemblyApi = (
  globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }
).WebAssembly;
