// Panels of other systems, converted to options of cells.
import { expect, test } from 'vitest';

import { importDashboard } from './import.ts';

type Json = Readonly<Record<string, unknown>>;

const targets = [{ rawQuery: true, query: 'SELECT v FROM m' }];

const ofGrafana = (panel: Json) => importDashboard({ panels: [{ title: 'P', targets, ...panel }] });
const newer = (custom: Json, defaults: Json = {}, more: Json = {}): Json => ({
  type: 'timeseries',
  fieldConfig: { defaults: { custom, ...defaults }, overrides: [] },
  ...more,
});
const old = (more: Json): Json => ({ type: 'graph', ...more });
const yaxes = (left: Json, right: Json = {}): Json => ({ yaxes: [left, right] });

const GRAFANA: readonly (readonly [panel: Json, options: Json])[] = [
  [newer({}, { unit: 'ms', decimals: 2 }), { unit: 'ms', decimals: 2 }],
  [
    newer({ axisSoftMin: 0, axisSoftMax: 9 }, { min: -1, max: 5 }),
    { softMin: 0, softMax: 9, yMin: -1, yMax: 5 },
  ],
  [newer({ scaleDistribution: { type: 'log', log: 2 } }), { scale: 'log2' }],
  [
    newer({ axisLabel: 'load', axisPlacement: 'hidden' }),
    { axisLabel: 'load', isAxisHidden: true },
  ],
  [
    newer({ lineWidth: 3, fillOpacity: 0, pointSize: 7, showPoints: 'always' }),
    { lineWidth: 3, fill: 0, pointSize: 7, points: 'always' },
  ],
  [newer({ lineInterpolation: 'stepBefore' }), { course: 'stepBefore' }],
  [newer({ spanNulls: true }), { nulls: 'connect' }],
  [newer({ spanNulls: 60_000 }), { bridgeMs: 60_000 }],
  [newer({ stacking: { mode: 'percent' } }), { isStacked: true, isShare: true }],
  [newer({ thresholdsStyle: { mode: 'line+area' } }), { thresholdStyle: 'both' }],
  [
    newer(
      {},
      {
        thresholds: {
          mode: 'percentage',
          steps: [
            { color: 'green', value: null },
            { color: '#F2495C', value: 80 },
          ],
        },
      },
    ),
    { areShares: true, thresholds: [{ value: 80, level: 'bad' }] },
  ],
  [newer({}, {}, { options: { legend: { showLegend: false } } }), { hasLegend: false }],
  [
    newer(
      {},
      {},
      {
        options: {
          legend: {
            displayMode: 'table',
            placement: 'right',
            calcs: ['mean', 'lastNotNull', 'unheard'],
          },
        },
      },
    ),
    { legendForm: 'table', legendSide: 'right', legendCalcs: ['mean', 'last'] },
  ],
  [
    newer({}, {}, { description: 'what it is', interval: '>30s', timeFrom: '6h', timeShift: '1d' }),
    { description: 'what it is', interval: '30s', timeFrom: '6h', timeShift: '1d' },
  ],
  [
    newer({}, {}, { repeat: 'host', repeatDirection: 'v', maxPerRow: 3 }),
    { repeat: 'host', repeatDirection: 'down', repeatMax: 3 },
  ],
  [
    old({ nullPointMode: 'null as zero', steppedLine: true, linewidth: 2, fill: 4 }),
    { nulls: 'zero', course: 'stepAfter', lineWidth: 2, fill: 40 },
  ],
  [
    old(yaxes({ format: 'bytes', label: 'used', logBase: 10, min: '0', max: 8, show: false })),
    { unit: 'bytes', axisLabel: 'used', scale: 'log10', yMin: 0, yMax: 8, isAxisHidden: true },
  ],
  [
    old({
      seriesOverrides: [{ alias: '/load/', yaxis: 2, bars: true }],
      ...yaxes({}, { format: 'percent' }),
    }),
    {
      overrides: [
        { by: 'pattern', match: '/load/', look: { unit: 'percent' } },
        { by: 'pattern', match: '/load/', look: { axis: 'right', form: 'bars' } },
      ],
    },
  ],
  [
    old({ aliasColors: { a: '#F2495C', b: 'green' } }),
    {
      overrides: [
        { match: 'a', look: { colour: 'series-5' } },
        { match: 'b', look: { colour: 'series-3' } },
      ],
    },
  ],
  [
    old({ legend: { show: true, alignAsTable: true, rightSide: true, avg: true, values: true } }),
    { legendForm: 'table', legendSide: 'right', legendCalcs: ['mean'] },
  ],
  [
    old({ thresholds: [{ value: 5, colorMode: 'critical', fill: true, line: false }] }),
    { thresholds: [{ value: 5, level: 'bad' }], thresholdStyle: 'area' },
  ],
  [
    {
      type: 'stat',
      options: { graphMode: 'none', reduceOptions: { calcs: ['max'] } },
      fieldConfig: { defaults: { noValue: '-' } },
    },
    { hasTrend: false, calc: 'max', noValue: '-' },
  ],
  [
    {
      type: 'stat',
      fieldConfig: {
        defaults: {
          mappings: [
            { type: 'value', options: { 1: { text: 'up', color: 'green' } } },
            { type: 'range', options: { from: 2, to: null, result: { text: 'many' } } },
            { type: 'special', options: { match: 'null+nan', result: { text: 'gone' } } },
          ],
        },
      },
    },
    {
      mappings: [
        { kind: 'value', match: '1', text: 'up', level: 'good' },
        { kind: 'range', from: 2, text: 'many' },
        { kind: 'special', match: 'null', text: 'gone' },
        { kind: 'special', match: 'nan', text: 'gone' },
      ],
    },
  ],
  [
    {
      type: 'singlestat',
      valueName: 'total',
      prefix: '~',
      postfix: '!',
      nullText: 'none',
      valueMaps: [{ op: '=', value: '0', text: 'off' }],
      thresholds: '1,2',
      colors: ['green', 'orange', 'red'],
    },
    {
      calc: 'sum',
      prefix: '~',
      suffix: '!',
      noValue: 'none',
      mappings: [{ match: '0', text: 'off' }],
      thresholds: [
        { value: 1, level: 'warn' },
        { value: 2, level: 'bad' },
      ],
    },
  ],
  [
    { type: 'gauge', fieldConfig: { defaults: { min: -5, max: 5 } } },
    { min: -5, max: 5 },
  ],
  [
    { type: 'bargauge', options: { reduceOptions: { calcs: ['mean'] } } },
    { isPerSeries: true, calc: 'mean' },
  ],
  [{ type: 'histogram', options: { bucketCount: 7 } }, { buckets: 7 }],
  [
    {
      type: 'table-old',
      styles: [
        { pattern: '/used/', type: 'number', unit: 'percent', decimals: 1, alias: 'Used' },
        { pattern: 'free', type: 'hidden' },
      ],
    },
    {
      unit: 'percent',
      overrides: [
        { by: 'pattern', match: '/used/', look: { unit: 'percent', decimals: 1, label: 'Used' } },
        { by: 'name', match: 'free', look: { isHidden: true } },
      ],
    },
  ],
  [{ type: 'row', collapsed: true, targets: [] }, { isFolded: true }],
];

test.each(GRAFANA)('of a panel of Grafana: %j', (panel, options) => {
  const found = ofGrafana(panel);
  expect(found?.dashboard.cells[0]?.options).toMatchObject(options);
  const others = found?.leftOut.filter((line) => !line.includes('means nothing'));
  expect(others).toEqual([]);
});

test.each([
  [
    'organize',
    { excludeByName: { Time: true }, indexByName: { b: 1, a: 0 }, renameByName: { a: 'A' } },
    [
      { kind: 'hide', names: ['Time'] },
      { kind: 'order', names: ['a', 'b'] },
      { kind: 'rename', names: { a: 'A' } },
    ],
  ],
  [
    'renameByRegex',
    { regex: 'x(.*)', renamePattern: '$1' },
    [{ kind: 'rename-pattern', pattern: 'x(.*)', to: '$1' }],
  ],
  [
    'filterFieldsByName',
    { include: { names: ['a'] }, exclude: { pattern: '/b/' } },
    [
      { kind: 'keep', names: ['a'] },
      { kind: 'hide', pattern: '/b/' },
    ],
  ],
  ['filterByRefId', { include: 'A|B' }, [{ kind: 'queries', pattern: 'A|B' }]],
  ['reduce', { reducers: ['max', 'stdDev'] }, [{ kind: 'reduce', calcs: ['max', 'deviation'] }]],
  ['sortBy', { sort: [{ field: 'a', desc: true }] }, [{ kind: 'sort', by: 'a', isDown: true }]],
  ['limit', { limitField: 5 }, [{ kind: 'limit', count: 5 }]],
])('the transformation %s', (id, options, expected) => {
  const found = ofGrafana({ type: 'table', transformations: [{ id, options }] });
  expect(found?.dashboard.cells[0]?.options['transformations']).toMatchObject(expected);
  expect(found?.leftOut).toEqual([]);
});

test('a transformation that is switched off is none', () => {
  const transformations = [{ id: 'limit', disabled: true, options: {} }];
  const found = ofGrafana({ type: 'table', transformations });
  expect(found?.dashboard.cells[0]?.options['transformations']).toBeUndefined();
});

test('hidden queries are kept and not asked; an alias keeps its parts', () => {
  const found = ofGrafana({
    type: 'timeseries',
    targets: [
      { rawQuery: true, query: 'SELECT a FROM m', hide: true },
      { rawQuery: true, query: 'SELECT b FROM m', alias: '$tag_host [[col]]' },
    ],
  });
  expect(found?.dashboard.cells[0]?.queries).toMatchObject([
    { text: 'SELECT a FROM m', isHidden: true },
    { text: 'SELECT b FROM m', label: '$tag_host [[col]]' },
  ]);
  expect(found?.leftOut).toEqual([]);
});

const AXIS = { bounds: ['', ''], label: '', prefix: '', suffix: '', base: '10', scale: 'linear' };

test.each<readonly [Json, Json]>([
  [
    { type: 'line', axes: { y: { ...AXIS, bounds: ['0', '50'], label: 'load', scale: 'log' } } },
    { yMin: 0, yMax: 50, axisLabel: 'load', scale: 'log10' },
  ],
  [
    { type: 'line-stacked', axes: { y: { ...AXIS, base: '2' } } },
    { isStacked: true, unit: 'bytes' },
  ],
  [{ type: 'line-stepplot' }, { course: 'stepAfter' }],
  [
    {
      type: 'single-stat',
      axes: { y: { ...AXIS, prefix: 'up ' } },
      decimalPlaces: { isEnforced: true, digits: 1 },
    },
    { prefix: 'up ', decimals: 1 },
  ],
  [
    {
      type: 'gauge',
      colors: [
        { type: 'min', value: '5' },
        { type: 'max', value: '9' },
      ],
    },
    { min: 5, max: 9 },
  ],
  [{ type: 'line', legend: { type: 'static', orientation: 'right' } }, { legendSide: 'right' }],
  [
    {
      type: 'table',
      fieldOptions: [
        { internalName: 'b', displayName: 'B', visible: true },
        { internalName: 'a', visible: false },
      ],
    },
    {
      transformations: [
        { kind: 'hide', names: ['a'] },
        { kind: 'order', names: ['b', 'a'] },
        { kind: 'rename', names: { b: 'B' } },
      ],
    },
  ],
])('of a cell of Chronograf: %j', (cell, options) => {
  const queries = [{ query: 'SELECT v FROM m' }];
  const found = importDashboard({ cells: [{ name: 'P', queries, ...cell }] });
  expect(found?.dashboard.cells[0]?.options).toMatchObject(options);
  expect(found?.leftOut).toEqual([]);
});
