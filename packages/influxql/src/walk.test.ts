import { expect, test } from 'vitest';

import type { SelectStatement } from './ast.ts';
import { parseQuery } from './parse.ts';
import { printStatement } from './print.ts';
import { measurementsIn, measurementSources, rewriteSelect, selectsOf } from './walk.ts';
import { isSubquery, subqueriesIn } from './walk.ts';

function select(text: string): SelectStatement {
  const [statement] = parseQuery(text).query.statements;
  if (statement?.kind !== 'select') throw new Error('a SELECT was expected');
  return statement;
}

const NESTED = select('SELECT a FROM m, (SELECT b AS a FROM n, (SELECT b FROM o)), p');

test('sources are told apart in the order of the text', () => {
  expect(measurementsIn(NESTED.sources).map(({ name }) => name)).toEqual(['m', 'p']);
  expect(subqueriesIn(NESTED.sources)).toEqual([NESTED.sources[1]]);
  expect(measurementSources(NESTED).map(({ name }) => name)).toEqual(['m', 'n', 'o', 'p']);
  expect(selectsOf(NESTED).map(({ sources }) => sources.length)).toEqual([1, 2, 3]);
});

test('a rewritten statement has new nodes only where something has changed', () => {
  const same = rewriteSelect(NESTED, { measurement: (source) => source });
  const renamed = rewriteSelect(NESTED, {
    measurement: (source) => (source.name === 'o' ? { ...source, name: 'q' } : source),
  });

  expect(same.sources[0]).toBe(NESTED.sources[0]);
  expect(renamed.sources[0]).toBe(NESTED.sources[0]);
  expect(printStatement(renamed)).toBe(
    'SELECT a FROM m, (SELECT b AS a FROM n, (SELECT b FROM q)), p',
  );
});

test('a further kind of source does not compile before it is decided what it is', () => {
  const join = { kind: 'join' } as const;
  // @ts-expect-error -- neither a measurement nor a subquery
  expect(isSubquery(join)).toBe(false);
  // @ts-expect-error -- the same in a list
  expect(subqueriesIn([join])).toEqual([]);
});
