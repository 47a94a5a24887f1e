import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { optionsOf } from '../dashboards/model.ts';
import { isKind, kindOf, KINDS } from './registry.ts';

const SOURCES = join(import.meta.dirname, '..');

test('kinds have ids of their own, and so have the options of each', () => {
  const ids = KINDS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const kind of KINDS) {
    const names = optionsOf(kind).map(({ name }) => name);
    expect([kind.id, new Set(names).size]).toEqual([kind.id, names.length]);
    expect(kind.title).not.toBe('');
    expect(kindOf(kind.id)).toBe(kind);
  }
  expect([isKind('line'), isKind('none'), isKind(3)]).toEqual([true, false, false]);
  expect(kindOf('none').id).toBe('line');
});

test('an option is what is meant anyway, whatever a document says', () => {
  for (const row of KINDS.flatMap(optionsOf)) {
    for (const value of [undefined, null, 'x', -1, NaN, true, [], {}, [null, 3, 'x', {}, []]]) {
      expect(() => JSON.stringify(row.read(value)), row.name).not.toThrow();
      // Reading the result again changes nothing.
      expect([row.name, row.read(row.read(value))]).toEqual([row.name, row.read(value)]);
    }
  }
});

test('the registry alone names kinds: a new one edits nothing else', () => {
  const folders = readdirSync(join(SOURCES, 'cells'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && KINDS.some(({ id }) => id === entry.name))
    .map(({ name }) => name);
  const named = new RegExp(`/(${folders.join('|')})/(?:kind|drawing)\\.tsx?'`);

  const others = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
    .filter((path) => named.test(readFileSync(join(SOURCES, path), 'utf8')));

  // The grid folds rows, and what an import cannot draw is a placeholder.
  expect(others.toSorted()).toEqual([
    'cells/registry.ts',
    'dashboards/import/placeholder.ts',
    'pages/dashboards/grid.tsx',
  ]);
});
