// Twelve dashboards of other systems, as large as real ones and with every type of panel, option
// and variable: how their panels are imported, and whether each draws its results.
import { hasPrograms, query, send, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { CHRONOGRAF_EXPORTS } from './foreign/exports/chronograf.ts';
import { foreignLines } from './foreign/exports/data.ts';
import { GRAFANA_EXPORTS } from './foreign/exports/grafana.ts';
import { Visit } from './visit.ts';

type Fields = Readonly<Record<string, any>>;

type Stored = {
  readonly title: string;
  readonly kind: string;
  readonly queries: readonly { readonly text: string; readonly isHidden?: boolean }[];
  readonly options: Fields;
};

const EXPORTS: readonly (readonly [name: string, document: object])[] = [
  ...Object.entries(GRAFANA_EXPORTS).map(
    ([name, document]) => [`grafana ${name}`, document] as const,
  ),
  ...Object.entries(CHRONOGRAF_EXPORTS).map(
    ([name, document]) => [`chronograf ${name}`, document] as const,
  ),
];

/** Panels of a document, those within rows too; rows of old are panels of their own. */
function panelsOf(document: Fields): readonly Fields[] {
  const inner: Fields = document['dashboard'] ?? document['data'] ?? document;
  const flat = [...(inner['panels'] ?? []), ...(inner['cells'] ?? [])] as readonly Fields[];
  const rows = (inner['rows'] ?? []) as readonly Fields[];
  return [
    ...flat.flatMap((panel) => [panel, ...((panel['panels'] ?? []) as readonly Fields[])]),
    ...rows.flatMap((row) => [row, ...((row['panels'] ?? []) as readonly Fields[])]),
  ];
}

/** Selected values of the exports' variables, as a server needs them in statements. */
const CHOSEN: Readonly<Record<string, string>> = {
  field: 'usage_user',
  policy: 'autogen',
  measurement: 'cpu',
  main: 'a',
  factor: '2',
  key: 'path',
};

function statementsOf(cell: Stored, isChronograf: boolean): readonly string[] {
  return cell.queries
    .filter(({ isHidden }) => isHidden !== true)
    .map(({ text }) =>
      text
        .replaceAll('$timeFilter', 'time > now() - 1h')
        .replaceAll('$__range_s', '3600')
        .replaceAll(/\$__interval|\$\{?interval\}?/g, '1m')
        .replaceAll(/\/\^?\$\{?\w+\}?\$?\//g, '/.*/')
        .replaceAll(/\$\{?(\w+)\}?/g, (_, name: string) =>
          isChronograf && name === 'measurement' ? 'mem' : (CHOSEN[name] ?? 'a'),
        ),
    );
}

describe.skipIf(!hasPrograms('chromium'))('exports of other systems', () => {
  let visit: Visit;
  /** Totals of all exports. */
  const counted = { panels: 0, kept: 0, influxql: 0, whole: 0 };

  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE telegraf');
    await write(tsdb, 'telegraf', foreignLines(Date.now()));
  }, 60_000);
  afterAll(() => visit.close());

  const imported = async (document: object) => {
    const { page } = visit;
    await visit.show('dashboards');
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('JSON').fill(JSON.stringify(document));
    await dialog.getByText(/^From (?:Grafana|Chronograf):/).waitFor();
    const leftOut = await dialog.getByRole('listitem').allTextContents();
    await dialog.getByLabel('Database').selectOption('telegraf');
    await dialog.getByRole('button', { name: 'Import dashboard' }).click();
    await page.waitForURL(/id=/);
    const id = new URL(page.url()).searchParams.get('id') ?? '';
    const stored = await send(`${visit.server.tsdb}/api/documents?kind=dashboards&id=${id}`);
    const { content } = JSON.parse(stored.text) as { readonly content: Fields };
    return { id, leftOut, cells: content['cells'] as readonly Stored[] };
  };

  /**
   * Lines that a server answers to the statements of a cell: series by their columns of numbers.
   */
  const answered = async (cell: Stored, isChronograf: boolean) => {
    let series = 0;
    let lines = 0;
    let rows = 0;
    for (const statement of statementsOf(cell, isChronograf)) {
      const parameters = new URLSearchParams({ q: statement, db: 'telegraf' });
      const { text } = await send(`${visit.server.tsdb}/query?${parameters}`);
      const { results = [], error } = JSON.parse(text) as Fields;
      expect([cell.title, statement, error, results.map((one: Fields) => one['error'])]).toEqual([
        cell.title,
        statement,
        undefined,
        results.map(() => undefined),
      ]);
      for (const one of results.flatMap((result: Fields) => result['series'] ?? []) as Fields[]) {
        const columns = (one['columns'] as string[]).map((_, at) => at).slice(1);
        const values = one['values'] as readonly (readonly unknown[])[];
        const has = (at: number, is: (value: unknown) => boolean): boolean =>
          values.some((row) => is(row[at]));
        series += columns.filter((at) => has(at, (value) => value !== null)).length;
        lines += columns.filter((at) => has(at, (value) => typeof value === 'number')).length;
        rows += values.length;
      }
    }
    return { series, lines, rows };
  };

  /** Whether options of the cell hide something. */
  const isPartial = ({ options }: Stored): boolean =>
    JSON.stringify(options['overrides'] ?? '').includes('"isHidden":true') ||
    ((options['transformations'] ?? []) as Fields[]).some(({ kind }) =>
      ['queries', 'hide', 'keep', 'limit'].includes(kind),
    );

  test.each(EXPORTS)('%s', { timeout: 180_000 }, async (name, document) => {
    const { page } = visit;
    const isChronograf = name.startsWith('chronograf');
    const panels = panelsOf(document);
    const { id, leftOut, cells } = await imported(document);

    // None is missing, and what is drawn by nothing says why and keeps what it was.
    counted.panels += panels.length;
    counted.kept += cells.length;
    expect(cells.map(({ title }) => title).toSorted()).toEqual(
      panels.map((panel) => String(panel['title'] ?? panel['name'] ?? '')).toSorted(),
    );
    for (const { title, kind, options } of cells) {
      if (kind !== 'placeholder') continue;
      expect(options['reason']).not.toBe('');
      expect(JSON.parse(options['original'])).toMatchObject(
        isChronograf ? { name: title } : { title },
      );
      const where = title === '' ? '' : `${title}: `;
      expect(leftOut).toContain(where + options['reason']);
    }
    expect(leftOut.toSorted()).toMatchSnapshot('left out');

    // All of it on the screen, rows unfolded.
    await page.setViewportSize({ width: 1280, height: 6000 });
    await visit.show(`dashboards?id=${id}`);
    await page.locator('.dash-grid').waitFor();
    const folded = page.locator('.dash-fold[aria-expanded=false]');
    while ((await folded.count()) > 0) await folded.first().click();
    await expect.poll(() => page.locator('.dash-cell .skeleton').count()).toBe(0);
    const different: string[] = [];
    for (const cell of cells) {
      if (cell.kind === 'placeholder' || cell.queries.length === 0) continue;
      if (statementsOf(cell, isChronograf).length === 0) continue;
      const expected = await answered(cell, isChronograf);
      // A variable of a title is shown as its value, and what repeats once for each.
      const title = cell.title.replaceAll(/(?:\$\{?|\[\[)\w+(?:\}|\]\])?/g, '.*');
      const regions = page.getByRole('region', { name: new RegExp(`^${title} \\(`) });
      let drawn = 0;
      for (const region of await regions.all()) drawn += await drawnBy(cell, region);
      const wanted = wantedOf(cell, expected);
      const isRepeated = typeof cell.options['repeat'] === 'string';
      counted.influxql++;
      const isWhole =
        drawn === wanted ||
        (isRepeated && drawn > wanted) ||
        (isPartial(cell) && drawn > 0 && drawn < wanted);
      if (isWhole) counted.whole++;
      else different.push(`${cell.title} (${cell.kind}): ${drawn} of ${wanted}`);
    }
    await visit.takePicture(`export-${name.replace(' ', '-')}`);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(different).toEqual([]);
    expect(visit.faults).toEqual([]);
  });

  test('at least 99 % of panels are kept, and 95 % draw every series', () => {
    expect(counted.panels).toBeGreaterThan(120);
    expect(counted.influxql).toBeGreaterThan(70);
    expect(counted.kept / counted.panels).toBeGreaterThanOrEqual(0.99);
    expect(counted.whole / counted.influxql).toBeGreaterThanOrEqual(0.95);
  });
});

/** The expected number of rows, lanes or lines of a cell. */
function wantedOf(
  { kind, options }: Stored,
  answer: { readonly series: number; readonly lines: number; readonly rows: number },
): number {
  if (kind === 'states') return answer.series;
  const steps = (options['transformations'] ?? []) as Fields[];
  const isReduced = steps.some((step) => step['kind'] === 'reduce');
  return kind === 'table' && !isReduced ? answer.rows : answer.lines;
}

type Region = ReturnType<Visit['page']['locator']>;

/** The number of things that a cell shows, counted by its kind. */
async function drawnBy(cell: Stored, region: Region): Promise<number> {
  const bars = region.locator('table.bars tbody tr');
  switch (cell.kind) {
    case 'single':
      return region.locator('.single-value').count();
    case 'gauge':
      return region.locator('figure.gauge').count();
    case 'states':
      return region.locator('.lane').count();
    case 'table':
      return Number(await region.locator('table').getAttribute('aria-rowcount'));
    case 'bar':
      if ((await bars.count()) > 0) return bars.count();
  }
  const picture = region.getByRole('img');
  if ((await picture.count()) === 0) return 0;
  const label = await picture.first().getAttribute('aria-label');
  return Number(/(\d+) series/.exec(label ?? '')?.[1] ?? 0);
}
