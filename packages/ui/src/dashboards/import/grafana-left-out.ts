// Members of a Grafana panel that no option of its cell represents. Everything in a panel is either
// read by an option, meaningless (empty, or a default of Grafana's editor), or reported.
import type { GrafanaPanel, OptionRow } from '../../cells/option.ts';
import { matcherOf, propertyOf } from '../../cells/options/overrides.ts';
import { transformationsOf } from '../../cells/options/transformations.ts';
import { texts } from '../../texts/texts.ts';
import { fieldAt, fieldsOf, listOf, textOf } from '../fields.ts';
import type { Fields } from '../fields.ts';

const t = texts.imports;

/** Members that do not concern the look of a panel, or that are read elsewhere. */
const NOT_OPTIONS: readonly string[] = `
  alert cacheTimeout collapse collapsed datasource editable error fieldConfig gridPos
  hashKey $$hashKey height id isNew libraryPanel links maxDataPoints minSpan options panels
  pluginVersion renderer repeatIteration repeatPanelId scopedVars showTitle span targets
  title titleSize transformations transparent type version lines bars
`
  .trim()
  .split(/\s+/);

/**
 * Defaults that editors write, by path. Empty values, `auto`, `none` and `default` are always
 * meaningless.
 */
const AS_USUAL: Readonly<Record<string, readonly unknown[]>> = {
  'options.tooltip.mode': ['single', 'multi'],
  'options.tooltip.sort': ['none', 'asc', 'desc'],
  'options.tooltip.showHistogram': [true],
  'options.orientation': ['horizontal', 'vertical'],
  'options.justifyMode': ['center'],
  'options.colorMode': ['value'],
  'options.graphMode': ['area'],
  'options.wideLayout': [true],
  'options.showPercentChange': [false],
  'options.percentChangeColorMode': ['standard'],
  'options.displayMode': ['gradient', 'list'],
  'options.valueMode': ['color', 'text'],
  'options.namePlacement': ['left', 'top'],
  'options.sizing': ['manual'],
  'options.minVizHeight': [10, 16, 75],
  'options.minVizWidth': [0, 8, 75],
  'options.maxVizHeight': [300],
  'options.showUnfilled': [true],
  'options.showThresholdMarkers': [true],
  'options.cellHeight': ['sm', 'md', 'lg'],
  'options.frameIndex': [0],
  'options.showHeader': [true],
  'options.footer.countRows': [false],
  'options.footer.reducer': [['sum']],
  'options.mergeValues': [true],
  'options.alignValue': ['left', 'center'],
  'options.rowHeight': [0.9],
  'options.colWidth': [0.9],
  'options.perPage': [20],
  'options.pieType': ['pie'],
  'options.barWidth': [0.97],
  'options.groupWidth': [0.7],
  'options.barRadius': [0],
  'options.xTickLabelRotation': [0],
  'options.xTickLabelSpacing': [0, 100],
  'options.bucketOffset': [0],
  'options.calculate': [true],
  'options.cellGap': [1, 2],
  'options.legend.show': [true],
  'options.rowsFrame.layout': ['auto'],
  'options.exemplars.color': ['rgba(255,0,255,0.7)'],
  'options.code.language': ['plaintext', 'html', 'markdown'],
  'options.reduceOptions.values': [false],
  'options.fieldOptions.values': [false],
  'options.showThresholdLabels': [false],
  'defaults.color.mode': ['palette-classic', 'thresholds', 'palette-classic-by-name'],
  'defaults.custom.drawStyle': ['line', 'bars', 'points'],
  'defaults.custom.barAlignment': [0],
  'defaults.custom.barWidthFactor': [0.6],
  'defaults.custom.axisColorMode': ['text'],
  'defaults.custom.lineStyle.fill': ['solid'],
  'defaults.custom.scaleDistribution.type': ['linear'],
  'defaults.custom.fillOpacity': [0, 70, 80],
  'defaults.custom.lineWidth': [0, 1],
  'defaults.custom.cellOptions.type': ['auto'],
  'defaults.custom.displayMode': ['color-text'],
  'defaults.custom.insertNulls': [false],
  'defaults.fieldMinMax': [false],
  fillGradient: [0],
  hiddenSeries: [false],
  pointradius: [0.5, 1, 2, 5],
  spaceLength: [10],
  dashLength: [10],
  'tooltip.shared': [true],
  'tooltip.sort': [0, 1, 2],
  'tooltip.value_type': ['individual', 'cumulative'],
  'tooltip.msResolution': [true],
  'xaxis.mode': ['time', 'series', 'histogram'],
  'xaxis.show': [true],
  'yaxes.0.show': [true],
  'yaxes.1.show': [true],
  'legend.show': [true],
  'legend.sort': ['current', 'avg', 'max', 'min', 'total'],
  'legend.sortDesc': [true],
  'gauge.show': [true],
  'gauge.thresholdMarkers': [true],
  'sparkline.full': [true],
  'sparkline.fillColor': ['rgba(31, 118, 189, 0.18)'],
  'sparkline.lineColor': ['rgb(31, 120, 193)'],
  nullPointMode: ['null', 'connected'],
  fill: [0, 1],
  linewidth: [1],
  'yaxes.0.logBase': [1],
  'gauge.minValue': [0],
  'gauge.maxValue': [100],
  legendType: ['Under graph'],
  pieType: ['pie'],
  'options.legend.showLegend': [true],
  'options.legend.displayMode': ['list'],
  'options.legend.placement': ['bottom'],
  prefixFontSize: ['50%', '80%'],
  postfixFontSize: ['50%', '80%'],
  valueFontSize: ['50%', '80%', '100%', '120%'],
  colorValue: [true],
  fontSize: ['100%'],
  scroll: [true],
  showHeader: [true],
  pageSize: [10],
  transform: ['timeseries_to_columns', 'timeseries_to_rows', 'table'],
  'sort.col': [0],
  'sort.desc': [true],
  sideWidth: [200, 300],
};

const NOTHING: readonly unknown[] = ['', 'auto', 'none', 'default', false, null, undefined];

export function leftOutOf(
  read: GrafanaPanel,
  rows: readonly OptionRow<unknown>[],
): readonly string[] {
  const { panel, defaults, options } = read;
  const taken = rows.flatMap(({ grafanaPaths = [] }) => grafanaPaths);
  const own = Object.fromEntries(
    Object.entries(panel).filter(([name]) => !NOT_OPTIONS.includes(name)),
  );
  const unread = [
    ...leaves(own, ''),
    ...leaves(options, 'options'),
    ...leaves(defaults, 'defaults'),
  ].filter(
    ({ path, value }) =>
      !hasNoEffect(path, value) &&
      !isBelow(path, [...taken, ...OF_EVERY_PANEL]) &&
      !taken.includes(`${path}=${String(value)}`),
  );
  return [
    ...(panel['alert'] === undefined ? [] : [t.alertRule]),
    ...(listOf(panel['links']).length === 0 ? [] : [t.links]),
    ...transformationsLeftOut(panel),
    ...overridesLeftOut(panel),
    ...unread.map(({ path }) => t.option(path)),
  ];
}

type Leaf = { readonly path: string; readonly value: unknown };

/** Every panel has these, even if its drawing does not use them. */
const OF_EVERY_PANEL = ['defaults.thresholds'];

/** Lists are leaves, except for the two axes of old panels. */
function leaves(value: unknown, path: string): readonly Leaf[] {
  const isAxes = path === 'yaxes';
  if (typeof value !== 'object' || value === null || (Array.isArray(value) && !isAxes)) {
    return [{ path, value }];
  }
  return Object.entries(value).flatMap(([name, each]) =>
    leaves(each, path === '' ? name : `${path}.${name}`),
  );
}

function hasNoEffect(path: string, value: unknown): boolean {
  if (NOTHING.includes(value)) return true;
  if (Array.isArray(value) && value.length === 0) return true;
  const usual = AS_USUAL[path] ?? [];
  return usual.some((each) => JSON.stringify(each) === JSON.stringify(value));
}

const isBelow = (path: string, taken: readonly string[]): boolean =>
  taken.some((each) => path === each || path.startsWith(`${each}.`));

function transformationsLeftOut(panel: Fields): readonly string[] {
  return listOf(panel['transformations'])
    .map(fieldsOf)
    .filter((each) => each['disabled'] !== true && transformationsOf(each) === undefined)
    .map(({ id }) => t.transformation(textOf(id)));
}

/** Settings of series without a counterpart. */
function overridesLeftOut(panel: Fields): readonly string[] {
  return listOf(fieldAt(panel, 'fieldConfig', 'overrides'))
    .map(fieldsOf)
    .flatMap(({ matcher, properties }) => {
      const { id, options } = fieldsOf(matcher);
      const name = typeof options === 'string' ? options : textOf(id);
      const isFound = matcherOf(fieldsOf(matcher)) !== undefined;
      return listOf(properties)
        .map(fieldsOf)
        .filter((property) => {
          const isTaken = Object.values(propertyOf(property)).some((each) => each !== undefined);
          return !(isFound && isTaken) && !hasNoEffect(textOf(property['id']), property['value']);
        })
        .map((property) => t.override(name, textOf(property['id'])));
    });
}
