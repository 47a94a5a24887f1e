// Eight dashboards in Grafana's format, as large as those that people publish: every type of panel,
// option and variable is in one of them.
import {
  barGauge,
  dashboard,
  form,
  gauge,
  graph,
  HOST_VARIABLE,
  named,
  ofPattern,
  other,
  raw,
  row,
  singlestat,
  sized,
  stat,
  STEPS,
  table,
  text,
  timeseries,
  variable,
} from './grafana-panels.ts';

const BY_HOST = 'WHERE host =~ /^$host$/ AND $timeFilter GROUP BY time($__interval), host';
const RATE = [{ params: ['1s'], type: 'non_negative_derivative' }];
const cpu = (field: string, more: object = {}) =>
  form('cpu', field, { alias: `$tag_host ${field.replace('usage_', '')}`, ...more });

/** Hosts in sections, the newer panels with most of their options. */
const SYSTEM = dashboard(
  'Telegraf system',
  [
    row('Overview'),
    sized(
      4,
      5,
      stat('Uptime', [form('system', 'uptime', { fn: 'last' })], { defaults: { unit: 's' } }),
    ),
    sized(
      4,
      5,
      stat('Load', [form('system', 'load1', { fn: 'last' })], {
        defaults: { decimals: 2, unit: 'short' },
        options: {
          graphMode: 'none',
          reduceOptions: { calcs: ['max'], fields: '', values: false },
        },
      }),
    ),
    sized(
      4,
      5,
      gauge('CPU used', [form('cpu', 'usage_user', { alias: '$tag_host' })], {
        defaults: { unit: 'percent' },
      }),
    ),
    sized(
      4,
      5,
      gauge('Memory used', [form('mem', 'used_percent', { alias: '$tag_host' })], {
        defaults: {
          unit: 'percent',
          thresholds: {
            mode: 'percentage',
            steps: [
              { color: 'green', value: null },
              { color: 'red', value: 80 },
            ],
          },
        },
      }),
    ),
    sized(
      8,
      5,
      barGauge(
        'Disks',
        [form('disk', 'used_percent', { tags: ['host', 'path'], alias: '$tag_host $tag_path' })],
        { defaults: { unit: 'percent', min: 0, max: 100 } },
      ),
    ),
    row('Processor', { repeat: 'host' }),
    timeseries('CPU of $host', [cpu('usage_user'), cpu('usage_system'), cpu('usage_iowait')], {
      defaults: { unit: 'percent', min: 0, max: 100 },
      custom: {
        fillOpacity: 40,
        stacking: { group: 'A', mode: 'normal' },
        lineInterpolation: 'smooth',
      },
      overrides: [
        ofPattern('/iowait$/', {
          color: { fixedColor: 'red', mode: 'fixed' },
          'custom.lineWidth': 2,
        }),
        named('a user', { displayName: 'User time' }),
      ],
      options: {
        legend: {
          calcs: ['mean', 'max', 'lastNotNull'],
          displayMode: 'table',
          placement: 'right',
          showLegend: true,
        },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    }),
    timeseries(
      'Load average',
      [
        form('system', 'load1', { alias: '$col' }),
        form('system', 'load5'),
        form('system', 'load15'),
      ],
      {
        custom: {
          thresholdsStyle: { mode: 'line+area' },
          axisSoftMin: 0,
          axisSoftMax: 8,
          axisLabel: 'runnable',
        },
        defaults: {
          thresholds: {
            mode: 'absolute',
            steps: [
              { color: 'green', value: null },
              { color: 'orange', value: 4 },
              { color: 'red', value: 6 },
            ],
          },
        },
      },
    ),
    row('Memory'),
    timeseries('Memory', [form('mem', 'used'), form('mem', 'free')], {
      defaults: { unit: 'bytes' },
      custom: { stacking: { group: 'A', mode: 'percent' }, fillOpacity: 60 },
      overrides: [named('mem.mean {host: a}', { unit: 'decbytes' })],
    }),
    timeseries('Used', [form('mem', 'used_percent', { fill: 'none' })], {
      defaults: { unit: 'percent', decimals: 1 },
      custom: { drawStyle: 'points', showPoints: 'always', pointSize: 3 },
    }),
    row('Network', {
      collapsed: true,
      panels: [
        {
          ...timeseries(
            'Traffic',
            [
              form('net', 'bytes_recv', {
                fn: 'max',
                extra: RATE,
                tags: ['host', 'interface'],
                alias: '$tag_interface in',
              }),
              form('net', 'bytes_sent', {
                fn: 'max',
                extra: RATE,
                tags: ['host', 'interface'],
                alias: '$tag_interface out',
              }),
            ],
            {
              defaults: { unit: 'Bps' },
              custom: { axisPlacement: 'left', spanNulls: 60_000 },
              overrides: [
                ofPattern('/ out/', {
                  'custom.transform': 'negative-Y',
                  'custom.lineStyle': { dash: [10, 10], fill: 'dash' },
                }),
              ],
            },
          ),
          gridPos: { x: 0, y: 40, w: 12, h: 8 },
        },
        {
          ...timeseries('Errors', [form('net', 'err_in', { fn: 'max', tags: ['interface'] })], {
            custom: { drawStyle: 'bars', fillOpacity: 100 },
          }),
          gridPos: { x: 12, y: 40, w: 12, h: 8 },
        },
      ],
    }),
  ],
  { description: 'What Telegraf writes of a machine.' },
);

/** Panels of before version 7, with their rows. */
const LEGACY = {
  ...dashboard('Legacy graphs', [
    graph(
      'Two axes',
      [
        cpu('usage_user', { alias: 'user $tag_host' }),
        form('system', 'load1', { alias: 'load $tag_host' }),
      ],
      {
        seriesOverrides: [
          { alias: '/^load/', yaxis: 2, fill: 0, linewidth: 3, dashes: true },
          { alias: 'user a', color: '#C4162A' },
        ],
        yaxes: [
          { format: 'percent', label: 'CPU', logBase: 1, max: '100', min: '0', show: true },
          { format: 'short', label: 'Load', logBase: 1, max: null, min: null, show: true },
        ],
        legend: {
          alignAsTable: true,
          avg: true,
          current: true,
          max: true,
          min: true,
          rightSide: true,
          show: true,
          total: false,
          values: true,
        },
        thresholds: [{ colorMode: 'critical', fill: true, line: true, op: 'gt', value: 90 }],
      },
    ),
    graph('Logarithmic', [form('diskio', 'reads', { fn: 'max', tags: ['host', 'name'] })], {
      yaxes: [
        { format: 'iops', label: null, logBase: 10, max: null, min: null, show: true },
        { format: 'short', logBase: 1, show: false },
      ],
      nullPointMode: 'connected',
      points: true,
      pointradius: 1,
    }),
    graph('Stacked', [form('mem', 'used', { fill: '0' })], {
      stack: true,
      fill: 5,
      percentage: true,
      nullPointMode: 'null as zero',
      aliasColors: { 'mem.mean {host: a}': '#7EB26D' },
    }),
    graph('Bars', [form('diskio', 'writes', { fn: 'max', tags: ['host'] })], {
      bars: true,
      lines: false,
      decimals: 1,
    }),
    graph('Points', [form('system', 'load5')], {
      points: true,
      lines: false,
      legend: { show: false },
    }),
    graph('Steps', [form('system', 'n_users', { fn: 'last' })], {
      steppedLine: true,
      linewidth: 2,
      timeFrom: '30m',
      timeShift: '10m',
      hideTimeOverride: true,
    }),
    graph('Per series', [form('disk', 'used_percent', { fn: 'last', tags: ['path'] })], {
      bars: true,
      lines: false,
      xaxis: { buckets: null, mode: 'series', name: null, show: true, values: ['max'] },
    }),
    graph('Histogram', [form('service', 'latency')], {
      bars: true,
      lines: false,
      xaxis: { buckets: 12, mode: 'histogram', name: null, show: true, values: [] },
    }),
    graph('Alerting', [form('cpu', 'usage_user')], {
      alert: { conditions: [], frequency: '60s', name: 'CPU', noDataState: 'no_data' },
      links: [{ title: 'Wiki', url: 'https://wiki.example' }],
    }),
    sized(
      6,
      4,
      singlestat('Single', [form('system', 'load1', { fn: 'last', tags: [] })], {
        format: 'short',
        decimals: 2,
        prefix: 'load ',
        valueName: 'current',
      }),
    ),
    sized(
      6,
      4,
      singlestat('Mapped', [form('service', 'up', { fn: 'last', tags: [] })], {
        valueMaps: [
          { op: '=', text: 'DOWN', value: '0' },
          { op: '=', text: 'UP', value: '1' },
        ],
        valueName: 'min',
        sparkline: { show: false },
      }),
    ),
    sized(
      6,
      4,
      singlestat('Ranges', [form('cpu', 'usage_user', { tags: [] })], {
        mappingType: 2,
        rangeMaps: [
          { from: '0', to: '50', text: 'calm' },
          { from: '50', to: '100', text: 'busy' },
        ],
        postfix: ' now',
      }),
    ),
    sized(
      6,
      4,
      singlestat('Old gauge', [form('mem', 'used_percent', { tags: [] })], {
        format: 'percent',
        gauge: {
          maxValue: 100,
          minValue: 0,
          show: true,
          thresholdLabels: false,
          thresholdMarkers: true,
        },
      }),
    ),
    other(
      'table-old',
      'Old table',
      [
        raw(
          `SELECT last(used_percent) AS used, last(free) AS free FROM disk WHERE $timeFilter GROUP BY host, path`,
          { resultFormat: 'table' },
        ),
      ],
      {
        columns: [],
        pageSize: null,
        scroll: true,
        showHeader: true,
        sort: { col: 0, desc: true },
        transform: 'table',
        fontSize: '100%',
        styles: [
          { alias: 'When', dateFormat: 'YYYY-MM-DD HH:mm:ss', pattern: 'time', type: 'date' },
          {
            alias: 'Used',
            colorMode: 'cell',
            decimals: 1,
            pattern: 'used',
            thresholds: ['70', '90'],
            type: 'number',
            unit: 'percent',
          },
          { alias: '', pattern: 'free', type: 'hidden', unit: 'short' },
        ],
      },
    ),
  ]),
  schemaVersion: 18,
};

/** Single values and tables with mappings, transformations and units. */
const SERVICES = dashboard('Services', [
  sized(
    6,
    5,
    stat(
      'Services up',
      [
        raw(`SELECT last(up) FROM service ${BY_HOST.replace('time($__interval), ', '')}, service`, {
          alias: '$tag_service on $tag_host',
        }),
      ],
      {
        defaults: {
          mappings: [
            {
              options: {
                0: { color: 'red', index: 0, text: 'down' },
                1: { color: 'green', index: 1, text: 'up' },
              },
              type: 'value',
            },
            { options: { match: 'null', result: { index: 2, text: 'unknown' } }, type: 'special' },
          ],
          noValue: '?',
        },
        options: { textMode: 'value_and_name' },
      },
    ),
  ),
  sized(
    6,
    5,
    stat('Latency', [form('service', 'latency', { tags: ['service'] })], {
      defaults: {
        unit: 'ms',
        decimals: 0,
        mappings: [
          { options: { from: 0, to: 50, result: { text: 'fast', color: 'green' } }, type: 'range' },
        ],
      },
    }),
  ),
  sized(
    12,
    5,
    other(
      'state-timeline',
      'States',
      [
        raw(
          `SELECT state FROM service WHERE host =~ /^$host$/ AND $timeFilter GROUP BY host, service`,
          { resultFormat: 'time_series' },
        ),
      ],
      {
        defaults: {
          mappings: [
            {
              options: { pattern: '/^fail/', result: { text: 'failed', color: 'red' } },
              type: 'regex',
            },
          ],
        },
        options: {
          alignValue: 'left',
          mergeValues: true,
          rowHeight: 0.9,
          showValue: 'auto',
          legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
        },
      },
    ),
  ),
  other(
    'status-history',
    'Up over time',
    [raw('SELECT last(up) FROM service WHERE $timeFilter GROUP BY time(5m), service')],
    { options: { colWidth: 0.9, rowHeight: 0.9, showValue: 'auto' } },
  ),
  table(
    'Services as a table',
    [
      raw(
        'SELECT last(up) AS up, last(latency) AS latency, last(state) AS state FROM service WHERE $timeFilter GROUP BY host, service',
        { resultFormat: 'table' },
      ),
    ],
    {
      transformations: [
        {
          id: 'organize',
          options: {
            excludeByName: { time: true },
            indexByName: { service: 0, host: 1, up: 2, latency: 3 },
            renameByName: { service: 'Service', host: 'Host', latency: 'Latency' },
          },
        },
        { id: 'sortBy', options: { fields: {}, sort: [{ desc: true, field: 'Latency' }] } },
        { id: 'limit', options: { limitField: 20 } },
      ],
      overrides: [
        named('Latency', { unit: 'ms', decimals: 1, 'custom.width': 120 }),
        named('up', {
          mappings: [{ options: { 0: { text: 'no' }, 1: { text: 'yes' } }, type: 'value' }],
        }),
      ],
    },
  ),
  table('Figures', [form('service', 'latency', { tags: ['service'] })], {
    transformations: [{ id: 'reduce', options: { reducers: ['mean', 'max', 'lastNotNull'] } }],
  }),
  table(
    'Renamed',
    [
      raw(
        'SELECT mean(latency) AS "latency (mean)", max(latency) AS "latency (max)" FROM service WHERE $timeFilter GROUP BY service',
        { resultFormat: 'table' },
      ),
    ],
    {
      transformations: [
        { id: 'renameByRegex', options: { regex: 'latency \\((.*)\\)', renamePattern: '$1' } },
        { id: 'filterFieldsByName', options: { include: { pattern: '^(service|mean|max)$' } } },
      ],
    },
  ),
  table('Calculated', [raw('SELECT latency FROM service WHERE $timeFilter LIMIT 20')], {
    transformations: [
      { id: 'calculateField', options: { mode: 'binary' } },
      { id: 'groupBy', options: {} },
      { id: 'merge', options: {} },
    ],
  }),
  other(
    'piechart',
    'Share of disks',
    [form('disk', 'free', { fn: 'last', tags: ['host', 'path'] })],
    {
      defaults: { unit: 'bytes' },
      options: {
        pieType: 'donut',
        displayLabels: ['percent'],
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        legend: { displayMode: 'table', placement: 'right', showLegend: true, values: ['percent'] },
      },
    },
  ),
  other(
    'barchart',
    'Disks',
    [raw('SELECT last(used_percent) FROM disk WHERE $timeFilter GROUP BY path')],
    {
      options: {
        orientation: 'horizontal',
        xTickLabelRotation: 0,
        showValue: 'auto',
        stacking: 'none',
        groupWidth: 0.7,
        barWidth: 0.97,
        legend: { showLegend: true },
      },
    },
  ),
  other('heatmap', 'Latency spread', [form('service', 'latency', { tags: ['host', 'service'] })], {
    options: {
      calculate: true,
      cellGap: 1,
      color: { mode: 'scheme', scheme: 'Oranges', steps: 64 },
      yAxis: { unit: 'ms' },
      tooltip: { mode: 'single' },
    },
  }),
  other('histogram', 'Latency histogram', [form('service', 'latency', { tags: [] })], {
    defaults: { unit: 'ms' },
    options: { bucketCount: 30, bucketOffset: 0, combine: true },
  }),
  text('Notes', '# Services\n\n- **up** is 1\n- `latency` in ms'),
  text(
    'Html notes',
    '<h2>Owners</h2><p>Ask <a href="https://wiki.example">the wiki</a>.</p>',
    'html',
  ),
]);

/** Every type of variable, and what a statement does with each. */
const VARIABLES = dashboard(
  'Variables',
  [
    timeseries('Interval $interval', [
      raw(
        'SELECT mean(usage_user) FROM cpu WHERE host =~ /^$host$/ AND $timeFilter GROUP BY time($interval), host',
        { alias: '$tag_host' },
      ),
    ]),
    timeseries('Field [[field]]', [
      raw(
        'SELECT mean("$field") FROM cpu WHERE host =~ /^${host}$/ AND $timeFilter GROUP BY time($__interval), host fill(null)',
      ),
    ]),
    timeseries('Policy and measurement', [
      raw(
        'SELECT mean(usage_user) FROM "$policy"."$measurement" WHERE $timeFilter GROUP BY time($__interval)',
      ),
    ]),
    timeseries('Constant', [
      raw(
        "SELECT mean(load1) FROM system WHERE host = '$main' AND $timeFilter GROUP BY time($__interval)",
      ),
    ]),
    timeseries('Text box', [
      raw('SELECT mean(load1) * $factor FROM system WHERE $timeFilter GROUP BY time($__interval)'),
    ]),
    timeseries(
      'Disks of $path',
      [
        raw(
          'SELECT last(used_percent) FROM disk WHERE path =~ /^$path$/ AND host =~ /^$host$/ AND $timeFilter GROUP BY time($__interval), host',
        ),
      ],
      { repeat: 'path', repeatDirection: 'h', maxPerRow: 2 },
    ),
    sized(
      24,
      4,
      stat(
        '$host',
        [raw('SELECT last(load1) FROM system WHERE host =~ /^$host$/ AND $timeFilter')],
        { repeat: 'host', repeatDirection: 'v' },
      ),
    ),
    timeseries(
      'Range',
      [
        raw(
          'SELECT sum(reads) / $__range_s FROM diskio WHERE $timeFilter GROUP BY time($__interval)',
        ),
      ],
      { interval: '>1m' },
    ),
  ],
  {
    variables: [
      HOST_VARIABLE,
      variable('datasource', 'ds', { query: 'influxdb' }),
      variable('query', 'path', {
        includeAll: true,
        multi: true,
        query: {
          query: 'SHOW TAG VALUES FROM "disk" WITH KEY = "path" WHERE host =~ /^$host$/',
          refId: 'x',
        },
        regex: '/^(\\/.*)$/',
      }),
      variable('interval', 'interval', {
        auto: true,
        auto_count: 30,
        auto_min: '10s',
        query: '1m,5m,10m,1h',
        current: { text: '5m', value: '5m' },
      }),
      variable('custom', 'field', {
        query: 'User : usage_user,System : usage_system',
        current: { text: 'User', value: 'usage_user' },
      }),
      variable('custom', 'policy', {
        query: 'autogen',
        current: { text: 'autogen', value: 'autogen' },
        hide: 2,
      }),
      variable('query', 'measurement', {
        query: 'SHOW MEASUREMENTS',
        regex: '/^c/',
        current: { text: 'cpu', value: 'cpu' },
        allValue: 'cpu|mem',
        includeAll: false,
      }),
      variable('constant', 'main', { query: 'a', current: { text: 'a', value: 'a' } }),
      variable('textbox', 'factor', { query: '2', current: { text: '2', value: '2' } }),
      variable('adhoc', 'filters', { filters: [] }),
      variable('snapshot', 'frozen'),
      variable('groupby', 'by', { current: { text: ['host'], value: ['host'] } }),
      variable('switch', 'smooth', { current: { text: 'false', value: 'false' } }),
      variable('system', '__user', { hide: 2 }),
    ],
    timezone: 'utc',
    links: [{ title: 'Others', type: 'dashboards' }],
  },
);

/** Targets that are hidden, of other languages, or none. */
const TARGETS = dashboard('Targets', [
  timeseries('Hidden', [form('cpu', 'usage_user'), form('cpu', 'usage_system', { hide: true })]),
  timeseries('All hidden', [form('cpu', 'usage_user', { hide: true })]),
  timeseries('Mixed', [
    form('cpu', 'usage_user'),
    { refId: 'B', expr: 'up', datasource: { type: 'prometheus', uid: 'p' } },
  ]),
  timeseries('Prometheus', [
    { expr: 'rate(http_requests_total[5m])', datasource: { type: 'prometheus', uid: 'p' } },
  ]),
  timeseries('Flux', [
    { query: 'from(bucket: "b") |> range(start: -1h)', datasource: { type: 'influxdb', uid: 'f' } },
  ]),
  timeseries('No query', []),
  timeseries('Only A', [form('system', 'load1'), form('system', 'load5')], {
    transformations: [{ id: 'filterByRefId', options: { include: 'A' } }],
  }),
  timeseries('By query', [form('system', 'load1'), form('system', 'load5')], {
    overrides: [
      {
        matcher: { id: 'byFrameRefID', options: 'B' },
        properties: [{ id: 'custom.hideFrom', value: { legend: true, tooltip: true, viz: true } }],
      },
    ],
  }),
  timeseries('Named', [form('system', 'load1', { alias: '$m.$col on [[tag_host]]' })], {
    overrides: [
      {
        matcher: {
          id: 'byNames',
          options: { mode: 'include', names: ['system.mean on a', 'system.mean on b'] },
        },
        properties: [{ id: 'custom.fillOpacity', value: 50 }],
      },
    ],
  }),
  timeseries('Numbers', [form('system', 'load15')], {
    overrides: [
      { matcher: { id: 'byType', options: 'number' }, properties: [{ id: 'decimals', value: 3 }] },
      {
        matcher: { id: 'byType', options: 'time' },
        properties: [{ id: 'custom.width', value: 90 }],
      },
    ],
  }),
  timeseries('Shown again', [
    { datasource: { type: 'datasource', uid: '-- Dashboard --' }, panelId: 1 },
  ]),
  timeseries('Subquery', [
    raw(
      'SELECT max(m) FROM (SELECT mean(usage_user) AS m FROM cpu WHERE $timeFilter GROUP BY time(5m), host) WHERE $timeFilter GROUP BY time(10m), host',
    ),
  ]),
  timeseries('Several statements', [
    raw(
      'SELECT mean(load1) FROM system WHERE $timeFilter GROUP BY time($__interval); SELECT mean(load5) FROM system WHERE $timeFilter GROUP BY time($__interval)',
    ),
  ]),
  timeseries('Shifted zone', [
    form('system', 'load1', { tz: 'Europe/Berlin', orderByTime: 'DESC', limit: '20' }),
  ]),
]);

/** Panel types that no cell can draw. */
const UNKNOWN = [
  'logs',
  'news',
  'dashlist',
  'annolist',
  'geomap',
  'nodeGraph',
  'canvas',
  'candlestick',
  'flamegraph',
  'traces',
  'xychart',
  'trend',
  'grafana-worldmap-panel',
  'grafana-polystat-panel',
  'datagrid',
  'debug',
  'gettingstarted',
  'live',
  'pluginlist',
  'welcome',
];
const PANELS = dashboard(
  'All panels',
  [
    ...UNKNOWN.map((type) =>
      sized(8, 6, other(type, `A ${type}`, [form('system', 'load1')], { options: { mode: 'x' } })),
    ),
    sized(
      8,
      6,
      other('alertlist', 'Alerts', [], { options: { showOptions: 'current', maxItems: 20 } }),
    ),
    sized(
      8,
      6,
      other('natel-discrete-panel', 'Discrete', [
        raw('SELECT state FROM service WHERE $timeFilter GROUP BY service'),
      ]),
    ),
    sized(
      8,
      6,
      other(
        'grafana-piechart-panel',
        'Old pie',
        [form('disk', 'free', { fn: 'last', tags: ['path'] })],
        { legendType: 'Under graph', valueName: 'current', pieType: 'pie' },
      ),
    ),
    sized(8, 6, text('Text of old', 'Plain *text*')),
    sized(8, 6, other('text', 'Text of older', [], { content: '<b>Bold</b>', mode: 'html' })),
    sized(
      8,
      6,
      other('gauge', 'Gauge of 6', [form('cpu', 'usage_user')], {
        options: {
          fieldOptions: {
            calcs: ['max'],
            defaults: {
              min: 0,
              max: 50,
              mappings: [{ op: '=', text: 'none', type: 1, value: '0' }],
            },
            mappings: [{ from: '40', text: 'much', to: '50', type: 2 }],
            thresholds: STEPS,
            values: false,
          },
          nullPointMode: 'connected',
        },
      }),
    ),
    sized(
      8,
      6,
      graph('Described', [form('system', 'load1')], {
        description: 'What it *shows*',
        yaxes: [
          { decimals: 1, format: 'short', label: null, logBase: 1, max: null, min: 0, show: true },
          { format: 'short', label: null, logBase: 1, max: null, min: null, show: true },
        ],
        legend: { show: true, values: true, max: true, decimals: 2 },
      }),
    ),
    sized(
      8,
      6,
      timeseries('Every change', [form('system', 'load1')], {
        overrides: [
          named('system.mean', {
            'custom.drawStyle': 'bars',
            thresholds: { mode: 'absolute', steps: STEPS },
            links: [{ title: 'Host', url: '/d/host' }],
          }),
          {
            matcher: { id: 'byValue', options: { op: 'gte', reducer: 'allIsZero', value: 0 } },
            properties: [{ id: 'unit', value: 'bytes' }],
          },
        ],
      }),
    ),
    sized(
      8,
      6,
      other(
        'table',
        'Rows of series',
        [raw('SELECT mean(load1) FROM system WHERE $timeFilter GROUP BY time(5m), host')],
        { transformations: [{ id: 'seriesToRows', options: {} }] },
      ),
    ),
  ],
  {
    annotations: {
      list: [
        { builtIn: 1, name: 'Annotations & Alerts' },
        {
          name: 'deploys',
          enable: true,
          query: 'SELECT title FROM events WHERE $timeFilter',
          iconColor: 'red',
          tagsColumn: 'tags',
          textColumn: 'title',
        },
        { name: 'flux', query: 'from(bucket: "x") |> range(start: -1h)' },
      ],
    },
  },
);

/** Looks of lines, one by one. */
const line = (name: string, custom: object, more: object = {}) =>
  sized(6, 6, timeseries(name, [form('system', 'load1')], { custom: custom as never, ...more }));
const LOOKS = dashboard(
  'Looks',
  [
    line('Wide', { lineWidth: 4 }),
    line('Before', { lineInterpolation: 'stepBefore' }),
    line('After', { lineInterpolation: 'stepAfter' }),
    line('Smooth', { lineInterpolation: 'smooth', fillOpacity: 80 }),
    line('Log 2', { scaleDistribution: { type: 'log', log: 2 } }),
    line('Log 10', { scaleDistribution: { type: 'log', log: 10 } }),
    line('Hidden axis', { axisPlacement: 'hidden' }),
    line('Connected', { spanNulls: true }),
    line(
      'Bands',
      { thresholdsStyle: { mode: 'area' } },
      {
        defaults: {
          thresholds: {
            mode: 'absolute',
            steps: [
              { color: 'green', value: null },
              { color: 'yellow', value: 2 },
              { color: 'red', value: 4 },
            ],
          },
        },
      },
    ),
    line(
      'Dashed thresholds',
      { thresholdsStyle: { mode: 'dashed' } },
      {
        defaults: {
          thresholds: {
            mode: 'percentage',
            steps: [
              { color: 'green', value: null },
              { color: 'red', value: 80 },
            ],
          },
        },
      },
    ),
    line(
      'No legend',
      {},
      {
        options: {
          legend: { showLegend: false, calcs: [], displayMode: 'list', placement: 'bottom' },
        },
      },
    ),
    line(
      'Legend right',
      {},
      {
        options: {
          legend: { showLegend: true, calcs: [], displayMode: 'list', placement: 'right' },
        },
      },
    ),
    line(
      'Legend table',
      {},
      {
        options: {
          legend: {
            showLegend: true,
            calcs: ['min', 'max', 'sum', 'count'],
            displayMode: 'table',
            placement: 'bottom',
          },
        },
      },
    ),
    line('Bars', { drawStyle: 'bars', fillOpacity: 60, barAlignment: 0 }),
    line(
      'Right axis',
      {},
      { overrides: [ofPattern('host: b', { 'custom.axisPlacement': 'right', unit: 'percent' })] },
    ),
    line(
      'Gradient',
      { gradientMode: 'hue', lineStyle: { fill: 'dot', dash: [0, 10] } },
      { defaults: { color: { mode: 'continuous-GrYlRd' } } },
    ),
    line('Bounds', {}, { defaults: { min: 0, max: 10, decimals: 2, unit: 'none' } }),
    line(
      'Bounded above',
      { axisSoftMax: 20 },
      { defaults: { unit: 'suffix:runnable', links: [{ title: 'x', url: 'https://x.example' }] } },
    ),
  ],
  {},
);

/** Exported by the API, and through a folder of provisioning. */
const WRAPPED = {
  meta: { isStarred: false, slug: 'wrapped' },
  dashboard: {
    ...dashboard('Wrapped', [
      timeseries('Kernel', [form('system', 'load1', { measurement: 'system' })]),
      graph('Tz', [
        raw("SELECT mean(load1) FROM system WHERE $timeFilter GROUP BY time(10m) tz('${VAR_TZ}')"),
      ]),
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) =>
        timeseries(
          `Service ${name}`,
          [
            raw(
              `SELECT mean(latency) FROM service WHERE service = 's${i % 3}' AND $timeFilter GROUP BY time($__interval), host`,
              { alias: `$tag_host ${name}` },
            ),
          ],
          { defaults: { unit: 'ms' } },
        ),
      ),
    ]),
    __inputs: [{ name: 'VAR_TZ', type: 'constant', label: 'Time zone', value: 'UTC' }],
    rows: [
      {
        title: 'Old row',
        showTitle: true,
        collapse: false,
        height: '250px',
        panels: [
          graph('In a row', [form('system', 'load5')], { span: 6 }),
          graph('Beside', [form('system', 'load15')], { span: 6 }),
        ],
      },
      {
        title: 'Closed',
        showTitle: true,
        collapse: true,
        height: 200,
        panels: [graph('Inside', [form('system', 'load1')], { span: 12 })],
      },
    ],
  },
};

export const GRAFANA_EXPORTS = {
  system: SYSTEM,
  legacy: LEGACY,
  services: SERVICES,
  variables: VARIABLES,
  targets: TARGETS,
  panels: PANELS,
  looks: LOOKS,
  wrapped: WRAPPED,
} as const;
