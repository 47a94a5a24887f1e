// Limits of the parser. Reaching one is a diagnostic, like every other finding about a text.
import type { Limit } from '@tidemark/core';

export const MAX_DEPTH: Limit = {
  setting: 'maxDepth',
  value: 200,
  unit: 'levels',
  reason: 'parsing is recursive; written queries stay below 20',
};

/**
 * Height of an expression tree. A chain of arithmetic is as high as it is long, so this bounds it too. Chains of AND
 * and OR are built balanced and do not count.
 */
export const MAX_HEIGHT: Limit = {
  setting: 'maxHeight',
  value: 1000,
  unit: 'levels',
  reason: 'what walks an expression is recursive and has 984 KiB of stack',
};

export const MAX_DIAGNOSTICS: Limit = {
  setting: 'maxDiagnostics',
  value: 50,
  unit: 'count',
  reason: 'more findings in one text help nobody',
};
