// Public face of @tidemark/tickscript: the syntax of the script language.
export type * from './ast.ts';
