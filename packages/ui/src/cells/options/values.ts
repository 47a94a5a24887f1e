// The format of single values: unit, decimals, and words for some values.
import { fieldAt, fieldsOf, listOf, numberOf, textOf } from '../../dashboards/fields.ts';
import type { Fields } from '../../dashboards/fields.ts';
import { LEVELS } from '../../dashboards/level.ts';
import type { Level } from '../../dashboards/level.ts';
import { texts } from '../../texts/texts.ts';
import { optionalNumber, text } from '../option.ts';
import type { GrafanaPanel, OptionRow } from '../option.ts';
import { levelOfColour } from './colours.ts';

const t = texts.cells;

export const UNIT: OptionRow<string> = {
  name: 'unit',
  grafanaPaths: ['defaults.unit', 'yaxes.0.format', 'format', 'styles'],
  label: t.unit,
  hint: t.unitHint,
  editor: { kind: 'unit' },
  read: (value) => textOf(value, 'none'),
  fromGrafana: ({ panel, defaults }) => {
    const axis = fieldsOf(listOf(panel['yaxes'])[0]);
    const column = listOf(panel['styles'])
      .map(fieldsOf)
      .find(({ type, unit }) => type === 'number' && textOf(unit, 'short') !== 'short');
    return grafanaUnit(
      textOf(
        defaults['unit'],
        textOf(axis['format'], textOf(panel['format'], textOf(column?.['unit']))),
      ),
    );
  },
  fromChronograf: (cell) => chronografUnit(fieldsOf(fieldAt(cell, 'axes', 'y'))),
};

export function grafanaUnit(name: string): string | undefined {
  return name === '' || name === 'short' ? undefined : name;
}

/** Chronograf's suffix of numbers is free text; some suffixes are units. */
function chronografUnit({ suffix, base }: Fields): string | undefined {
  const behind = textOf(suffix).trim();
  if (behind === '%') return 'percent';
  if (/^(?:b|bytes?)$/i.test(behind)) return 'bytes';
  if (/^(?:b|bytes?)\/s(?:ec)?$/i.test(behind)) return 'bytes-per-second';
  if (behind === 'ns' || behind === 'ms' || behind === 's') return behind;
  if (behind !== '') return `suffix:${behind}`;
  return textOf(base) === '2' ? 'bytes' : undefined;
}

export const DECIMALS = optionalNumber({
  name: 'decimals',
  grafanaPaths: ['defaults.decimals', 'decimals', 'yaxes.0.decimals', 'legend.decimals'],
  label: t.decimals,
  fromGrafana: ({ panel, defaults }) =>
    numberOf(
      defaults['decimals'],
      numberOf(panel['decimals'], numberOf(fieldAt(panel, 'yaxes', '0', 'decimals'), undefined)),
    ),
  fromChronograf: (cell) => {
    const { isEnforced, digits } = fieldsOf(cell['decimalPlaces']);
    return isEnforced === true ? numberOf(digits, undefined) : undefined;
  },
});

export const PREFIX = text({
  name: 'prefix',
  grafanaPaths: ['prefix'],
  label: t.prefix,
  fromGrafana: ({ panel }) => textOf(panel['prefix']) || undefined,
  fromChronograf: (cell) => textOf(fieldAt(cell, 'axes', 'y', 'prefix')) || undefined,
});

export const SUFFIX = text({
  name: 'suffix',
  grafanaPaths: ['postfix'],
  label: t.suffix,
  fromGrafana: ({ panel }) => textOf(panel['postfix']) || undefined,
});

/** Shown instead of a missing value. */
export const NO_VALUE = text({
  name: 'noValue',
  grafanaPaths: ['defaults.noValue', 'nullText'],
  label: t.noValue,
  fromGrafana: ({ panel, defaults }) =>
    textOf(defaults['noValue'], textOf(panel['nullText'])) || undefined,
});

/** A value, an open or closed range, a pattern or a special value, and the word for it. */
export type Mapping = {
  readonly kind: 'value' | 'range' | 'pattern' | 'special';
  /** The value, the pattern, or `null`, `nan`, `empty`, `true`, `false`. */
  readonly match: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly text: string;
  readonly level?: Level | undefined;
};

export const MAPPING_KINDS = ['value', 'range', 'pattern', 'special'] as const;

export function readMapping(value: unknown): Mapping {
  const { kind, match, from, to, text: word, level } = fieldsOf(value);
  return {
    kind: MAPPING_KINDS.find((each) => each === kind) ?? 'value',
    match: textOf(match),
    from: numberOf(from, undefined),
    to: numberOf(to, undefined),
    text: textOf(word),
    level: LEVELS.find((each) => each === level),
  };
}

export const MAPPINGS: OptionRow<readonly Mapping[]> = {
  name: 'mappings',
  group: 'mappings',
  grafanaPaths: [
    'defaults.mappings',
    'valueMaps',
    'rangeMaps',
    'mappingType',
    'mappingTypes',
    'options.fieldOptions.mappings',
    'options.fieldOptions.defaults.mappings',
  ],
  label: t.mappings,
  editor: { kind: 'mappings' },
  read: (value) => listOf(value).map(readMapping),
  fromGrafana: (panel) => {
    const found = mappingsOf(panel);
    return found.length === 0 ? undefined : found;
  },
};

function mappingsOf({ panel, defaults }: GrafanaPanel): readonly Mapping[] {
  const newer = listOf(defaults['mappings']).flatMap(grafanaMapping);
  if (newer.length > 0) return newer;
  // Old panels of single values have either the one or the other.
  const { mappingType } = panel;
  const ranges = listOf(panel['rangeMaps']).flatMap((each) => legacyRange(fieldsOf(each)));
  const values = listOf(panel['valueMaps']).flatMap((each) => legacyValue(fieldsOf(each)));
  const styles = listOf(panel['styles'])
    .map(fieldsOf)
    .flatMap((style) => [
      ...listOf(style['valueMaps']).flatMap((each) => legacyValue(fieldsOf(each))),
      ...listOf(style['rangeMaps']).flatMap((each) => legacyRange(fieldsOf(each))),
    ]);
  return mappingType === 2 ? ranges : [...values, ...styles];
}

/** A mapping of a panel, as versions 7 and 8 write it. */
export function grafanaMapping(value: unknown): readonly Mapping[] {
  const mapping = fieldsOf(value);
  const { type } = mapping;
  const options = fieldsOf(mapping['options']);
  switch (type) {
    case 1:
      return legacyValue(mapping);
    case 2:
      return legacyRange(mapping);
    case 'value':
      return Object.entries(options).map(([match, result]) => ({
        kind: 'value',
        match,
        ...resultOf(result, match),
      }));
    case 'range':
      return [
        {
          kind: 'range',
          match: '',
          from: numberOf(options['from'], undefined),
          to: numberOf(options['to'], undefined),
          ...resultOf(options['result'], ''),
        },
      ];
    case 'regex':
      return [
        { kind: 'pattern', match: textOf(options['pattern']), ...resultOf(options['result'], '') },
      ];
    case 'special':
      return specialOf(textOf(options['match'])).map((match) => ({
        kind: 'special',
        match,
        ...resultOf(options['result'], match),
      }));
    default:
      return [];
  }
}

const specialOf = (match: string): readonly string[] =>
  match === 'null+nan' ? ['null', 'nan'] : [match];

function resultOf(value: unknown, missing: string): Pick<Mapping, 'text' | 'level'> {
  const { text: word, color } = fieldsOf(value);
  const level = typeof color === 'string' ? levelOfColour(color) : undefined;
  return { text: textOf(word, missing), level };
}

function legacyValue({ value, text: word, op }: Fields): readonly Mapping[] {
  if (op !== undefined && op !== '=') return [];
  const match = String(value ?? '');
  // A mapping without a word is an empty row of the editor.
  if (textOf(word) === '') return [];
  const kind = match === 'null' ? 'special' : 'value';
  return [{ kind, match, text: textOf(word) }];
}

function legacyRange({ from, to, text: word }: Fields): readonly Mapping[] {
  if (textOf(word) === '') return [];
  if (from === 'null' && to === 'null') {
    return [{ kind: 'special', match: 'null', text: textOf(word) }];
  }
  const limit = (value: unknown): number | undefined =>
    value === '' || value === undefined || value === null || Number.isNaN(Number(value))
      ? undefined
      : Number(value);
  return [{ kind: 'range', match: '', from: limit(from), to: limit(to), text: textOf(word) }];
}
