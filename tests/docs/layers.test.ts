// The map of ARCHITECTURE.md is what lint, the compiler and npm know.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { layersOf, lintRules } from '../../tools/layers.ts';

const root = new URL('../../', import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const layers = layersOf(textOf('ARCHITECTURE.md'));

test('the map has every package', () => {
  const folders = readdirSync(new URL('packages', root)).filter((name) =>
    existsSync(new URL(`packages/${name}/package.json`, root)),
  );

  expect(layers.map(({ name }) => name).toSorted()).toEqual(folders.toSorted());
});

test('the lint rules are up to date (npm run docs)', () => {
  expect(textOf('.oxlintrc.layers.json')).toBe(lintRules(layers));
});

test.each(layers.filter(({ name }) => name !== 'testkit' && name !== 'ui'))(
  '$name depends on and refers to what its row names',
  ({ name, imports }) => {
    const wanted = imports.toSorted();
    const { dependencies = {} } = JSON.parse(textOf(`packages/${name}/package.json`));
    const { references = [] } = JSON.parse(textOf(`packages/${name}/tsconfig.json`));
    const names = Object.keys(dependencies).filter((each) => each.startsWith('@tidemark/'));

    expect(names.map((each) => each.slice('@tidemark/'.length)).toSorted()).toEqual(wanted);
    expect(references.map(({ path }: any) => path.slice('../'.length)).toSorted()).toEqual(wanted);
  },
);

test('a row may only name rows above it', () => {
  const map = '## The map\n\nText.\n\n| `a` | `b` | x |\n| `b` | – | y |\n';

  expect(() => layersOf(map)).toThrow('a imports b, which is not above it');
});
