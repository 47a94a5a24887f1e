// Definitions are complete enough for their reference pages.
import { expect, test } from 'vitest';
import {
  formatHandlerReference,
  formatNodeReference,
  HANDLER_DEFINITIONS,
  HANDLERS,
  NODES,
} from './index.ts';

test('every node that scripts can make is on the page of nodes', () => {
  const page = formatNodeReference();
  const missing = NODES.filter(
    (row) => row.category !== 'internal' && !page.includes(`### ${row.type}\n`),
  );

  expect(missing).toEqual([]);
  expect(page).toContain('| `.unit(unit: duration)` | `1s` | unit of time |');
  expect(page).toContain("| `.details(details: string)` | `'{{ json . }}'` | HTML template");
});

test('every kind of handler is on the page of handlers, with the names that scripts know', () => {
  const page = formatHandlerReference();

  const missing = HANDLER_DEFINITIONS.filter(({ kind }) => !page.includes(`## ${kind}\n`));
  expect(missing).toEqual([]);
  expect(page).toContain('In scripts: `.slack()`, `.chat()`.');
  expect(page).toContain('| `.teams(teams: string…)` | teams; none means the configured ones |');
  expect(page).toContain('Only what `alert.allowed-programs` lists. |');
});

test('a root is written as scripts write it, and a line in a text splits no row', () => {
  const page = formatNodeReference();

  expect(page).toContain('`stream` – ');
  expect(page).not.toContain('`|stream');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.filter((line) => line.split(/(?<!\\)\|/).length !== 5)).toEqual([]);
});

test('rows say what they are in one sentence without full stop', () => {
  const summaries = [...NODES, ...HANDLERS].flatMap((row) => [
    row.summary,
    ...row.properties.map((property) => property.summary),
  ]);

  for (const summary of summaries) expect(summary).toMatch(/^\S.*[^.\s]$/);
});

test('types and labels of nodes are unique, apart from the two forecasts', () => {
  const types = NODES.map((row) => row.type);
  const labels = NODES.map((row) => row.label);

  expect(new Set(types).size).toBe(types.length);
  expect(labels.length - new Set(labels).size).toBe(1);
});
