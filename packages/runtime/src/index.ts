// Public face of @tidemark/runtime: what a task does.
export type * from './services.ts';
