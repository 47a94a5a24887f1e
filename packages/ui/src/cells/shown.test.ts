import { expect, test } from 'vitest';

import { loadPatterns } from '../dashboards/patterns.ts';
import { shownGrid, shownLanes, shownLines } from './shown.ts';

const at = (second: number): string => new Date(second * 1000).toISOString();

type Rows = readonly (readonly (string | number | null)[])[];

const statement = (letter: string, series: readonly object[], label = '') => ({
  id: 0,
  label,
  letter,
  series: series.map((one) => ({
    name: 'cpu',
    tags: {},
    columns: ['time', 'mean'],
    rows: [] as Rows,
    ...one,
  })),
  rowCount: 0,
  messages: [],
  diagnostics: [],
});

const ROWS: Rows = [
  [at(1), 1],
  [at(2), 3],
];
const hosts = (letter = 'A', label = '') =>
  statement(
    letter,
    ['a', 'b'].map((host) => ({ tags: { host }, rows: ROWS })),
    label,
  );

const labels = async (options: object, statements = [hosts()]) => {
  const cell = { options: options as Record<string, unknown> };
  await loadPatterns(cell.options);
  return shownLines(cell, statements).series.map(({ label }) => label);
};

test('all series are shown; parts of a label stand for those of their names', async () => {
  expect(await labels({})).toEqual(['mean host=a', 'mean host=b']);
  expect(await labels({}, [hosts('A', '$m of $tag_host ($col)')])).toEqual([
    'cpu of a (mean)',
    'cpu of b (mean)',
  ]);
  expect(await labels({}, [hosts('A', '[[tag_host]] $unknown')])).toEqual([
    'a $unknown',
    'b $unknown',
  ]);
  expect(await labels({}, [hosts('A', '$m'), hosts('B', '$m')])).toEqual([
    'cpu',
    'cpu (2)',
    'cpu (3)',
    'cpu (4)',
  ]);
});

test('overrides find series by name, by pattern and by query, and later ones win', async () => {
  const overrides = [
    { by: 'all', match: '', look: { decimals: 1, colour: 'series-2' } },
    { by: 'pattern', match: '/host=a$/', look: { unit: 's', axis: 'right', colour: 'bad' } },
    { by: 'name', match: 'cpu.mean {host: b}', look: { label: 'Host B', isNegative: true } },
    { by: 'query', match: 'B', look: { isHidden: true } },
  ];
  const cell = { options: { overrides } };
  await loadPatterns(cell.options);

  const { series } = shownLines(cell, [hosts('A'), hosts('B')]);

  expect(series.map(({ label, look, values }) => [label, look, [...values]])).toEqual([
    ['mean host=a', expect.objectContaining({ unit: 's', axis: 'right', colour: 'bad' }), [1, 3]],
    ['Host B', expect.objectContaining({ decimals: 1, colour: 'series-2' }), [-1, -3]],
  ]);
});

test.each([
  [{ kind: 'rename', names: { 'mean host=a': 'A' } }, ['A', 'mean host=b']],
  [{ kind: 'rename-pattern', pattern: '.*host=(.*)', to: 'host $1' }, ['host a', 'host b']],
  [{ kind: 'hide', names: ['mean host=a'], pattern: '' }, ['mean host=b']],
  [{ kind: 'keep', names: [], pattern: '/=a/' }, ['mean host=a']],
  [{ kind: 'queries', pattern: 'B' }, []],
])('%j of lines', async (step, expected) => {
  expect(await labels({ transformations: [step] })).toEqual(expected);
});

test.each([
  [{}, [1, 2, 3, 9], [1, NaN, 3, 9]],
  [{ nulls: 'zero' }, [1, 2, 3, 9], [1, 0, 3, 9]],
  [{ nulls: 'connect' }, [1, 3, 9], [1, 3, 9]],
  [{ bridgeMs: 2000 }, [1, 3, 9], [1, 3, 9]],
  [{ bridgeMs: 1000 }, [1, 2, 3, 9], [1, NaN, 3, 9]],
])('missing values with %j', (options, seconds, values) => {
  const rows = [
    [at(1), 1],
    [at(2), null],
    [at(3), 3],
    [at(9), 9],
  ];
  const [line] = shownLines({ options }, [statement('A', [{ rows }])]).series;
  expect([...(line?.times ?? [])]).toEqual(seconds.map((second) => second * 1000));
  expect([...(line?.values ?? [])]).toEqual(values);
});

test('columns of a table are renamed, ordered, hidden, kept, sorted, cut', async () => {
  const rows: Rows = [
    [at(1), 2, 'x'],
    [at(2), 1, 'y'],
    [at(3), 10, 'z'],
  ];
  const answer = statement('A', [{ columns: ['time', 'mean', 'note'], rows }]);
  const grid = async (transformations: readonly object[], more: object = {}) => {
    const options = { transformations, ...more };
    await loadPatterns(options);
    return shownGrid({ options }, [answer]);
  };

  const organised = await grid([
    { kind: 'hide', names: ['note'], pattern: '' },
    { kind: 'order', names: ['mean', 'Time'] },
    { kind: 'rename', names: { Time: 'When', mean: 'Load' } },
    { kind: 'sort', by: 'Load', isDown: true },
    { kind: 'limit', count: 2 },
  ]);
  expect(organised).toMatchObject({
    columns: ['Load', 'When'],
    rows: [
      [10, at(3)],
      [2, at(1)],
    ],
    timeAt: 1,
  });
  const kept = await grid([{ kind: 'keep', names: [], pattern: '^no' }]);
  expect(kept).toMatchObject({ columns: ['note'], rows: [['x'], ['y'], ['z']], timeAt: -1 });
  const overridden = await grid([], {
    overrides: [
      { by: 'name', match: 'mean', look: { label: 'Mean', unit: 's' } },
      { by: 'name', match: 'Time', look: { isHidden: true } },
    ],
  });
  expect(overridden.columns).toEqual(['Mean', 'note']);
  expect(overridden.looks[0]).toMatchObject({ unit: 's' });
});

test('reduced, there is a row of figures for each series', () => {
  const options = { transformations: [{ kind: 'reduce', calcs: ['max', 'mean', 'count'] }] };
  expect(shownGrid({ options }, [hosts()])).toMatchObject({
    columns: ['Field', 'Max', 'Mean', 'Count'],
    rows: [
      ['mean host=a', 3, 2, 2],
      ['mean host=b', 3, 2, 2],
    ],
  });
});

test('lanes have the names and the order that the cell wants', () => {
  const rows: Rows = [[at(1), 'ok']];
  const answer = {
    statements: [statement('A', [{ tags: { host: 'a' }, columns: ['time', 'state'], rows }])],
    span: { fromMs: 0, toMs: 9000 },
  };
  const options = { overrides: [{ by: 'name', match: 'a', look: { label: 'Host A' } }] };
  expect(shownLanes({ options }, answer).map(({ label }) => label)).toEqual(['Host A']);
});
