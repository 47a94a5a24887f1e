// Public face of @tidemark/engine: the service that runs tasks.
export {
  ENGINE_CONFIG_SCHEMA,
  ENGINE_ENVIRONMENT_SCHEMA,
  resolveEngineConfig,
} from './config/config.ts';
export type { EngineConfig } from './config/config.ts';
export type { LogSink } from './observability/log-hub.ts';
export { METRIC_TABLE as ENGINE_METRICS } from './observability/metric-table.ts';
export { startEngine } from './start-engine.ts';
export type { EngineService, StartEngineOptions } from './engine-service.ts';
export { importDefinitions } from './import/import.ts';
export type { ImportOptions, ImportStep } from './import/import.ts';
export { findReach } from './import/found-reach.ts';
export type { FoundReach } from './import/found-reach.ts';
export { leaveCluster } from './cluster/leave.ts';
export type { LeaveOptions } from './cluster/leave.ts';
export { joinCluster } from './cluster/join.ts';
export type { JoinOptions, JoinResult } from './cluster/join.ts';
