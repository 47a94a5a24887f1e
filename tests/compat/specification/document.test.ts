// The sentences that are quoted are those of the two specifications.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import database from './database/sentences.json' with { type: 'json' };
import { hashesOf, sentencesOf } from './document.ts';
import type { Sentences } from './document.ts';
import taskEngine from './task-engine/sentences.json' with { type: 'json' };

/** Beside this repository, where somebody has put them. */
const DOCUMENTS = new URL('../../../../shared/spec/', import.meta.url);

const SERVICES: readonly (readonly [folder: string, document: string, hashes: Sentences])[] = [
  ['database', 'tsdb-http-api.md', database],
  ['task-engine', 'task-engine-http-api.md', taskEngine],
];

test.each(SERVICES)('each section has a file that quotes it: %s', (folder, _, hashes) => {
  const directory = new URL(`${folder}/`, import.meta.url);
  const files = readdirSync(directory).filter((name) => name.endsWith('.test.ts'));
  const sections = files.flatMap((name) => {
    const text = readFileSync(new URL(name, directory), 'utf8');
    return [...text.matchAll(/^sentences\(\s*(['"])(.*?)\1,/gms)].map(([, , section]) => section);
  });

  expect(sections.toSorted()).toEqual(Object.keys(hashes).toSorted());
});

test.each(SERVICES)('the list of sentences is that of the specification: %s', (_, name, hashes) => {
  const sample =
    '# A\n\nOne `x`. Two. Three: not shown.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- Four.\n\n# B\n\nC: not shown.\n';
  expect(sentencesOf(sample)).toEqual({ A: ['One `x`.', 'Two.', '1 | 2', 'Four.'] });
  const document = new URL(name, DOCUMENTS);
  if (!existsSync(document)) return;
  expect(hashesOf(sentencesOf(readFileSync(document, 'utf8')))).toEqual(hashes);
});
