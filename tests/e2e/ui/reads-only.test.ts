// Whatever runs text by itself sends only statements that read: links, refreshes, plans, previews,
// cells, variables and annotations.
import { parseQuery } from '@tidemark/influxql';
import type { Statement } from '@tidemark/influxql';
import { hasPrograms, query, write } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { place, queryOf } from './house.ts';
import { Visit } from './visit.ts';

type ChangingKind = Exclude<Statement['kind'], 'explain' | `show-${string}`>;

/** One of every kind of statement that changes something; the type demands new kinds. */
const CHANGES: Readonly<Record<ChangingKind, string>> = {
  select: 'SELECT v INTO w FROM victim',
  'drop-measurement': 'DROP MEASUREMENT victim',
  'drop-series': 'DROP SERIES FROM victim',
  delete: 'DELETE FROM victim',
  'drop-shard': 'DROP SHARD 1',
  'create-database': 'CREATE DATABASE made',
  'drop-database': 'DROP DATABASE house',
  'create-retention-policy': 'CREATE RETENTION POLICY p ON house DURATION 1h REPLICATION 1',
  'alter-retention-policy': 'ALTER RETENTION POLICY autogen ON house DURATION 2h',
  'drop-retention-policy': 'DROP RETENTION POLICY autogen ON house',
  'create-continuous-query':
    'CREATE CONTINUOUS QUERY c ON house BEGIN SELECT mean(v) INTO w FROM m GROUP BY time(1m) END',
  'drop-continuous-query': 'DROP CONTINUOUS QUERY c ON house',
  'create-subscription':
    "CREATE SUBSCRIPTION s ON house.autogen DESTINATIONS ALL 'http://127.0.0.1:1'",
  'drop-subscription': 'DROP SUBSCRIPTION s ON house.autogen',
  'create-user': "CREATE USER u WITH PASSWORD 'p'",
  'drop-user': 'DROP USER u',
  'set-password': "SET PASSWORD FOR u = 'p'",
  grant: 'GRANT ALL ON house TO u',
  'grant-admin': 'GRANT ALL PRIVILEGES TO u',
  revoke: 'REVOKE ALL ON house FROM u',
  'revoke-admin': 'REVOKE ALL PRIVILEGES FROM u',
  'kill-query': 'KILL QUERY 5',
};

/** Alone, and among statements that read. */
const TEXTS = Object.values(CHANGES).flatMap((text) => [text, `SELECT v FROM victim; ${text}`]);

describe.skipIf(!hasPrograms('chromium'))('what runs text by itself', () => {
  let visit: Visit;
  /** Texts of all statements that the page has sent. */
  const sent: string[] = [];

  beforeAll(async () => {
    visit = await Visit.open();
    const { tsdb } = visit.server;
    await query(tsdb, 'CREATE DATABASE house');
    await write(tsdb, 'house', `victim,name=a v=1 ${BigInt(Date.now() - 60_000) * 1_000_000n}`);
    visit.page.on('request', (request) => {
      const text = new URLSearchParams(request.postData() ?? '').get('q');
      if (request.url().includes('/query') && text !== null) sent.push(text);
    });
  }, 60_000);
  afterAll(() => visit.close());

  /** Requests that would have changed something. */
  const changes = (): readonly string[] =>
    sent.filter((text) =>
      parseQuery(text).query.statements.some(
        (statement) =>
          (!statement.kind.startsWith('show-') &&
            !['select', 'explain'].includes(statement.kind)) ||
          (statement.kind === 'select' && statement.into !== undefined) ||
          (statement.kind === 'explain' && statement.statement.into !== undefined),
      ),
    );
  const refused = () => visit.page.getByText('changes data, so it is not run automatically');
  const press = (name: string) => visit.page.getByRole('button', { name, exact: true }).click();

  test('every kind of statement is in the table', () => {
    for (const [kind, text] of Object.entries(CHANGES)) {
      expect(parseQuery(text).query.statements[0]?.kind, text).toBe(kind);
    }
  });

  test('links, plans, refreshes and spans of Explore', async () => {
    const { page } = visit;
    for (const text of [
      ...Object.values(CHANGES),
      'SELECT v FROM victim; DROP MEASUREMENT victim',
    ]) {
      await visit.show(`explore?db=house&refresh=5s&q=${encodeURIComponent(text)}`);
      await refused().waitFor();
      await press('Explain');
      await refused().waitFor();
      await press('Zoom out');
      await refused().waitFor();
    }
    // A statement that uses the span: choosing another one must not run it.
    await visit.show('explore?db=house&q=DELETE+FROM+victim+WHERE+%24timeFilter');
    await refused().waitFor();
    await press('Last 1 hour');
    await press('Last 24 hours');
    await page.waitForURL(/from=now-24h/);
    await refused().waitFor();
    expect(changes()).toEqual([]);
  });

  test('a refresh sends no change either', async () => {
    const { page } = visit;
    await page.clock.install();
    await visit.show('explore?db=house&refresh=5s&q=DROP+MEASUREMENT+victim');
    await refused().waitFor();
    await page.clock.runFor(30_000);
    await refused().waitFor();
    expect(changes()).toEqual([]);
  });

  test('cells, previews, variables and annotations of dashboards', async () => {
    const { page, server } = visit;
    const cells = TEXTS.map((text, i) => ({
      ...place(0, i * 2, 12, 2),
      id: `c${i}`,
      title: `c${i}`,
      kind: 'table',
      queries: [queryOf(text)],
    }));
    const variables = TEXTS.map((text, i) => ({ name: `v${i}`, kind: 'query', query: text }));
    const annotations = TEXTS.map((text, i) => ({ name: `a${i}`, kind: 'query', query: text }));
    const dashboards = {
      cells: { database: 'house', cells },
      variables: { database: 'house', cells: cells.slice(0, 1), variables },
      annotations: { database: 'house', cells: cells.slice(0, 1), annotations },
    };
    for (const [id, content] of Object.entries(dashboards)) {
      await fetch(`${server.tsdb}/api/documents?kind=dashboards&id=${id}&version=0`, {
        method: 'PUT',
        body: JSON.stringify({ title: id, content }),
      });
      await visit.show(`dashboards?id=${id}`);
      await refused().first().waitFor();
    }
    await visit.show('dashboards?id=cells');
    for (const [i] of TEXTS.entries()) {
      const cell = page.getByRole('region', { name: new RegExp(`^c${i} \\(`) });
      await cell.scrollIntoViewIfNeeded();
      await cell.getByText('changes data').waitFor();
    }
    await visit.show('dashboards?id=cells&edit=1');
    await press('Actions for c0');
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByText('changes data').waitFor();
    expect(changes()).toEqual([]);
    expect(visit.faults).toEqual([]);
    const kept = await query(server.tsdb, 'SELECT v FROM victim', 'house');
    expect(kept[0]?.values).toHaveLength(1);
  });
});
