// Settings of single series and columns: which they apply to, and what they change.
import { fieldAt, fieldsOf, listOf, numberOf, oneOf, textOf } from '../../dashboards/fields.ts';
import type { Fields } from '../../dashboards/fields.ts';
import type { CellThreshold } from '../../dashboards/level.ts';
import { texts } from '../../texts/texts.ts';
import type { GrafanaPanel, OptionRow } from '../option.ts';
import { seriesColourOf } from './colours.ts';
import { grafanaSteps, THRESHOLDS } from './levels.ts';
import { grafanaMapping, grafanaUnit, readMapping } from './values.ts';
import type { Mapping } from './values.ts';

const t = texts.cells;

export const FORMS = ['line', 'area', 'bars', 'points'] as const;

/** The differing look of a series; missing members are as in the cell. */
export type Look = {
  readonly label?: string | undefined;
  readonly unit?: string | undefined;
  readonly decimals?: number | undefined;
  /** `series-1` … or a level. */
  readonly colour?: string | undefined;
  readonly axis?: 'left' | 'right' | undefined;
  readonly form?: (typeof FORMS)[number] | undefined;
  readonly lineWidth?: number | undefined;
  readonly fill?: number | undefined;
  readonly isDashed?: boolean | undefined;
  readonly isHidden?: boolean | undefined;
  readonly isNegative?: boolean | undefined;
  readonly isAlone?: boolean | undefined;
  readonly mappings?: readonly Mapping[] | undefined;
  readonly thresholds?: readonly CellThreshold[] | undefined;
};

export const MATCHERS = ['name', 'pattern', 'query', 'all'] as const;

export type Override = {
  /** The name of a series or column, a pattern over names, the letter of a query, or all. */
  readonly by: (typeof MATCHERS)[number];
  readonly match: string;
  readonly look: Look;
};

const COLOUR = /^(?:series-\d+|good|warn|bad|info|muted)$/;

function readLook(value: unknown): Look {
  const fields = fieldsOf(value);
  const flag = (name: string): boolean | undefined => (fields[name] === true ? true : undefined);
  const { label, unit, colour, axis, form, mappings, thresholds } = fields;
  return {
    label: textOf(label) || undefined,
    unit: textOf(unit) || undefined,
    decimals: numberOf(fields['decimals'], undefined),
    colour: COLOUR.test(textOf(colour)) ? textOf(colour) : undefined,
    axis: axis === 'left' || axis === 'right' ? axis : undefined,
    form: FORMS.find((each) => each === form),
    lineWidth: numberOf(fields['lineWidth'], undefined),
    fill: numberOf(fields['fill'], undefined),
    isDashed: flag('isDashed'),
    isHidden: flag('isHidden'),
    isNegative: flag('isNegative'),
    isAlone: flag('isAlone'),
    mappings: Array.isArray(mappings) ? mappings.map(readMapping) : undefined,
    thresholds: Array.isArray(thresholds) ? THRESHOLDS.read(thresholds) : undefined,
  };
}

export const OVERRIDES: OptionRow<readonly Override[]> = {
  name: 'overrides',
  group: 'overrides',
  grafanaPaths: ['seriesOverrides', 'aliasColors', 'yaxes.1', 'styles'],
  label: t.overrides,
  editor: { kind: 'overrides' },
  read: (value) =>
    listOf(value)
      .map(fieldsOf)
      .map(({ by, match, look }) => ({
        by: oneOf(MATCHERS, by, 'name'),
        match: textOf(match),
        look: readLook(look),
      })),
  fromGrafana: (panel) => {
    const found = overridesOf(panel);
    return found.length === 0 ? undefined : found;
  },
};

function overridesOf(panel: GrafanaPanel): readonly Override[] {
  const { overrides } = fieldsOf(panel.panel['fieldConfig']);
  return [
    ...rightAxisOf(panel),
    ...listOf(overrides).map(fieldsOf).flatMap(overrideOf),
    ...listOf(panel.panel['seriesOverrides']).map(fieldsOf).map(legacyOverride),
    ...Object.entries(fieldsOf(panel.panel['aliasColors'])).map(([match, colour]): Override => ({
      by: 'name',
      match,
      look: { colour: seriesColourOf(textOf(colour)) },
    })),
    ...listOf(panel.panel['styles']).map(fieldsOf).flatMap(styleOf),
  ].filter(({ look }) => Object.values(look).some((each) => each !== undefined));
}

/** The unit of the second axis of old panels, for the series that an override moves there. */
function rightAxisOf({ panel }: GrafanaPanel): readonly Override[] {
  const axis = fieldsOf(listOf(panel['yaxes'])[1]);
  const unit = grafanaUnit(textOf(axis['format'])) ?? 'none';
  return listOf(panel['seriesOverrides'])
    .map(fieldsOf)
    .filter(({ yaxis }) => yaxis === 2)
    .map(({ alias }) => ({ ...matcherOfAlias(textOf(alias)), look: { unit } }));
}

const matcherOfAlias = (alias: string): Pick<Override, 'by' | 'match'> => ({
  by: /^\/.*\/\w*$/s.test(alias) ? 'pattern' : 'name',
  match: alias,
});

/** `undefined` for matchers that find no series of ours. */
export function matcherOf(matcher: Fields): Pick<Override, 'by' | 'match'> | undefined {
  const { id, options } = matcher;
  switch (id) {
    case 'byName':
      return { by: 'name', match: textOf(options) };
    case 'byNames':
      return {
        by: 'pattern',
        match: `/^(?:${listOf(fieldAt(options, 'names'))
          .map((name) => textOf(name).replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
          .join('|')})$/`,
      };
    case 'byRegexp':
      return { by: 'pattern', match: textOf(options) };
    case 'byFrameRefID':
      return { by: 'query', match: textOf(options) };
    case 'byType':
      return options === 'number' ? { by: 'all', match: '' } : undefined;
    default:
      return undefined;
  }
}

function overrideOf({ matcher, properties }: Fields): readonly Override[] {
  const found = matcherOf(fieldsOf(matcher));
  if (found === undefined) return [];
  const look = listOf(properties)
    .map(fieldsOf)
    .reduce<Look>((all, property) => ({ ...all, ...propertyOf(property) }), {});
  return [{ ...found, look }];
}

/** Empty for a property without a counterpart. */
export function propertyOf({ id, value }: Fields): Look {
  switch (id) {
    case 'displayName':
      return { label: textOf(value) || undefined };
    case 'unit':
      return { unit: grafanaUnit(textOf(value)) };
    case 'decimals':
      return { decimals: numberOf(value, undefined) };
    case 'color':
      return { colour: seriesColourOf(textOf(fieldAt(value, 'fixedColor'))) };
    case 'mappings':
      return { mappings: listOf(value).flatMap(grafanaMapping) };
    case 'thresholds':
      return { thresholds: grafanaSteps(value) };
    case 'custom.axisPlacement':
      return value === 'right' || value === 'left' ? { axis: value } : {};
    case 'custom.drawStyle':
      return { form: FORMS.find((form) => form === value) };
    case 'custom.lineWidth':
      return { lineWidth: numberOf(value, undefined) };
    case 'custom.fillOpacity':
      return { fill: numberOf(value, undefined) };
    case 'custom.lineStyle':
      return { isDashed: ['dash', 'dot'].includes(textOf(fieldAt(value, 'fill'))) || undefined };
    case 'custom.hideFrom':
      return { isHidden: fieldAt(value, 'viz') === true || undefined };
    case 'custom.hidden':
      return { isHidden: value === true || undefined };
    case 'custom.transform':
      return { isNegative: value === 'negative-Y' || undefined };
    case 'custom.stacking':
      return { isAlone: fieldAt(value, 'mode') === 'none' || undefined };
    default:
      return {};
  }
}

function legacyOverride(fields: Fields): Override {
  const { alias, yaxis, color, fill, linewidth, bars, lines, points, dashes } = fields;
  const form =
    bars === true && lines !== true
      ? 'bars'
      : points === true && lines === false
        ? 'points'
        : lines === true
          ? 'line'
          : undefined;
  const tenths = numberOf(fill, undefined);
  return {
    ...matcherOfAlias(textOf(alias)),
    look: {
      axis: yaxis === 2 ? 'right' : undefined,
      colour: seriesColourOf(textOf(color)),
      fill: tenths === undefined ? undefined : tenths * 10,
      lineWidth: numberOf(linewidth, undefined),
      form,
      isDashed: dashes === true || undefined,
      isHidden: (lines === false && bars !== true && points !== true) || undefined,
      isNegative: fields['transform'] === 'negative-Y' || undefined,
      isAlone: fields['stack'] === false || undefined,
    },
  };
}

/** A column of a table from before version 7. */
function styleOf(style: Fields): readonly Override[] {
  const { pattern, alias, unit, decimals, type } = style;
  const match = textOf(pattern);
  if (match === '' || type === 'date') {
    return textOf(alias) === '' || match === ''
      ? []
      : [{ ...matcherOfAlias(match), look: { label: textOf(alias) } }];
  }
  const look: Look = {
    label: textOf(alias) || undefined,
    unit: type === 'number' ? grafanaUnit(textOf(unit)) : undefined,
    decimals: type === 'number' ? numberOf(decimals, undefined) : undefined,
    isHidden: type === 'hidden' || undefined,
  };
  return [{ ...matcherOfAlias(match), look }];
}
