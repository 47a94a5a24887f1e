// Why the ingest kernel stopped. In step with assembly/ingest.ts.
export const IngestEvent = {
  Done: 0,
  Line: 1,
  Shard: 2,
  Table: 3,
  Series: 4,
  Conflict: 5,
  Full: 6,
  Memory: 7,
  Retention: 8,
} as const;
