// Public face of @tidemark/tsdb: the database service.
export { TSDB_CONFIG } from './config/schema.ts';
export type { TsdbConfig } from './config/schema.ts';
export { startTsdb } from './service.ts';
export type { TsdbDependencies, TsdbService } from './service.ts';
