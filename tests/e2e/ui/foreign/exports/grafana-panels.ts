// Panels as in exports of Grafana: with everything that its editors write, of versions 5 to 11.

type Json = Readonly<Record<string, unknown>>;

const DATASOURCE = { type: 'influxdb', uid: '${DS_INFLUXDB}' };

/** A query that was typed. */
export const raw = (query: string, more: Json = {}): Json => ({
  datasource: DATASOURCE,
  groupBy: [],
  measurement: 'cpu',
  orderByTime: 'ASC',
  policy: 'default',
  query,
  rawQuery: true,
  refId: 'A',
  resultFormat: 'time_series',
  select: [[{ params: ['value'], type: 'field' }]],
  tags: [],
  ...more,
});

/** A query of the form: mean of a field by host. */
export const form = (
  measurement: string,
  field: string,
  {
    tags = ['host'],
    fn = 'mean',
    where = [{ key: 'host', operator: '=~', value: '/^$host$/' }],
    fill = 'null',
    extra = [],
    ...more
  }: {
    readonly tags?: readonly string[];
    readonly fn?: string;
    readonly where?: readonly Json[];
    readonly fill?: string;
    readonly extra?: readonly Json[];
  } & Json = {},
): Json => ({
  datasource: DATASOURCE,
  groupBy: [
    { params: ['$__interval'], type: 'time' },
    ...tags.map((tag) => ({ params: [tag], type: 'tag' })),
    { params: [fill], type: 'fill' },
  ],
  measurement,
  orderByTime: 'ASC',
  policy: 'default',
  refId: 'A',
  resultFormat: 'time_series',
  select: [[{ params: [field], type: 'field' }, { params: [], type: fn }, ...extra]],
  tags: where,
  ...more,
});

let lastId = 0;

const panel = (type: string, title: string, targets: readonly Json[], more: Json): Json => ({
  datasource: DATASOURCE,
  gridPos: { h: 8, w: 12, x: 0, y: 0 },
  id: ++lastId,
  pluginVersion: '10.4.1',
  targets: targets.map((target, i) => ({
    ...target,
    refId: String.fromCodePoint('A'.codePointAt(0)! + i),
  })),
  title,
  type,
  ...more,
});

export const STEPS = [
  { color: 'green', value: null },
  { color: '#EAB839', value: 70 },
  { color: 'red', value: 90 },
];

type FieldOptions = {
  readonly defaults?: Json;
  readonly custom?: Json;
  readonly overrides?: readonly Json[];
  readonly options?: Json;
} & Json;

const fieldConfig = (custom: Json, { defaults = {}, overrides = [] }: FieldOptions): Json => ({
  defaults: {
    color: { mode: 'palette-classic' },
    custom,
    mappings: [],
    thresholds: { mode: 'absolute', steps: STEPS },
    ...defaults,
  },
  overrides,
});

const rest = ({ defaults: _d, custom: _c, overrides: _o, options: _p, ...more }: FieldOptions) =>
  more;

export function timeseries(
  title: string,
  targets: readonly Json[],
  given: FieldOptions = {},
): Json {
  const custom = {
    axisBorderShow: false,
    axisCenteredZero: false,
    axisColorMode: 'text',
    axisLabel: '',
    axisPlacement: 'auto',
    barAlignment: 0,
    drawStyle: 'line',
    fillOpacity: 10,
    gradientMode: 'none',
    hideFrom: { legend: false, tooltip: false, viz: false },
    insertNulls: false,
    lineInterpolation: 'linear',
    lineWidth: 1,
    pointSize: 5,
    scaleDistribution: { type: 'linear' },
    showPoints: 'auto',
    spanNulls: false,
    stacking: { group: 'A', mode: 'none' },
    thresholdsStyle: { mode: 'off' },
    ...given.custom,
  };
  return panel('timeseries', title, targets, {
    fieldConfig: fieldConfig(custom, given),
    options: {
      legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
      ...given.options,
    },
    ...rest(given),
  });
}

export function stat(title: string, targets: readonly Json[], given: FieldOptions = {}): Json {
  return panel('stat', title, targets, {
    fieldConfig: fieldConfig({}, given),
    options: {
      colorMode: 'value',
      graphMode: 'area',
      justifyMode: 'auto',
      orientation: 'auto',
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
      showPercentChange: false,
      textMode: 'auto',
      wideLayout: true,
      ...given.options,
    },
    ...rest(given),
  });
}

export function gauge(title: string, targets: readonly Json[], given: FieldOptions = {}): Json {
  return panel('gauge', title, targets, {
    fieldConfig: fieldConfig({}, { ...given, defaults: { min: 0, max: 100, ...given.defaults } }),
    options: {
      minVizHeight: 75,
      minVizWidth: 75,
      orientation: 'auto',
      reduceOptions: { calcs: ['mean'], fields: '', values: false },
      showThresholdLabels: false,
      showThresholdMarkers: true,
      sizing: 'auto',
      ...given.options,
    },
    ...rest(given),
  });
}

export function barGauge(title: string, targets: readonly Json[], given: FieldOptions = {}): Json {
  return panel('bargauge', title, targets, {
    fieldConfig: fieldConfig({}, given),
    options: {
      displayMode: 'gradient',
      maxVizHeight: 300,
      minVizHeight: 16,
      minVizWidth: 8,
      namePlacement: 'auto',
      orientation: 'horizontal',
      reduceOptions: { calcs: ['max'], fields: '', values: false },
      showUnfilled: true,
      sizing: 'auto',
      valueMode: 'color',
      ...given.options,
    },
    ...rest(given),
  });
}

export function table(title: string, targets: readonly Json[], given: FieldOptions = {}): Json {
  const custom = {
    align: 'auto',
    cellOptions: { type: 'auto' },
    inspect: false,
    ...given.custom,
  };
  return panel('table', title, targets, {
    fieldConfig: fieldConfig(custom, given),
    options: {
      cellHeight: 'sm',
      footer: { countRows: false, fields: '', reducer: ['sum'], show: false },
      showHeader: true,
      ...given.options,
    },
    ...rest(given),
  });
}

/** Panels that newer versions have beside those, by their type. */
export function other(
  type: string,
  title: string,
  targets: readonly Json[],
  given: FieldOptions = {},
): Json {
  return panel(type, title, targets, {
    fieldConfig: fieldConfig({ ...given.custom }, given),
    options: { ...given.options },
    ...rest(given),
  });
}

export function text(title: string, content: string, mode: 'markdown' | 'html' = 'markdown'): Json {
  return panel('text', title, [], {
    options: { code: { language: 'plaintext', showLineNumbers: false }, content, mode },
  });
}

export function row(title: string, more: Json = {}): Json {
  return {
    collapsed: false,
    gridPos: { h: 1, w: 24, x: 0, y: 0 },
    id: ++lastId,
    panels: [],
    title,
    type: 'row',
    ...more,
  };
}

/** A chart of before version 7. */
export function graph(title: string, targets: readonly Json[], more: Json = {}): Json {
  return panel('graph', title, targets, {
    aliasColors: {},
    bars: false,
    dashLength: 10,
    dashes: false,
    fill: 1,
    fillGradient: 0,
    hiddenSeries: false,
    legend: {
      avg: false,
      current: false,
      max: false,
      min: false,
      show: true,
      total: false,
      values: false,
    },
    lines: true,
    linewidth: 1,
    links: [],
    nullPointMode: 'null',
    percentage: false,
    pluginVersion: '6.7.4',
    pointradius: 2,
    points: false,
    renderer: 'flot',
    seriesOverrides: [],
    spaceLength: 10,
    stack: false,
    steppedLine: false,
    thresholds: [],
    timeFrom: null,
    timeRegions: [],
    timeShift: null,
    tooltip: { shared: true, sort: 0, value_type: 'individual' },
    xaxis: { buckets: null, mode: 'time', name: null, show: true, values: [] },
    yaxes: [
      { format: 'short', label: null, logBase: 1, max: null, min: null, show: true },
      { format: 'short', label: null, logBase: 1, max: null, min: null, show: true },
    ],
    yaxis: { align: false, alignLevel: null },
    ...more,
  });
}

export function singlestat(title: string, targets: readonly Json[], more: Json = {}): Json {
  return panel('singlestat', title, targets, {
    cacheTimeout: null,
    colorBackground: false,
    colorValue: true,
    colors: ['#299c46', 'rgba(237, 129, 40, 0.89)', '#d44a3a'],
    format: 'none',
    gauge: {
      maxValue: 100,
      minValue: 0,
      show: false,
      thresholdLabels: false,
      thresholdMarkers: true,
    },
    interval: null,
    links: [],
    mappingType: 1,
    mappingTypes: [
      { name: 'value to text', value: 1 },
      { name: 'range to text', value: 2 },
    ],
    maxDataPoints: 100,
    nullPointMode: 'connected',
    nullText: null,
    postfix: '',
    postfixFontSize: '50%',
    prefix: '',
    prefixFontSize: '50%',
    rangeMaps: [{ from: 'null', text: 'N/A', to: 'null' }],
    sparkline: {
      fillColor: 'rgba(31, 118, 189, 0.18)',
      full: false,
      lineColor: 'rgb(31, 120, 193)',
      show: true,
    },
    tableColumn: '',
    thresholds: '70,90',
    valueFontSize: '80%',
    valueMaps: [{ op: '=', text: 'N/A', value: 'null' }],
    valueName: 'avg',
    ...more,
  });
}

export const variable = (type: string, name: string, more: Json = {}): Json => ({
  current: { selected: false, text: 'All', value: '$__all' },
  hide: 0,
  includeAll: false,
  label: name,
  multi: false,
  name,
  options: [],
  query: '',
  refresh: 1,
  regex: '',
  skipUrlSync: false,
  sort: 1,
  type,
  ...more,
});

export const HOST_VARIABLE = variable('query', 'host', {
  includeAll: true,
  multi: true,
  current: { selected: true, text: ['All'], value: ['$__all'] },
  datasource: DATASOURCE,
  definition: 'SHOW TAG VALUES FROM "system" WITH KEY = "host"',
  query: 'SHOW TAG VALUES FROM "system" WITH KEY = "host"',
});

/** An override of fields with a name. */
export const named = (name: string, properties: Json): Json => ({
  matcher: { id: 'byName', options: name },
  properties: Object.entries(properties).map(([id, value]) => ({ id, value })),
});

export const ofPattern = (pattern: string, properties: Json): Json => ({
  matcher: { id: 'byRegexp', options: pattern },
  properties: Object.entries(properties).map(([id, value]) => ({ id, value })),
});

/** A dashboard whose panels lie from left to right, rows below each other. */
export function dashboard(
  title: string,
  panels: readonly Json[],
  more: Json & { readonly variables?: readonly Json[] } = {},
): Json {
  const { variables = [HOST_VARIABLE], ...others } = more;
  let x = 0;
  let y = 0;
  let high = 0;
  const lineBreak = (): void => {
    x = 0;
    y += high;
    high = 0;
  };
  const placed = panels.map((each) => {
    const { w = 12, h = 8 } = (each['gridPos'] ?? {}) as {
      readonly w?: number;
      readonly h?: number;
    };
    if (each['type'] === 'row' || x + w > 24) lineBreak();
    const gridPos = { h, w, x, y };
    x += w;
    high = Math.max(high, h);
    if (each['type'] === 'row') lineBreak();
    return { ...each, gridPos };
  });
  return {
    __inputs: [
      {
        name: 'DS_INFLUXDB',
        label: 'InfluxDB',
        description: '',
        type: 'datasource',
        pluginId: 'influxdb',
        pluginName: 'InfluxDB',
      },
    ],
    __elements: {},
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: '10.4.1' },
      { type: 'datasource', id: 'influxdb', name: 'InfluxDB', version: '1.0.0' },
    ],
    annotations: {
      list: [
        {
          builtIn: 1,
          datasource: { type: 'grafana', uid: '-- Grafana --' },
          enable: true,
          hide: true,
          iconColor: 'rgba(0, 211, 255, 1)',
          name: 'Annotations & Alerts',
          type: 'dashboard',
        },
      ],
    },
    editable: true,
    fiscalYearStartMonth: 0,
    graphTooltip: 1,
    id: null,
    links: [],
    liveNow: false,
    panels: placed,
    refresh: '30s',
    schemaVersion: 39,
    tags: ['influxdb', 'telegraf'],
    templating: { list: variables },
    time: { from: 'now-1h', to: 'now' },
    timepicker: {},
    timezone: 'browser',
    title,
    uid: title.toLowerCase().replaceAll(' ', '-'),
    version: 7,
    weekStart: '',
    ...others,
  };
}

/** Another size than half a row. */
export const sized = (w: number, h: number, each: Json): Json => ({
  ...each,
  gridPos: { h, w, x: 0, y: 0 },
});
