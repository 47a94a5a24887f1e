// Public face of @tidemark/tsdb: the database service.
export { TSDB_CONFIG_SCHEMA } from './config/schema.ts';
export type { TsdbConfig } from './config/schema.ts';
