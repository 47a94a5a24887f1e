// Entry point of the package: text in, tree and diagnostics out. Total and bounded: no text makes it throw.
import type { Diagnostic } from '@tidemark/core';

import type { Query } from './ast.ts';

/** Values of `$name` placeholders, as read from the `params` JSON object (integers as bigint, others as number). */
export type BindParameter =
  | number
  | bigint
  | boolean
  | string
  | null
  | readonly unknown[]
  | { readonly [kind: string]: unknown };

export type ParseOptions = {
  readonly parameters?: ReadonlyMap<string, BindParameter> | undefined;
  /** Nesting of parentheses, calls and subqueries; default 200. */
  readonly maxDepth?: number | undefined;
};

/**
 * `error` is the first problem with the text that existing clients know (`found FOO, expected … at line 1, char 8`),
 * without the prefix `error parsing query: `; when it is set, no statement may be run. `diagnostics` carries the same
 * and further findings with spans and hints.
 */
export type ParseResult = {
  readonly query: Query;
  readonly error?: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};
