// Public face of @tidemark/kernels: WebAssembly kernels and their typed loader.
export type * from './ingest-types.ts';
