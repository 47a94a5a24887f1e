import { parseQuery } from '@tidemark/influxql';
import { describe, expect, test } from 'vitest';

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
  expect(found?.dashboard.cells).toMatchObject(cells);
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

test('what of Grafana is not taken over is said, each once', () => {
  const found = grafana(
    {
      type: 'timeseries',
      targets: [raw('SELECT $__range FROM m'), { expr: 'up' }, { expr: 'down' }, { hide: true }],
      alert: {},
      transformations: [{}],
      repeat: 'host',
      fieldConfig: { defaults: { unit: 'furlongs' }, overrides: [{}] },
    },
    { templating: { list: [{ type: 'adhoc', name: 'f' }] } },
  );
  expect(found?.leftOut).toEqual([
    'P: a query that is not InfluxQL',
    'P: a query that is hidden',
    'P: its alert rule; write a task for it',
    'P: transformations of the answer',
    'P: settings of single fields',
    'P: it is shown once, not for each value of host',
    'P: the unit furlongs',
    'the variable f (adhoc)',
    'P: $__range stands for nothing here; change the statement',
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
