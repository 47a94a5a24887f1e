// Conditions on series and on tag keys as SQL.
import type { Predicate, SchemaFilter, TagKeyMatch } from '@tidemark/query';

import { sqlIn, sqlText } from './literals.ts';

/**
 * Whether a text holds a match. A dot must not match the end of a line. In a group of its own the
 * pattern is not searched for a text that every match holds: 18.16 does not know `(?i)` there.
 */
export function matches(expression: string, operator: '=~' | '!~', pattern: string): string {
  const match = `match(${expression}, ${sqlText(`(?-s:${pattern})`)})`;
  return operator === '=~' ? match : `NOT ${match}`;
}

/**
 * Whether some row of a series may meet the predicate: of tags exactly, of fields whatever they
 * hold. Over the columns of the series table; a missing tag is the empty text.
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
  }
}

function tagValue(key: string): string {
  return `tag_values[indexOf(tag_keys, ${sqlText(key)})]`;
}

/** Names of measurements and tags of a look-up. */
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

/** Which tag keys are meant, of an expression. */
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
