// Public face of @tidemark/pipeline: what a task says.
export type * from './pipeline.ts';
