// The exports that are imported in a browser have every type of panel, variable, override,
// transformation and option, so that what is shown with them is shown of all.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { fieldAt, fieldsOf, listOf } from '../../../packages/ui/src/dashboards/fields.ts';
import type { Fields } from '../../../packages/ui/src/dashboards/fields.ts';
import { CHRONOGRAF_EXPORTS } from './foreign/exports/chronograf.ts';
import { GRAFANA_EXPORTS } from './foreign/exports/grafana.ts';

const CELLS = join(import.meta.dirname, '../../../packages/ui/src/cells');

function documentsOf(exports: Readonly<Record<string, object>>): readonly Fields[] {
  return Object.values(exports).map((each) => {
    const document = fieldsOf(each);
    return fieldsOf(document['dashboard'] ?? document['data'] ?? document);
  });
}

const GRAFANA = documentsOf(GRAFANA_EXPORTS);
const CHRONOGRAF = documentsOf(CHRONOGRAF_EXPORTS);

const PANELS = GRAFANA.flatMap((document) => [
  ...listOf(document['panels']).flatMap((panel) => [panel, ...listOf(fieldsOf(panel)['panels'])]),
  ...listOf(document['rows']).flatMap((row) => [row, ...listOf(fieldsOf(row)['panels'])]),
]).map(fieldsOf);
const OVERRIDES = PANELS.flatMap((panel) => listOf(fieldAt(panel, 'fieldConfig', 'overrides')));

const typesOf = (list: readonly unknown[], ...path: readonly string[]): ReadonlySet<unknown> =>
  new Set(list.map((each) => fieldAt(each, ...path)));

test.each([
  [
    'panels of Grafana',
    typesOf(PANELS, 'type'),
    `alertlist annolist barchart bargauge candlestick canvas dashlist datagrid debug flamegraph
    gauge geomap gettingstarted graph heatmap histogram live logs news nodeGraph piechart pluginlist
    row singlestat stat state-timeline status-history table table-old text timeseries traces trend
    welcome xychart`,
  ],
  [
    'variables of Grafana',
    typesOf(
      GRAFANA.flatMap((document) => listOf(fieldAt(document, 'templating', 'list'))),
      'type',
    ),
    'adhoc constant custom datasource groupby interval query snapshot switch system textbox',
  ],
  [
    'overrides',
    typesOf(OVERRIDES, 'matcher', 'id'),
    'byFrameRefID byName byNames byRegexp byType byValue',
  ],
  [
    'what overrides change',
    typesOf(
      OVERRIDES.flatMap((each) => listOf(fieldAt(each, 'properties'))),
      'id',
    ),
    `color custom.axisPlacement custom.drawStyle custom.fillOpacity custom.hideFrom
    custom.lineStyle custom.lineWidth custom.transform custom.width decimals displayName links
    mappings thresholds unit`,
  ],
  [
    'transformations',
    typesOf(
      PANELS.flatMap((panel) => listOf(panel['transformations'])),
      'id',
    ),
    `calculateField filterByRefId filterFieldsByName groupBy limit merge organize reduce
    renameByRegex seriesToRows sortBy`,
  ],
  [
    'mappings',
    typesOf(
      PANELS.flatMap((panel) => listOf(fieldAt(panel, 'fieldConfig', 'defaults', 'mappings'))),
      'type',
    ),
    'range regex special value',
  ],
  [
    'cells of Chronograf',
    typesOf(
      CHRONOGRAF.flatMap((document) => listOf(document['cells'])),
      'type',
    ),
    `alerts bar gauge guide line line-plus-single-stat line-stacked line-stepplot news note
    single-stat table`,
  ],
  [
    'variables of Chronograf',
    typesOf(
      CHRONOGRAF.flatMap((document) => listOf(document['templates'])),
      'type',
    ),
    'constant csv databases fieldKeys influxql map measurements tagKeys tagValues text',
  ],
])('%s', (_, given, wanted) => {
  const missing = wanted.split(/\s+/).filter((type) => !given.has(type));

  expect(missing).toEqual([]);
});

function memberAt(value: unknown, [name, ...path]: readonly string[]): unknown {
  if (name === undefined) return value;
  const member = Array.isArray(value) ? value[Number(name)] : fieldsOf(value)[name];
  return memberAt(member, path);
}

test('options', () => {
  const sources = globSync('**/*.ts', { cwd: CELLS }).map((name) =>
    readFileSync(join(CELLS, name), 'utf8'),
  );
  const paths = sources
    .flatMap((source) => [...source.matchAll(/grafanaPaths: \[([^\]]*)\]/g)])
    .flatMap(([, list = '']) => [...list.matchAll(/'([^']+)'/g)])
    .map(([, path = '']) => path);
  const isThere = (path: string): boolean => {
    const keys = path.replace(/=.*/, '').split('.');
    const from = keys[0] === 'defaults' ? ['fieldConfig', ...keys] : keys;
    return PANELS.some((panel) => memberAt(panel, from) !== undefined);
  };

  expect(paths.length).toBeGreaterThan(50);
  expect([...new Set(paths)].filter((path) => !isThere(path)).join(' ')).toBe('');
});
