// Generated documents are up to date, and links between documents lead somewhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { referencePages } from '../../tools/reference-pages.ts';

const root = new URL('../../', import.meta.url);

test.each([...(await referencePages())])(
  'docs/reference/%s is up to date (npm run docs)',
  (name, text) => {
    expect(readFileSync(new URL(`docs/reference/${name}`, root), 'utf8')).toBe(text);
  },
);

test('links between documents lead somewhere', () => {
  const files = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...documents()];
  const broken = files.flatMap((file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    return [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !existsSync(new URL(target, new URL(file, root))))
      .map((target) => `${file}: ${target}`);
  });

  expect(broken).toEqual([]);
});

function documents(): readonly string[] {
  return readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
}
