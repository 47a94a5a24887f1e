// Public face of @tidemark/runtime: what a task does.
export { fieldTypeOf, PointBatchBuilder } from './point-batch.ts';
export type { PointBatch, PointInput, RowBlock, SeriesRef } from './point-batch.ts';
export type * from './running-task.ts';
export type * from './services.ts';
export { clockTimers, VirtualTimers } from './timers.ts';
export type { CancelTimer, Timers } from './timers.ts';
