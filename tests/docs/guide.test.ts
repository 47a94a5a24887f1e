// The guide leads to every page, and its links lead somewhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
const INDEX = join(DOCS, 'guide/README.md');

const pages = ['guide', 'reference', 'compat'].flatMap((folder) =>
  readdirSync(join(DOCS, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(DOCS, folder, name)),
);

type Link = { readonly from: string; readonly file: string; readonly anchor: string | undefined };

function linksOf(page: string): readonly Link[] {
  const text = readFileSync(page, 'utf8').replaceAll(/```[\s\S]*?```/g, '');
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(
    ([, target = '', anchor]) => ({
      from: relative(DOCS, page),
      file: target === '' ? page : join(dirname(page), target),
      anchor,
    }),
  );
}

/** As the sites that show such pages name headings. */
function anchorsOf(page: string): readonly string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every page of guide, reference and differences is in the index', () => {
  const linked = new Set(linksOf(INDEX).map(({ file }) => file));

  expect(pages.filter((page) => page !== INDEX && !linked.has(page))).toEqual([]);
});

test('links lead to files and headings that are there', () => {
  const broken = pages
    .flatMap(linksOf)
    .filter(
      ({ file, anchor }) =>
        !existsSync(file) ||
        (anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor)),
    );

  expect(broken).toEqual([]);
});
