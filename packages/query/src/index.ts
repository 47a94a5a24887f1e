// Public face of @tidemark/query: the meaning of InfluxQL over any SeriesSource.
export type * from './series-source.ts';
