// Registry rows are complete enough for their reference pages.
import { expect, test } from 'vitest';
import { formatHandlerReference, formatNodeReference, HANDLERS, NODES } from './index.ts';

test('every node that scripts can make is on the page of nodes', () => {
  const page = formatNodeReference();
  const missing = NODES.filter(
    (row) => row.category !== 'internal' && !page.includes(`### ${row.type}\n`),
  );

  expect(missing).toEqual([]);
  expect(page).toContain('| `.unit(unit: duration)` | `1s` | unit of time |');
  expect(page).toContain("| `.details(details: string)` | `'{{ json . }}'` | HTML template");
});

test('every handler is on the page of handlers', () => {
  const page = formatHandlerReference();

  expect(HANDLERS.filter((row) => !page.includes(`## ${row.name}\n`))).toEqual([]);
  expect(page).toContain('`.slack()`, also `.chat` – ');
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
