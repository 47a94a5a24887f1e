// Public face of @tidemark/engine: the service that runs tasks.
export { ENGINE_CONFIG_SCHEMA, ENGINE_ENVIRONMENT_SCHEMA, resolveEngineConfig } from './config.ts';
export type { EngineConfig } from './config.ts';
export type { LogSink } from './log-hub.ts';
export { METRIC_TABLE as ENGINE_METRICS } from './metric-table.ts';
export { startEngine } from './start-engine.ts';
export type { EngineService, StartEngineOptions } from './start-engine.ts';
export { moveIn } from './move-in/move-in.ts';
export type { MoveInOptions, MoveInStep } from './move-in/move-in.ts';
export { findReach } from './found-reach.ts';
export type { FoundReach } from './found-reach.ts';
