import { parseQuery } from '@tidemark/influxql';
import { describe, expect, test } from 'vitest';

import { formatValue } from '../../charts/format.ts';
import { UNIT_GROUPS } from '../../charts/units.ts';
import { expandMacros } from '../../query/macros.ts';
import { withVariables } from '../variables.ts';
import { statementOf } from './grafana-query.ts';
import { importDashboard } from './import.ts';

const grafana = (panel: object, more: object = {}) =>
  importDashboard({ title: 'G', panels: [{ title: 'P', ...panel }], ...more });
const chronograf = (cell: object, templates: readonly object[] = []) =>
  importDashboard({
    dashboard: { name: 'C', templates, cells: [{ name: 'P', x: 0, y: 0, w: 4, h: 4, ...cell }] },
  });
const raw = (query: string) => ({ rawQuery: true, query });

test.each([[null], [3], ['text'], [[]], [{}], [{ title: 'x' }], [{ dashboard: { title: 'x' } }]])(
  '%j is no dashboard',
  (value) => {
    expect(importDashboard(value)).toBeUndefined();
  },
);

test('our own are taken as they are', () => {
  const cells = [{ kind: 'note', note: 'x', id: 'a', x: 0, y: 0, w: 3, h: 3 }];
  const found = importDashboard({ title: 'Own', cells });
  expect(found).toMatchObject({ source: 'Tidemark', leftOut: [], dashboard: { title: 'Own' } });
  expect(found?.dashboard.cells).toMatchObject([
    { kind: 'note', id: 'a', x: 0, y: 0, w: 3, h: 3, options: { note: 'x' } },
  ]);
});

describe("Grafana's forms as statements", () => {
  const field = { type: 'field', params: ['usage idle'] };
  const base = { measurement: 'cpu', select: [[field, { type: 'mean', params: [] }]] };
  test.each([
    [base, 'SELECT mean("usage idle") FROM cpu WHERE $timeFilter'],
    [
      { ...base, policy: 'a b', tags: [{ key: 'host', operator: '=', value: "o'c" }] },
      String.raw`SELECT mean("usage idle") FROM "a b".cpu WHERE (host = 'o\'c') AND $timeFilter`,
    ],
    [
      {
        ...base,
        measurement: '$measure',
        tags: [
          { key: 'host', value: '/^$host$/' },
          { key: 'cpu', operator: '!=', value: 'x', condition: 'OR' },
        ],
        groupBy: [
          { type: 'time', params: ['$__interval'] },
          { type: 'tag', params: ['host'] },
          { type: 'fill', params: ['none'] },
        ],
        orderByTime: 'DESC',
        limit: 10,
        tz: 'Europe/Berlin',
      },
      `SELECT mean("usage idle") FROM "$measure" WHERE (host =~ /^$host$/ OR cpu != 'x') AND $timeFilter GROUP BY time($__interval), host fill(none) ORDER BY time DESC LIMIT 10 tz('Europe/Berlin')`,
    ],
    [
      {
        ...base,
        select: [
          [
            field,
            { type: 'max', params: [] },
            { type: 'non_negative_derivative', params: ['1s'] },
            { type: 'math', params: [' * 8'] },
            { type: 'alias', params: ['bits'] },
          ],
        ],
      },
      'SELECT non_negative_derivative(max("usage idle"), 1s) * 8 AS bits FROM cpu WHERE $timeFilter',
    ],
  ])('%#', (target, expected) => {
    const text = statementOf(target);
    expect(text).toBe(expected);
    const chosen = new Map([
      ['measure', ['m']],
      ['host', ['h']],
    ]);
    const span = { fromMs: 0, toMs: 1000, interval: '1m' };
    expect(parseQuery(expandMacros(withVariables(text, chosen), span).text).error).toBeUndefined();
  });
});

test.each([
  [{ type: 'graph', bars: true }, 'bar'],
  [{ type: 'graph', lines: false, points: true }, 'scatter'],
  [{ type: 'graph', xaxis: { mode: 'histogram' } }, 'histogram'],
  [{ type: 'graph', stack: true }, 'area'],
  [{ type: 'timeseries' }, 'line'],
  [{ type: 'singlestat', gauge: { show: true } }, 'gauge'],
  [{ type: 'stat' }, 'single'],
  [{ type: 'state-timeline' }, 'states'],
])('%j is shown as %s', (panel, kind) => {
  expect(grafana({ ...panel, targets: [raw('SELECT 1')] })?.dashboard.cells[0]?.kind).toBe(kind);
});

test('names each option of Grafana that is not imported once', () => {
  const found = grafana(
    {
      type: 'timeseries',
      targets: [raw('SELECT $__unheard FROM m'), { expr: 'up' }, { expr: 'down' }, { hide: true }],
      alert: {},
      links: [{}],
      transformations: [
        { id: 'calculateField', options: {} },
        { id: 'merge', options: {} },
      ],
      repeat: 'host',
      options: { tooltip: { mode: 'single' }, legend: { showLegend: true, width: 100 } },
      fieldConfig: {
        defaults: { unit: 's', color: { mode: 'continuous-GrYlRd' } },
        overrides: [
          {
            matcher: { id: 'byName', options: 'a' },
            properties: [
              { id: 'unit', value: 'ms' },
              { id: 'custom.width', value: 80 },
            ],
          },
        ],
      },
    },
    { templating: { list: [{ type: 'adhoc', name: 'f' }] } },
  );
  expect(found?.leftOut).toEqual([
    'P: a query that is not InfluxQL',
    'P: its alert rule; write a task for it',
    'P: links',
    'P: the transformation calculateField',
    'P: the setting custom.width of a',
    'P: the option options.legend.width',
    'P: the option defaults.color.mode',
    'the variable f (adhoc)',
    'P: $__unheard means nothing here; change the statement',
    'P: $host means nothing here; change the statement',
  ]);
});

test('panels keep their places, those of rows of old lie side by side', () => {
  const target = { type: 'graph', targets: [raw('SELECT 1')] };
  const placed = grafana({ ...target, gridPos: { x: 12, y: 0, w: 12, h: 8 } });
  expect(placed?.dashboard.cells[0]).toMatchObject({ x: 6, y: 0, w: 6, h: 6 });
  const panels = [4, 4, 6].map((span) => ({ ...target, span }));
  const old = importDashboard({ rows: [{ height: '260px', panels }] });
  expect(old?.dashboard.cells.map(({ x, y, w }) => [x, y, w])).toEqual([
    [0, 0, 4],
    [4, 0, 4],
    [0, 5, 6],
  ]);
});

test("Chronograf's words become ours, and its variables are quoted as it quotes them", () => {
  const templates = [
    { tempVar: ':host:', type: 'tagValues', query: { measurement: 'cpu', tagKey: 'host' } },
    { tempVar: ':field:', type: 'fieldKeys', query: {} },
    { tempVar: ':n:', type: 'csv', values: [{ value: '5', selected: true }] },
  ];
  const query = `SELECT mean(:field:) FROM cpu WHERE time > :dashboardTime: AND time < :upperDashboardTime: AND host = :host: AND host != ':host:' AND x > :n: AND at = '10:30:00' GROUP BY time(:interval:)`;
  const found = chronograf({ type: 'line', queries: [{ query }] }, templates);
  expect(found?.dashboard.cells[0]?.queries[0]?.text).toBe(
    `SELECT mean("\${field}") FROM cpu WHERE $timeFilter AND host = '\${host}' AND host != '\${host}' AND x > \${n} AND at = '10:30:00' GROUP BY time($interval)`,
  );
  expect(found?.dashboard.variables.map(({ kind, query: asked }) => [kind, asked])).toEqual([
    ['query', 'SHOW TAG VALUES FROM cpu WITH KEY = host'],
    ['query', 'SHOW FIELD KEYS'],
    ['list', ''],
  ]);
  expect(found?.leftOut).toEqual([]);
});

test('a foreign document cannot hold more than our own', () => {
  const found = grafana({
    type: 'graph',
    title: 7,
    gridPos: { x: -3, y: 'a', w: 1e9, h: -1 },
    targets: [raw('SELECT 1'), null, 'x'],
    yaxes: 'none',
    thresholds: [{ value: 'x' }, null],
  });
  expect(found?.dashboard.cells).toMatchObject([{ x: 0, y: 0, w: 12, title: '' }]);
});

test('constants that a file asks for are filled in; without a value they are asked for', () => {
  const found = grafana(
    { type: 'graph', targets: [raw("SELECT mean(v) FROM m GROUP BY time(1d) tz('${VAR_TZ}')")] },
    {
      __inputs: [
        { name: 'DS', type: 'datasource', pluginId: 'influxdb' },
        { name: 'VAR_TZ', type: 'constant', value: 'Europe/Berlin' },
        { name: 'VAR_HOST', type: 'constant' },
      ],
    },
  );
  expect(found?.dashboard.cells[0]?.queries[0]?.text).toContain("tz('Europe/Berlin')");
  expect(found?.dashboard.variables).toMatchObject([{ name: 'VAR_HOST', kind: 'text' }]);
});

test('a query with an empty expression of another data source beside it is taken', () => {
  const found = grafana({ type: 'graph', targets: [{ ...raw('SELECT 1'), expr: '' }] });
  expect(found?.dashboard.cells[0]?.queries).toMatchObject([{ text: 'SELECT 1' }]);
  expect(found?.leftOut).toEqual([]);
});

test('marks quoted names as fields or tags', () => {
  const text = statementOf({
    measurement: 'cpu',
    select: [
      [
        { type: 'field', params: ['usage::field'] },
        { type: 'max', params: [] },
      ],
    ],
    tags: [{ key: 'host::tag', operator: '=', value: 'a' }],
    groupBy: [{ type: 'tag', params: ['host::tag'] }],
  });
  expect(text).toBe(
    `SELECT max("usage"::field) FROM cpu WHERE ("host"::tag = 'a') AND $timeFilter GROUP BY "host"::tag`,
  );
});

test('cells lie within the grid and beside each other, whatever a file says', () => {
  const target = { type: 'graph', targets: [raw('SELECT 1')] };
  const places = [
    { x: 0, y: 0, w: 24, h: 8 },
    { x: 20, y: 0, w: 12, h: 8 },
    { x: 30, y: 3, w: 30, h: 8 },
    { x: -5, y: -2, w: 0, h: 0 },
  ];
  const found = importDashboard({
    panels: places.map((gridPos) => ({ ...target, gridPos })),
  });
  const cells = found?.dashboard.cells ?? [];
  const taken = new Set<string>();
  for (const { x, y, w, h } of cells) {
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + w).toBeLessThanOrEqual(12);
    for (let column = x; column < x + w; column++) {
      for (let row = y; row < y + h; row++) {
        expect(taken.has(`${column} ${row}`)).toBe(false);
        taken.add(`${column} ${row}`);
      }
    }
  }
  expect(cells).toHaveLength(4);
});

test("Chronograf's protoboards are dashboards, too", () => {
  const cells = [{ name: 'P', x: 0, y: 0, w: 4, h: 4, queries: [{ query: 'SELECT v FROM m' }] }];
  const found = importDashboard({ id: 'x', meta: { name: 'Proto' }, data: { cells } });
  expect(found).toMatchObject({ source: 'Chronograf', dashboard: { title: 'Proto' } });
  expect(found?.dashboard.cells[0]?.queries[0]?.text).toBe('SELECT v FROM m');
});

test('a constant that holds a pattern stays one', () => {
  const found = grafana(
    { type: 'graph', targets: [raw('SELECT v FROM m WHERE host =~ $hosts')] },
    { templating: { list: [{ type: 'constant', name: 'hosts', query: '/^web-\\d+$/' }] } },
  );
  const [variable] = found?.dashboard.variables ?? [];
  const chosen = new Map([['hosts', variable?.chosen ?? []]]);
  const text = withVariables(found?.dashboard.cells[0]?.queries[0]?.text ?? '', chosen);
  expect(text).toBe(String.raw`SELECT v FROM m WHERE host =~ /^web-\d+$/`);
  // One pattern and nothing behind it.
  for (const other of ['/a/ OR /b/', '/a/; DROP DATABASE d', '/a', '//']) {
    const refused = withVariables('WHERE host =~ $hosts', new Map([['hosts', [other]]]));
    expect(refused).toBe(`WHERE host =~ "${other}"`);
  }
});

test('macros of Grafana have values', () => {
  const span = { fromMs: 1000, toMs: 61_000, interval: '5m' };
  const text =
    '$__interval_ms ${__interval_ms} ${__interval} $__range $__range_s $__range_ms ${__from}ms $__to';
  expect(expandMacros(text, span).text).toBe('300000 300000 5m 60s 60 60000 1000ms 61000');
});

test('options have labels, and values of statements a pattern', () => {
  const found = grafana(
    { type: 'text', options: { mode: 'html', content: '<b>x</b>' } },
    {
      templating: {
        list: [
          { type: 'custom', name: 'stage', query: 'Production : prod, test, a\\,b' },
          { type: 'query', name: 'host', query: 'SHOW TAG VALUES', regex: '/^web-(.*)/' },
        ],
      },
    },
  );
  expect(found?.dashboard.variables).toMatchObject([
    { options: ['prod', 'test', 'a,b'], labels: ['Production', '', ''] },
    { pattern: '/^web-(.*)/' },
  ]);
  expect(found?.dashboard.cells).toMatchObject([
    { kind: 'note', options: { note: '<b>x</b>', isHtml: true } },
  ]);
});

test.each([
  [{ type: 'geomap', targets: [raw('SELECT 1')] }, 'this kind of panel (geomap)'],
  [{ type: 'graph', targets: [{ expr: 'up' }] }, 'a query that is not InfluxQL'],
  [{ type: 'graph', targets: [] }, 'a panel without a query'],
])('panels that cannot be drawn keep their places: %j', (panel, reason) => {
  const gridPos = { x: 12, y: 0, w: 12, h: 8 };
  const found = grafana({ ...panel, gridPos, id: 7 });
  const [cell] = found?.dashboard.cells ?? [];
  expect(cell).toMatchObject({ title: 'P', kind: 'placeholder', x: 6, y: 0, w: 6, h: 6 });
  expect(cell?.options['reason']).toBe(reason);
  expect(JSON.parse(String(cell?.options['original']))).toMatchObject({ ...panel, id: 7 });
  expect(found?.leftOut).toContain(`P: ${reason}`);
});

test('every unit has a number to show, and any text is one', () => {
  for (const { units } of UNIT_GROUPS) {
    for (const { id, name } of units) {
      expect(formatValue(1234.5, id), id).not.toBe('');
      expect(name, id).not.toBe('');
    }
  }
  const ids = UNIT_GROUPS.flatMap(({ units }) => units.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  const shown = (unit: string) =>
    grafana({
      type: 'timeseries',
      targets: [raw('SELECT 1')],
      fieldConfig: { defaults: { unit } },
    })?.dashboard.cells.map((cell) => formatValue(1536, String(cell.options['unit'])));
  expect(shown('bytes')).toEqual(['1.5 KiB']);
  expect(shown('decbytes')).toEqual(['1.54 kB']);
  expect(shown('kwatth')).toEqual(['1.54 MWh']);
  expect(shown('celsius')).toEqual(['1536 °C']);
  expect(shown('sishort')).toEqual(['1.54 k']);
  expect(shown('rotmhz')).toEqual(['1.54 GHz']);
  expect(shown('mohm')).toEqual(['1.54 Ω']);
  expect(shown('rowspm')).toEqual(['1.54 krows/min']);
  expect(shown('currencyEUR')).toEqual(['€1536']);
  expect(shown('furlongs')).toEqual(['1536 furlongs']);
  expect(shown('prefix:#')).toEqual(['#1536']);
});
