// Public face of @tidemark/influxql: the syntax of the query language.
export type * from './ast.ts';
export type { BindParameter, ParseOptions, ParseResult } from './parse.ts';
