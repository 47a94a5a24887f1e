// The representation of a value in a cell: its word, or the number with its unit, and its level.
import type { Cell as Value } from '@tidemark/client';

import { formatValue } from '../charts/format.ts';
import { levelOf } from '../dashboards/level.ts';
import type { Level } from '../dashboards/level.ts';
import { matches } from '../dashboards/patterns.ts';
import { valueOf } from './option.ts';
import type { Options } from './option.ts';
import { THRESHOLDS } from './options/levels.ts';
import type { Look } from './options/overrides.ts';
import { DECIMALS, MAPPINGS, NO_VALUE, PREFIX, SUFFIX, UNIT } from './options/values.ts';
import type { Mapping } from './options/values.ts';

export type ShownValue = {
  readonly text: string;
  readonly level: Level | undefined;
  /** Whether the text is a word from a mapping. */
  readonly isWord: boolean;
};

/** NaN is a missing number. `look` comes from an override. */
export function shownValue(
  cell: { readonly options: Options },
  value: Value,
  look: Look = {},
): ShownValue {
  const isMissing = value === null || Number.isNaN(value);
  const mapping = (look.mappings ?? valueOf(cell, MAPPINGS)).find((each) => isMapped(each, value));
  const number = typeof value === 'bigint' ? Number(value) : value;
  const level =
    mapping?.level ??
    (typeof number === 'number'
      ? levelOf(number, look.thresholds ?? valueOf(cell, THRESHOLDS))
      : undefined);
  if (mapping !== undefined) return { text: mapping.text, level, isWord: true };
  const noValue = valueOf(cell, NO_VALUE);
  if (isMissing && noValue !== '') return { text: noValue, level, isWord: true };
  if (typeof number !== 'number') {
    return { text: value === null ? '' : String(value), level, isWord: false };
  }
  const text = formatValue(
    number,
    look.unit ?? valueOf(cell, UNIT),
    look.decimals ?? valueOf(cell, DECIMALS),
  );
  return { text: valueOf(cell, PREFIX) + text + valueOf(cell, SUFFIX), level, isWord: false };
}

/** As `shownValue`, but a number without a unit keeps all digits that the database wrote. */
export function exactValue(
  cell: { readonly options: Options },
  value: Value,
  look: Look = {},
): ShownValue {
  const shown = shownValue(cell, value, look);
  const hasShape =
    (look.unit ?? valueOf(cell, UNIT)) !== 'none' ||
    (look.decimals ?? valueOf(cell, DECIMALS)) !== undefined;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  return shown.isWord || hasShape || !isNumber ? shown : { ...shown, text: String(value) };
}

function isMapped({ kind, match, from, to }: Mapping, value: Value): boolean {
  const isMissing = value === null || Number.isNaN(value);
  switch (kind) {
    case 'value':
      return !isMissing && (String(value) === match || isSameNumber(match, value));
    case 'range': {
      const number = typeof value === 'bigint' ? Number(value) : value;
      if (typeof number !== 'number' || isMissing) return false;
      return number >= (from ?? -Infinity) && number <= (to ?? Infinity);
    }
    case 'pattern':
      return !isMissing && matches(match, String(value));
    case 'special':
      if (match === 'null') return isMissing;
      if (match === 'nan') return Number.isNaN(value);
      return match === 'empty' ? value === '' : String(value) === match;
  }
}

/** `1` equals `1.0`. */
const isSameNumber = (match: string, value: Value): boolean =>
  typeof value === 'number' && match.trim() !== '' && Number(match) === value;
