import { expect, test, vi } from 'vitest';

// The address of the application, which a module reads when it is loaded.
vi.stubGlobal('location', { pathname: '/below/ui/dashboards', search: '' });
const { paramsOf, toggledFilter, viewOf } = await import('./state.ts');

const VIEW = {
  policy: 'year',
  measurement: 'events',
  text: 'message',
  level: 'severity',
  columns: ['host', 'a,b'],
  filters: [
    { name: 'level', isNot: false, value: 'error' },
    { name: 'host', isNot: true, value: '"&=' },
  ],
  search: '"rolled back" -x',
  isWrapped: true,
  isFollowing: false,
};

test('a link restores the view', () => {
  const params = new URLSearchParams(paramsOf(VIEW) as Record<string, string>);

  expect(viewOf(new URLSearchParams(params.toString()))).toEqual(VIEW);
});

test('no columns are something else than columns that nobody chose', () => {
  expect(viewOf(new URLSearchParams({ columns: '[]' })).columns).toEqual([]);
  expect(viewOf(new URLSearchParams()).columns).toBeUndefined();
});

test.each(['x', '{}', '[1]', '["a"]', '[["a","<","1"]]', '[["a","=",1]]', '[["","=","1"]]'])(
  'a damaged filter is left out: %s',
  (filter) => {
    expect(viewOf(new URLSearchParams({ filter })).filters).toEqual([]);
  },
);

test('only what changes is changed in the address', () => {
  expect(paramsOf({ filters: [] })).toEqual({ filter: '' });
  expect(paramsOf({ isFollowing: true })).toEqual({ follow: '1' });
});

test('a value is wanted, excluded, or neither', () => {
  const wanted = { name: 'host', isNot: false, value: 'a' };
  const excluded = { ...wanted, isNot: true };

  expect(toggledFilter([], wanted)).toEqual([wanted]);
  expect(toggledFilter([wanted], wanted)).toEqual([]);
  expect(toggledFilter([wanted], excluded)).toEqual([excluded]);
});
