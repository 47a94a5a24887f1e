// Public face of @tidemark/storage-api: the interface of storage, and the ingest that all storage
// has in common.
export { BodyBuffers } from './body-buffers.ts';
export { canonicalTags } from './canonical-tags.ts';
export type { TagPair } from './canonical-tags.ts';
export { Ingest, INGEST_DEFAULTS, validBody } from './ingest.ts';
export type { IngestedPart, IngestSettings, IngestShards, IngestTarget } from './ingest.ts';
export { seriesLimit, tagValueLimit } from './limit-messages.ts';
export type * from './log.ts';
export { OutcomeCollector } from './outcome-collector.ts';
export { retainPolicies } from './retain-policies.ts';
export { parseSeriesKey } from './series-key.ts';
export { shardBounds } from './shard-bounds.ts';
export type { ShardBounds } from './shard-bounds.ts';
export type * from './maintenance.ts';
export type * from './point-storage.ts';
export type * from './replicas.ts';
export type * from './storage.ts';
export type * from './writes.ts';
