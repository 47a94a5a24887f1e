// The few parts of the WebAssembly API that the loader uses. Declared here because the type
// libraries that have them bring the whole of a browser along, which server packages must not see.

/** Compiled code; structured-cloneable, so it can be sent to another thread. */
export type WasmModule = { readonly __wasmModule: never };
export type WasmMemory = { readonly buffer: ArrayBuffer };
type WasmInstance = { readonly exports: unknown };

type WebAssemblyApi = {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => WasmInstance;
};

/** `globalThis.WebAssembly`. */
export const webAssembly: WebAssemblyApi = (
  globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }
).WebAssembly;
