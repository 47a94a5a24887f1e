// Public face of @tidemark/storage: the embedded engine.
export { openStorage, openStorageInline } from './open.ts';
export type { StorageEnvironment, StorageLog, StorageOptions } from './options.ts';
export type * from './storage-engine.ts';
