// How lines over time are drawn, and what their axis shows.
import { fieldAt, fieldsOf, listOf, numberOf, textOf } from '../../dashboards/fields.ts';
import type { Fields } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import { check, choice, number, optionalDuration, optionalNumber, text } from '../option.ts';
import type { GrafanaPanel } from '../option.ts';

const t = texts.cells;

/** Files have a number, or a text with one. */
function limitOf(value: unknown): number | undefined {
  if (typeof value === 'string' && value.trim() !== '') return numberOf(Number(value), undefined);
  return numberOf(value, undefined);
}

const leftAxis = ({ panel }: GrafanaPanel): Fields => fieldsOf(listOf(panel['yaxes'])[0]);

/** `bounds` of an axis of Chronograf. */
const boundOf = (cell: Fields, at: number, axis = 'y'): number | undefined =>
  limitOf(listOf(fieldAt(cell, 'axes', axis, 'bounds'))[at]);

export const Y_MIN = optionalNumber({
  name: 'yMin',
  group: 'axis',
  grafanaPaths: ['defaults.min', 'yaxes.0.min'],
  label: t.yMin,
  fromGrafana: (all) => limitOf(all.defaults['min']) ?? limitOf(leftAxis(all)['min']),
  fromChronograf: (cell) => boundOf(cell, 0),
});

export const Y_MAX = optionalNumber({
  name: 'yMax',
  group: 'axis',
  grafanaPaths: ['defaults.max', 'yaxes.0.max'],
  label: t.yMax,
  fromGrafana: (all) => limitOf(all.defaults['max']) ?? limitOf(leftAxis(all)['max']),
  fromChronograf: (cell) => boundOf(cell, 1),
});

/** Bounds that values may exceed. */
export const SOFT_MIN = optionalNumber({
  name: 'softMin',
  group: 'axis',
  grafanaPaths: ['defaults.custom.axisSoftMin'],
  label: t.softMin,
  fromGrafana: ({ custom }) => limitOf(custom['axisSoftMin']),
});

export const SOFT_MAX = optionalNumber({
  name: 'softMax',
  group: 'axis',
  grafanaPaths: ['defaults.custom.axisSoftMax'],
  label: t.softMax,
  fromGrafana: ({ custom }) => limitOf(custom['axisSoftMax']),
});

export const SCALE = choice(
  {
    name: 'scale',
    group: 'axis',
    grafanaPaths: ['defaults.custom.scaleDistribution', 'yaxes.0.logBase'],
    label: t.scale,
    fromGrafana: (all) => {
      const { type: scale, log } = fieldsOf(all.custom['scaleDistribution']);
      const base = scale === 'log' ? Number(log ?? 10) : Number(leftAxis(all)['logBase'] ?? 1);
      if (base === 2) return 'log2';
      return base > 1 ? 'log10' : undefined;
    },
    fromChronograf: (cell) => (fieldAt(cell, 'axes', 'y', 'scale') === 'log' ? 'log10' : undefined),
  },
  { linear: t.scales.linear, log2: t.scales.log2, log10: t.scales.log10 },
  'linear',
);

export const AXIS_LABEL = text({
  name: 'axisLabel',
  group: 'axis',
  grafanaPaths: ['defaults.custom.axisLabel', 'yaxes.0.label'],
  label: t.axisLabel,
  fromGrafana: (all) =>
    textOf(all.custom['axisLabel']) || textOf(leftAxis(all)['label']) || undefined,
  fromChronograf: (cell) => textOf(fieldAt(cell, 'axes', 'y', 'label')) || undefined,
});

export const IS_AXIS_HIDDEN = check({
  name: 'isAxisHidden',
  group: 'axis',
  grafanaPaths: ['defaults.custom.axisPlacement', 'yaxes.0.show'],
  label: t.isAxisHidden,
  fromGrafana: (all) =>
    all.custom['axisPlacement'] === 'hidden' || leftAxis(all)['show'] === false ? true : undefined,
});

export const LINE_WIDTH = number(
  {
    name: 'lineWidth',
    group: 'lines',
    grafanaPaths: ['defaults.custom.lineWidth', 'linewidth'],
    label: t.lineWidth,
    fromGrafana: ({ panel, custom }) =>
      numberOf(custom['lineWidth'], numberOf(panel['linewidth'], undefined)),
  },
  1.5,
);

/** In percent; areas have a fill of their own by default. */
export const FILL = optionalNumber({
  name: 'fill',
  group: 'lines',
  grafanaPaths: ['defaults.custom.fillOpacity', 'fill'],
  label: t.fill,
  fromGrafana: ({ panel, custom }) => {
    const tenths = numberOf(panel['fill'], undefined);
    return numberOf(custom['fillOpacity'], tenths === undefined ? undefined : tenths * 10);
  },
});

export const POINTS = choice(
  {
    name: 'points',
    group: 'lines',
    grafanaPaths: ['defaults.custom.showPoints', 'points'],
    label: t.points,
    fromGrafana: ({ panel, custom }) => {
      if (custom['showPoints'] === 'always' || panel['points'] === true) return 'always';
      return custom['showPoints'] === 'never' ? 'never' : undefined;
    },
  },
  { auto: t.pointsWhen.auto, always: t.pointsWhen.always, never: t.pointsWhen.never },
  'auto',
);

export const POINT_SIZE = number(
  {
    name: 'pointSize',
    group: 'lines',
    grafanaPaths: ['defaults.custom.pointSize', 'pointradius'],
    label: t.pointSize,
    fromGrafana: ({ panel, custom }) =>
      numberOf(custom['pointSize'], numberOf(panel['pointradius'], undefined)),
  },
  4,
);

export const COURSE = choice(
  {
    name: 'course',
    group: 'lines',
    grafanaPaths: ['defaults.custom.lineInterpolation', 'steppedLine'],
    label: t.course,
    fromGrafana: ({ panel, custom }) => {
      if (panel['steppedLine'] === true) return 'stepAfter';
      const given = textOf(custom['lineInterpolation']);
      return COURSES.find((each) => each === given);
    },
    fromChronograf: (cell) => (cell['type'] === 'line-stepplot' ? 'stepAfter' : undefined),
  },
  t.courses,
  'linear',
);

const COURSES = ['linear', 'smooth', 'stepBefore', 'stepAfter'] as const;

export const NULLS = choice(
  {
    name: 'nulls',
    group: 'lines',
    grafanaPaths: ['defaults.custom.spanNulls', 'nullPointMode', 'options.nullPointMode'],
    label: t.nulls,
    fromGrafana: ({ panel, custom, options }) => {
      const { spanNulls } = custom;
      if (spanNulls === true) return 'connect';
      // Gaps up to a length are `bridgeMs`.
      if (spanNulls !== undefined) return undefined;
      const mode = textOf(panel['nullPointMode'], textOf(options['nullPointMode']));
      if (mode === 'connected') return 'connect';
      return mode === 'null as zero' ? 'zero' : undefined;
    },
  },
  t.nullsAs,
  'gap',
);

/** Gaps up to this length are bridged. */
export const BRIDGE_MS = optionalDuration({
  name: 'bridgeMs',
  group: 'lines',
  grafanaPaths: ['defaults.custom.spanNulls'],
  label: t.bridgeMs,
  hint: t.bridgeHint,
  fromGrafana: ({ custom }) => numberOf(custom['spanNulls'], undefined),
});

export const IS_STACKED = check({
  name: 'isStacked',
  group: 'lines',
  grafanaPaths: ['defaults.custom.stacking', 'stack', 'options.stacking'],
  label: t.isStacked,
  fromGrafana: ({ panel, custom, options }) =>
    panel['stack'] === true ||
    textOf(fieldAt(custom, 'stacking', 'mode'), 'none') !== 'none' ||
    textOf(options['stacking'], 'none') !== 'none'
      ? true
      : undefined,
  fromChronograf: (cell) => (cell['type'] === 'line-stacked' ? true : undefined),
});

/** Stacked, as shares of 100 %. */
export const IS_SHARE = check({
  name: 'isShare',
  group: 'lines',
  grafanaPaths: ['percentage'],
  label: t.isShare,
  fromGrafana: ({ panel, custom, options }) =>
    panel['percentage'] === true ||
    fieldAt(custom, 'stacking', 'mode') === 'percent' ||
    options['stacking'] === 'percent'
      ? true
      : undefined,
});
