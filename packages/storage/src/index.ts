// Public face of @tidemark/storage: the embedded engine.
export type * from './storage-engine.ts';
