// Thresholds from which a value is good, doubtful or bad, and how a chart shows them.
import { fieldAt, fieldsOf, listOf, numberOf, oneOf, textOf } from '../../dashboards/fields.ts';
import type { Fields } from '../../dashboards/fields.ts';
import { LEVELS } from '../../dashboards/level.ts';
import type { CellThreshold } from '../../dashboards/level.ts';
import { texts } from '../../texts/texts.ts';
import { check, choice } from '../option.ts';
import type { GrafanaPanel, OptionRow } from '../option.ts';
import { levelOfColour } from './colours.ts';

const t = texts.cells;

const THRESHOLDS_MAX = 200;

export const THRESHOLDS: OptionRow<readonly CellThreshold[]> = {
  name: 'thresholds',
  group: 'thresholds',
  grafanaPaths: ['defaults.thresholds', 'thresholds', 'colors', 'options.fieldOptions.thresholds'],
  label: t.thresholds,
  editor: { kind: 'thresholds' },
  read: (value) =>
    listOf(value)
      .slice(0, THRESHOLDS_MAX)
      .map(fieldsOf)
      .map(({ value: limit, level }) => ({
        value: numberOf(limit, 0),
        level: oneOf(LEVELS, level, 'warn'),
      })),
  fromGrafana: (panel) => {
    const found = thresholdsOf(panel);
    return found.length === 0 ? undefined : found;
  },
  fromChronograf: (cell) => {
    const found = listOf(cell['colors']).map(fieldsOf).flatMap(chronografThreshold);
    return found.length === 0 ? undefined : found;
  },
};

function thresholdsOf({ panel, defaults, options }: GrafanaPanel): readonly CellThreshold[] {
  const given = grafanaSteps(defaults['thresholds']);
  if (given.length > 0) return given;
  // Version 6 has them beside the other options of a gauge.
  const early = grafanaSteps({ steps: fieldAt(options, 'fieldOptions', 'thresholds') });
  if (early.length > 0) return early;
  const old = panel['thresholds'];
  if (typeof old === 'string') return limitsOf(old, listOf(panel['colors']));
  return listOf(old).map(fieldsOf).flatMap(legacyThreshold);
}

/** `thresholds` of a field. */
export function grafanaSteps(value: unknown): readonly CellThreshold[] {
  return listOf(fieldsOf(value)['steps'])
    .map(fieldsOf)
    .flatMap(({ value: limit, color }): readonly CellThreshold[] =>
      typeof limit === 'number' ? [{ value: limit, level: levelOfColour(textOf(color)) }] : [],
    );
}

/** Thresholds of a single value: "70,90", between three colours. */
function limitsOf(text: string, colours: readonly unknown[]): readonly CellThreshold[] {
  if (text.trim() === '') return [];
  const limits = text
    .split(',')
    .map(Number)
    .filter((limit) => !Number.isNaN(limit));
  return limits.map((value, i) => {
    const colour = colours[i + 1];
    if (typeof colour === 'string') return { value, level: levelOfColour(colour) };
    return { value, level: i === limits.length - 1 ? 'bad' : 'warn' };
  });
}

const LEGACY_LEVELS: Readonly<Record<string, CellThreshold['level']>> = {
  critical: 'bad',
  ok: 'good',
};

function legacyThreshold({ value, colorMode, fillColor, lineColor }: Fields): CellThreshold[] {
  if (typeof value !== 'number') return [];
  const own = textOf(fillColor, textOf(lineColor));
  if (colorMode === 'custom' && own !== '') return [{ value, level: levelOfColour(own) }];
  return [{ value, level: LEGACY_LEVELS[textOf(colorMode)] ?? 'warn' }];
}

function chronografThreshold({ type, id, value, name, hex }: Fields): readonly CellThreshold[] {
  if ((type !== 'threshold' && type !== 'text') || id === 'base') return [];
  const limit = Number(value ?? 0);
  if (!Number.isFinite(limit)) return [];
  const called = textOf(name);
  const level = levelOfColour(called === '' ? textOf(hex) : called);
  return [{ value: limit, level }];
}

/** Thresholds are shares of the range from the smallest to the largest value. */
export const ARE_SHARES = check({
  name: 'areShares',
  group: 'thresholds',
  grafanaPaths: ['defaults.thresholds.mode'],
  label: t.areShares,
  fromGrafana: ({ defaults }) =>
    fieldAt(defaults, 'thresholds', 'mode') === 'percentage' ? true : undefined,
});

export const IS_BY_VALUE = check({
  name: 'isByValue',
  group: 'thresholds',
  grafanaPaths: ['defaults.custom.gradientMode=scheme'],
  label: t.isByValue,
  fromGrafana: ({ custom }) => (custom['gradientMode'] === 'scheme' ? true : undefined),
});

const STYLES = { line: t.style.line, area: t.style.area, both: t.style.both, off: t.style.off };

export const THRESHOLD_STYLE = choice(
  {
    name: 'thresholdStyle',
    group: 'thresholds',
    grafanaPaths: ['defaults.custom.thresholdsStyle'],
    label: t.thresholdStyle,
    fromGrafana: ({ panel, custom }) => {
      const mode = textOf(fieldAt(custom, 'thresholdsStyle', 'mode'));
      if (mode !== '') return grafanaStyle(mode);
      const old = listOf(panel['thresholds']).map(fieldsOf);
      if (old.length === 0) return 'off';
      const isFilled = old.some(({ fill }) => fill === true);
      const hasLine = old.some(({ line }) => line !== false);
      return isFilled ? (hasLine ? 'both' : 'area') : 'line';
    },
  },
  STYLES,
  'line',
);

function grafanaStyle(mode: string): keyof typeof STYLES {
  const isFilled = mode.includes('area');
  const hasLine = mode.includes('line') || mode.includes('dashed');
  if (isFilled) return hasLine ? 'both' : 'area';
  return hasLine ? 'line' : 'off';
}
