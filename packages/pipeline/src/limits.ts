// Limits of what one script may build, so that any text is processed in bounded time and memory.
import type { Limit } from '@tidemark/core';

export const MAX_NODES: Limit = {
  value: 10_000,
  unit: 'count',
  reason: 'nodes of one task; each costs about 1 kB at rest and a queue while running',
};

export const MAX_CALLS_PER_NODE: Limit = {
  value: 5_000,
  unit: 'count',
  reason: 'properties and handlers of one node; lists and maps are copied with every call',
};

export const MAX_EXPRESSION_SIZE: Limit = {
  value: 500_000,
  unit: 'count',
  reason:
    'operands and operators of all lambdas of a script with the vars put in; vars that hold each other twice double',
};

export const MAX_EXPRESSION_DEPTH: Limit = {
  value: 2_000,
  unit: 'levels',
  reason: 'lambdas are checked, printed and compiled by recursion',
};

export const MAX_STRING_LENGTH: Limit = {
  value: 65_536,
  unit: 'count',
  reason: 'UTF-16 code units of a text that a script computes; a var added to itself doubles',
};
