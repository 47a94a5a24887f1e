// Limits of the parser. Reaching one is a diagnostic that names the setting.
import type { Limit, SettingLimit } from '@tidemark/core';

/**
 * The limits of a text for the parser and for everything that walks its tree. Absent means the
 * default.
 */
export type ParseLimits = {
  /** `coordinator.max-query-depth`; 0 and more than `HIGHEST_DEPTH` mean `HIGHEST_DEPTH`. */
  readonly maxDepth?: number | undefined;
  /** `coordinator.max-query-tokens`; 0 is no limit. */
  readonly maxTokens?: number | undefined;
  /**
   * `coordinator.max-query-operators`; 0 and more than `HIGHEST_OPERATORS` mean
   * `HIGHEST_OPERATORS`.
   */
  readonly maxOperators?: number | undefined;
  /** `coordinator.max-regex-length`; 0 is no limit. */
  readonly maxRegexLength?: number | undefined;
};

export const MAX_DEPTH: SettingLimit = {
  setting: 'coordinator.max-query-depth',
  value: 200,
  unit: 'levels',
  reason: 'parsing is recursive; written queries stay below 20',
};

/** The limit of the stack, whatever is configured. */
export const HIGHEST_DEPTH = 500;

/**
 * Height of an expression tree. A chain of arithmetic is as high as it is long, so this bounds it
 * too. Chains of AND and OR are built balanced and do not count.
 */
export const MAX_OPERATORS: SettingLimit = {
  setting: 'coordinator.max-query-operators',
  value: 1000,
  unit: 'levels',
  reason: 'what walks an expression is recursive and has 984 KiB of stack',
};

/** The limit of the stack, whatever is configured. */
export const HIGHEST_OPERATORS = 1000;

export const MAX_TOKENS: SettingLimit = {
  setting: 'coordinator.max-query-tokens',
  value: 100_000,
  unit: 'count',
  reason: 'a text is parsed in one go, about a microsecond per token, while others wait',
};

export const MAX_REGEX_LENGTH: SettingLimit = {
  setting: 'coordinator.max-regex-length',
  value: 64 * 1024,
  unit: 'count',
  reason: 'a regular expression is compiled in one go, about a millisecond per thousand characters',
};

export const MAX_DIAGNOSTICS: Limit = {
  value: 50,
  unit: 'count',
  reason: 'more findings in one text help nobody',
};

/** Longer texts are seldom sent again. */
export const MAX_CACHED_TEXT: Limit = {
  value: 4096,
  unit: 'count',
  reason: 'texts of dashboards have some hundred characters',
};

export const MAX_CACHED_CHARACTERS: Limit = {
  value: 128 * 1024,
  unit: 'count',
  reason: 'a tree takes some 20 bytes for each character of its text',
};

/** The effective limit: the given one, unless that is 0 or more than the highest possible. */
export function limitOf(given: number | undefined, limit: Limit, highest = Infinity): number {
  const value = given ?? limit.value;
  return value === 0 ? highest : Math.min(value, highest);
}

/** `coordinator.max-query-depth` as messages name it: `max-query-depth`. */
export function nameOf({ setting }: SettingLimit): string {
  return setting.slice(setting.indexOf('.') + 1);
}
