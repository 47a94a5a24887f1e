// Four dashboards in Chronograf's format: every kind of cell, option and template.

type Json = Readonly<Record<string, unknown>>;

const AXIS = { bounds: ['', ''], label: '', prefix: '', suffix: '', base: '10', scale: 'linear' };
const SCALE = ['#31C0F6', '#A500A5', '#FF7E27'].map((hex, i) => ({
  id: `scale-${i}`,
  type: 'scale',
  hex,
  name: 'Nineteen Eighty Four',
  value: '0',
}));

const query = (text: string, more: Json = {}): Json => ({
  query: text,
  queryConfig: {
    database: 'telegraf',
    measurement: '',
    retentionPolicy: '',
    fields: [],
    tags: {},
    groupBy: { time: '', tags: [] },
    areTagsAccepted: false,
    fill: 'null',
    rawText: text,
    range: null,
    shifts: [],
    ...more,
  },
  source: '',
  type: 'influxql',
});

let lastId = 0;

function cell(type: string, name: string, queries: readonly string[], more: Json = {}): Json {
  return {
    i: `cell-${++lastId}`,
    x: 0,
    y: 0,
    w: 4,
    h: 4,
    name,
    queries: queries.map((text) => query(text)),
    axes: { x: AXIS, y: AXIS, y2: AXIS },
    type,
    colors: SCALE,
    legend: {},
    tableOptions: {
      verticalTimeAxis: true,
      sortBy: { internalName: 'time', displayName: '', visible: true },
      wrapping: 'truncate',
      fixFirstColumn: false,
    },
    fieldOptions: [{ internalName: 'time', displayName: '', visible: true }],
    timeFormat: 'MM/DD/YYYY HH:mm:ss',
    decimalPlaces: { isEnforced: true, digits: 2 },
    note: '',
    noteVisibility: 'default',
    inView: true,
    ...more,
  };
}

const TIME = 'time > :dashboardTime: AND time < :upperDashboardTime:';
const mean = (field: string, from: string, by = 'host') =>
  `SELECT mean("${field}") AS "${field}" FROM "telegraf"."autogen"."${from}" WHERE ${TIME} GROUP BY time(:interval:), "${by}" FILL(null)`;

const template = (type: string, tempVar: string, more: Json = {}): Json => ({
  id: tempVar,
  tempVar,
  type,
  label: '',
  sourceID: '',
  values: [],
  ...more,
});

const value = (type: string, text: string, selected = false, more: Json = {}): Json => ({
  value: text,
  type,
  selected,
  localSelected: selected,
  ...more,
});

/** Twelve columns, from left to right. */
function dashboard(name: string, cells: readonly Json[], templates: readonly Json[] = []): Json {
  let x = 0;
  let y = 0;
  return {
    id: 7,
    name,
    organization: 'default',
    cells: cells.map((each) => {
      const w = Number(each['w']);
      if (x + w > 12) {
        x = 0;
        y += 4;
      }
      const placed = { ...each, x, y };
      x += w;
      return placed;
    }),
    templates,
  };
}

const threshold = (id: string, text: string, name: string): Json => ({
  id,
  type: 'threshold',
  hex: '#F95F53',
  name,
  value: text,
});

const SYSTEM = dashboard('System', [
  cell('line', 'CPU', [mean('usage_user', 'cpu'), mean('usage_system', 'cpu')], {
    axes: { x: AXIS, y: { ...AXIS, bounds: ['0', '100'], suffix: '%', label: 'busy' }, y2: AXIS },
  }),
  cell('line-stacked', 'Memory', [mean('used', 'mem')], {
    axes: { x: AXIS, y: { ...AXIS, base: '2', suffix: 'B' }, y2: AXIS },
    legend: { type: 'static', orientation: 'bottom' },
  }),
  cell('line-stepplot', 'Users', [mean('n_users', 'system')], {
    colors: SCALE.map((each) => ({ ...each, name: 'Solid Red' })),
  }),
  cell('line-plus-single-stat', 'Load', [mean('load1', 'system')]),
  cell('bar', 'Reads', [mean('reads', 'diskio')], {
    axes: { x: AXIS, y: { ...AXIS, scale: 'log' }, y2: { ...AXIS, label: 'right' } },
  }),
  cell('single-stat', 'Uptime', [`SELECT last("uptime") FROM "system" WHERE ${TIME}`], {
    colors: [
      { id: 'base', type: 'text', hex: '#00C9FF', name: 'laser', value: '-1000000000000000000' },
      { id: 'x', type: 'text', hex: '#F95F53', name: 'curacao', value: '100' },
    ],
    axes: { x: AXIS, y: { ...AXIS, prefix: 'up ', suffix: 's' }, y2: AXIS },
  }),
  cell('gauge', 'Disk', [`SELECT last("used_percent") FROM "disk" WHERE ${TIME} GROUP BY "host"`], {
    colors: [
      { id: '0', type: 'min', hex: '#00C9FF', name: 'laser', value: '0' },
      threshold('1', '80', 'curacao'),
      { id: '2', type: 'max', hex: '#9394FF', name: 'comet', value: '100' },
    ],
  }),
  cell(
    'table',
    'Latest',
    [
      `SELECT last("load1") AS "load", last("load5") AS "load5" FROM "system" WHERE ${TIME} GROUP BY "host"`,
    ],
    {
      fieldOptions: [
        { internalName: 'host', displayName: 'Host', visible: true },
        { internalName: 'load', displayName: 'Load', visible: true },
        { internalName: 'load5', displayName: '', visible: false },
        { internalName: 'time', displayName: '', visible: true },
      ],
      tableOptions: {
        verticalTimeAxis: true,
        sortBy: { internalName: 'load', displayName: '', visible: true },
        wrapping: 'wrap',
        fixFirstColumn: true,
      },
      timeFormat: 'YYYY-MM-DD',
    },
  ),
  cell('alerts', 'Alerts', []),
  cell('note', 'Note', [], { note: '# System\n\nWhat Telegraf writes.' }),
  cell('news', 'News', []),
  cell('guide', 'Getting started', []),
]);

const TEMPLATES = dashboard(
  'Templates',
  [
    cell('line', 'Host', [
      `SELECT mean("load1") FROM "system" WHERE ${TIME} AND "host" = :host: GROUP BY time(:interval:)`,
    ]),
    cell('line', 'Field', [
      `SELECT mean(:field:) FROM "cpu" WHERE ${TIME} GROUP BY time(:interval:), "host"`,
    ]),
    cell('line', 'Measurement', [
      `SELECT mean("used_percent") FROM :measurement: WHERE ${TIME} GROUP BY time(:interval:)`,
    ]),
    cell('line', 'Number', [
      `SELECT mean("load1") * :factor: FROM "system" WHERE ${TIME} GROUP BY time(:interval:)`,
    ]),
    cell('line', 'Mapped', [
      `SELECT mean("usage_user") FROM "cpu" WHERE ${TIME} AND "host" = ':main:' GROUP BY time(:interval:)`,
    ]),
    cell('line', 'Tag key', [
      `SELECT mean("used_percent") FROM "disk" WHERE ${TIME} GROUP BY time(:interval:), :key:`,
    ]),
    cell('line', 'Typed', [
      `SELECT mean("load1") FROM "system" WHERE ${TIME} AND "host" = ':any:' GROUP BY time(:interval:), "host"`,
    ]),
  ],
  [
    template('tagValues', ':host:', {
      query: { db: 'telegraf', rp: 'autogen', measurement: 'system', tagKey: 'host', fieldKey: '' },
      values: [value('tagValue', 'a', true)],
    }),
    template('fieldKeys', ':field:', {
      query: { db: 'telegraf', measurement: 'cpu', tagKey: '', fieldKey: '' },
      values: [value('fieldKey', 'usage_user', true)],
    }),
    template('measurements', ':measurement:', {
      query: { db: 'telegraf', measurement: '' },
      values: [value('measurement', 'mem', true)],
    }),
    template('tagKeys', ':key:', {
      query: { db: 'telegraf', measurement: 'disk' },
      values: [value('tagKey', 'path', true)],
    }),
    template('databases', ':db:', { query: {}, values: [value('database', 'telegraf', true)] }),
    template('csv', ':factor:', { values: [value('csv', '1'), value('csv', '2', true)] }),
    template('map', ':main:', {
      values: [
        value('map', 'a', true, { key: 'Main' }),
        value('map', 'b', false, { key: 'Other' }),
      ],
    }),
    template('constant', ':limit:', { values: [value('constant', '5', true)] }),
    template('text', ':any:', { values: [value('constant', 'a', true)] }),
    template('influxql', ':own:', {
      query: { influxql: 'SHOW TAG VALUES FROM "disk" WITH KEY = "path"', db: 'telegraf' },
      values: [],
    }),
    template('other', ':other:', {}),
  ],
);

/** Newer files count eighths of columns and rows. */
const FINE = {
  meta: { chronografVersion: '1.8.0' },
  dashboard: {
    ...dashboard('Fine', []),
    cells: [0, 32, 64].flatMap((x, column) =>
      [0, 32, 64].map((y, at) => ({
        ...cell(['line', 'bar', 'single-stat'][at] ?? 'line', `Cell ${column}${at}`, [
          mean('load1', 'system'),
        ]),
        x,
        y,
        w: 32,
        h: 32,
      })),
    ),
  },
};

const PROTOBOARD = {
  id: 'p',
  meta: { name: 'Proto', version: '1' },
  data: {
    cells: [
      {
        ...cell('line', 'Shifted', [mean('load1', 'system')]),
        queries: [
          query(mean('load1', 'system'), {
            shifts: [{ label: '1 Day', unit: 'd', quantity: '1', multiple: '1' }],
          }),
        ],
      },
      {
        ...cell('line', 'Flux', []),
        queries: [{ query: 'from(bucket: "x") |> range(start: -1h)', type: 'flux' }],
      },
      cell('line', 'Empty', []),
      ...['load1', 'load5', 'load15', 'n_users', 'uptime'].map((field) =>
        cell('line', field, [mean(field, 'system')], { w: 4 }),
      ),
    ],
    templates: [],
  },
};

export const CHRONOGRAF_EXPORTS = {
  system: SYSTEM,
  templates: TEMPLATES,
  fine: FINE,
  protoboard: PROTOBOARD,
} as const;
