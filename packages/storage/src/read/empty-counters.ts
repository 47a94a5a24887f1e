// Counters of a request that has read nothing yet.
import type { SourceCounters } from '@tidemark/query';

export function emptyCounters(): SourceCounters {
  return {
    seriesVisited: 0,
    chunksRead: 0,
    chunksSkipped: 0,
    chunksAnsweredByStatistics: 0,
    rowsRead: 0,
    bytesRead: 0,
  };
}
