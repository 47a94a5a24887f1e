import { expect, test } from 'vitest';

import { Parameters } from './parameters.ts';

test('reads plus signs, percent codes, repeated and empty parameters', () => {
  const p = Parameters.parse('q=SELECT+%2A%20FROM+m&db=a&db=b&empty=&flag&=x&u=%C3%BC');
  expect(p.get('q')).toBe('SELECT * FROM m');
  expect(p.get('db')).toBe('a');
  expect(p.get('empty')).toBe('');
  expect(p.has('flag')).toBe(true);
  expect(p.get('absent')).toBe('');
  expect(p.get('u')).toBe('ü');
});

test('keeps percent signs that start no byte', () => {
  expect(Parameters.parse('q=100%&r=%zz%41').get('q')).toBe('100%');
  expect(Parameters.parse('q=100%&r=%zz%41').get('r')).toBe('%zzA');
});

test('a form wins over the URL', () => {
  const p = Parameters.parse('db=url&rp=r');
  p.merge(Parameters.parse('db=form'));
  expect([p.get('db'), p.get('rp')]).toEqual(['form', 'r']);
});

test('more parameters than there may be are refused, with the setting', () => {
  expect(Parameters.parse('a=1&b=2&c=3', 3).get('c')).toBe('3');
  expect(() => Parameters.parse('a=1&b=2&c=3&d', 3)).toThrow(
    'max-parameters limit exceeded: (3). setting=`http.max-parameters`',
  );
  expect(Parameters.parse('&'.repeat(2_000_000)).has('a')).toBe(false);
});
