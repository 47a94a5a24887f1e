// Public face of @tidemark/storage: the embedded engine.
export { openStorageInline } from './open-inline.ts';
export { openStorage } from './thread/open-storage.ts';
export type { StorageEnvironment, StorageLog, StorageOptions } from './options.ts';
export type * from './storage-engine.ts';
