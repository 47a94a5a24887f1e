// The sentences that are quoted are those of the specification.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { hashesOf, sentencesOf } from './document.ts';
import hashes from './sentences.json' with { type: 'json' };

/** Beside this repository, where somebody has put it. */
const DOCUMENT = new URL('../../../../../shared/spec/task-engine-http-api.md', import.meta.url);

test('each section has a file that quotes it', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  const sections = files.flatMap((name) => {
    const text = readFileSync(new URL(name, import.meta.url), 'utf8');
    return [...text.matchAll(/^sentences\(\s*(['"])(.*?)\1,/gms)].map(([, , section]) => section);
  });

  expect(sections.toSorted()).toEqual(Object.keys(hashes).toSorted());
});

test('the list of sentences is that of the specification', () => {
  const sample =
    '# A\n\nOne `x`. Two. Three: not shown.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- Four.\n';
  expect(sentencesOf(sample)).toEqual({ A: ['One `x`.', 'Two.', '1 | 2', 'Four.'] });
  if (!existsSync(DOCUMENT)) return;
  expect(hashesOf(sentencesOf(readFileSync(DOCUMENT, 'utf8')))).toEqual(hashes);
});
