// SQL conditions on series and tag keys.
import { AssertionFailed } from '@tidemark/core';
import type { Predicate, SchemaFilter, TagKeyMatch } from '@tidemark/query';

import { sqlIn, sqlText } from './literals.ts';

/**
 * Whether a text has a match. The flag makes the dot not match a newline. The group around the
 * pattern keeps 18.16 from searching for a literal substring first, in which it ignores `(?i)`.
 */
export function matches(expression: string, operator: '=~' | '!~', pattern: string): string {
  const match = `match(${expression}, ${sqlText(`(?-s:${pattern})`)})`;
  return operator === '=~' ? match : `NOT ${match}`;
}

/**
 * Whether a series may have rows that satisfy the predicate: conditions on tags are exact,
 * conditions on fields count as true. Over the series table; a missing tag is an empty text.
 */
export function seriesCondition(predicate: Predicate): string {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const word = predicate.kind === 'and' ? 'AND' : 'OR';
      return `(${seriesCondition(predicate.left)} ${word} ${seriesCondition(predicate.right)})`;
    }
    case 'constant':
      return predicate.value ? '1' : '0';
    case 'tag':
      return `${tagValue(predicate.key)} ${predicate.operator} ${sqlText(predicate.value)}`;
    case 'tag-regex':
      return matches(tagValue(predicate.key), predicate.operator, predicate.pattern);
    case 'field':
    case 'field-regex':
      return '1';
    case 'calculated':
      throw new AssertionFailed('the source does not calculate conditions');
  }
}

function tagValue(key: string): string {
  return `tag_values[indexOf(tag_keys, ${sqlText(key)})]`;
}

/** The condition of a look-up on measurements and tags. */
export function filterCondition(
  filter: Pick<SchemaFilter, 'measurements' | 'measurementPattern' | 'where'>,
): string {
  const { measurements, measurementPattern, where } = filter;
  const parts = [
    ...(measurements === undefined ? [] : [inTexts('measurement', measurements)]),
    ...(measurementPattern === undefined ? [] : [matches('measurement', '=~', measurementPattern)]),
    ...(where === undefined ? [] : [seriesCondition(where)]),
  ];
  return parts.length === 0 ? '1' : parts.join(' AND ');
}

function inTexts(expression: string, texts: readonly string[]): string {
  return sqlIn(expression, texts.map(sqlText));
}

/** Whether an expression is one of the selected tag keys. */
export function keyCondition(expression: string, match: TagKeyMatch): string {
  switch (match.kind) {
    case 'in':
      return inTexts(expression, match.keys);
    case 'not':
      return `${expression} != ${sqlText(match.key)}`;
    case 'regex':
      return matches(expression, match.operator, match.pattern);
  }
}
