// Public face of @tidemark/storage: the embedded engine.
export { openStorageInline } from './engine/open-inline.ts';
export { openStorage } from './thread/open-storage.ts';
export { NewerFormat } from './damage.ts';
export { readCheckedFile, writeCheckedFile } from './disk/checked-file.ts';
export { Journal, readState } from './disk/journal.ts';
export type { JournalPlace } from './disk/journal.ts';
export { DiskReserve } from './disk/reserve.ts';
export type { Disk } from './disk/disk.ts';
export { nodeDisk } from './disk/node-disk.ts';
export { lockStorage } from './disk/storage-lock.ts';
export type { StorageEnvironment } from './engine/environment.ts';
export { LIMITS } from './limits.ts';
export type { StorageOptions } from './options.ts';
export type { ToolOptions, ToolProgress } from './tools/directory.ts';
export { inspectDirectory } from './tools/inspect.ts';
export type {
  ColumnReport,
  MeasurementReport,
  SegmentReport,
  ShardReport,
} from './tools/inspect.ts';
export { repairDirectory } from './tools/repair.ts';
export type { KnownPolicy } from './tools/directory.ts';
export type { RepairReport } from './tools/repair.ts';
export { openArriving, withAttachments } from './backup/arriving.ts';
export { describeBackup, joinBackups, storeBackup } from './backup/chain.ts';
export type { BackupProgress } from './backup/chain.ts';
export { encodeFailure } from './backup/format.ts';
export type { BackupContents } from './backup/format.ts';
export { verifyDirectory } from './tools/verify.ts';
export type { VerifyReport } from './tools/verify.ts';
