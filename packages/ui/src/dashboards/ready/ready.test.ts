// Every statement of every ready-made dashboard is valid, and every cell has a position.
import { parseQuery } from '@tidemark/influxql';
import { expect, test } from 'vitest';

import { expandMacros } from '../../query/macros.ts';
import { settled } from '../layout.ts';
import { readDashboard } from '../model.ts';
import { namesIn, withVariables } from '../variables.ts';
import { READY_DASHBOARDS } from './ready.ts';
import { sampleDashboard } from './sample.ts';

const ALL = [...READY_DASHBOARDS.map(({ dashboard }) => dashboard), sampleDashboard('sample')];
const MACROS = ['timeFilter', 'interval'];

test.each(ALL.map((dashboard) => [dashboard.title, dashboard] as const))(
  '%s is sound',
  (_title, dashboard) => {
    expect(readDashboard(JSON.parse(JSON.stringify(dashboard)))).toEqual(dashboard);
    expect(settled(dashboard.cells)).toEqual(dashboard.cells);
    const names = dashboard.variables.map(({ name }) => name);
    const chosen = new Map(names.map((name) => [name, ['a']]));
    const texts = [
      ...dashboard.cells.flatMap(({ queries }) => queries.map(({ text }) => text)),
      ...dashboard.variables.map(({ query }) => query),
    ];
    for (const text of texts) {
      expect(namesIn(text).filter((name) => ![...MACROS, ...names].includes(name))).toEqual([]);
      const span = { fromMs: 0, toMs: 1000, interval: '1m' };
      expect(parseQuery(expandMacros(withVariables(text, chosen), span).text).error).toBe(
        undefined,
      );
    }
  },
);
