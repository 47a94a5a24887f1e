// Public face of @tidemark/tsdb: the database service.
export { restoreOffline } from './backup/restore-offline.ts';
export type { RestoreOutcome } from './backup/restore.ts';
export { checkCatalog } from './catalog/catalog-tools.ts';
export { TSDB_CONFIG } from './config/schema.ts';
export type { TsdbConfig } from './config/schema.ts';
export { startTsdb } from './service.ts';
export { METRIC_TABLE as TSDB_METRICS } from './stats/metric-table.ts';
export type { TsdbDependencies, TsdbService } from './service.ts';
