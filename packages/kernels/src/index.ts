// Public face of @tidemark/kernels: WebAssembly kernels and their typed loader.
export { CodecError } from './codec-error.ts';
export type { CodecErrorReason } from './codec-error.ts';
export { Codecs } from './codecs.ts';
export type { CodecEffort, CodedStrings } from './codecs.ts';
export type * from './ingest-types.ts';
export { BLOCK_VALUES_MAX } from './limits.ts';
export { compileKernels, Kernels } from './loader.ts';
export type { KernelModule } from './loader.ts';
