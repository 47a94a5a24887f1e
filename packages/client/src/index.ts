// Public interface of @tidemark/client: typed HTTP clients of both services.
export type { DocumentClient } from './document-client.ts';
export { EngineClient } from './engine-client.ts';
export type * from './engine-types.ts';
export type { ClientOptions, ScriptDiagnostic } from './http.ts';
export { readFailure } from './http.ts';
export { parseLossless, printLossless } from './lossless.ts';
export { TsdbClient } from './tsdb-client.ts';
export type {
  Cell,
  PartialWrite,
  QueryOptions,
  QueryResponse,
  ResponseDiagnostic,
  Result,
  Series,
  WriteOptions,
} from './tsdb-client.ts';
