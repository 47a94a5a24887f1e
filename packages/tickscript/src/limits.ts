// Limits of the parser, so that any text is processed in bounded time and memory.
import type { Limit } from '@tidemark/core';

export const MAX_SCRIPT_LENGTH: Limit = {
  value: 1_000_000,
  unit: 'count',
  reason:
    'UTF-16 code units of a script; generated scripts of real installations stay below 100,000',
};

export const MAX_TREE_DEPTH: Limit = {
  value: 2_000,
  unit: 'levels',
  reason:
    'formatter, evaluation and lambda compilation recurse over the tree; 2,000 levels fit the stack ten times',
};

export const MAX_NESTING: Limit = {
  value: 200,
  unit: 'levels',
  reason:
    'parentheses, calls and signs inside each other; each costs several stack frames of the parser',
};

export const MAX_DIAGNOSTICS: Limit = {
  value: 20,
  unit: 'count',
  reason: 'more findings about one script help nobody',
};
