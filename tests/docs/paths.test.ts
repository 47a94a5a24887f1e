// Files that comments, READMEs and ADRs name exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const FOLDERS = ['docs', 'packages', 'packaging', 'tests', 'tools'];
/** Folders made by tools, and pages that say what was and not what is. */
const SKIPPED = /(^|\/)(node_modules|dist|build)\/|^docs\/(benchmarks|soaks)|\.gen\./;

const everything = FOLDERS.flatMap(filesIn).filter((file) => !SKIPPED.test(file));
const texts = everything
  .filter((file) => /\.(ts|tsx|mjs|cjs|md)$/.test(file))
  .concat('README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', '.oxlintrc.json');

test('paths from the root', () => {
  const path = new RegExp(String.raw`(?<![\w./@-])(?:${FOLDERS.join('|')})/[\w./-]*\w`, 'g');
  const missing = texts.flatMap((file) =>
    namesIn(file, path)
      .filter((name) => !isThere(name, file))
      .map((name) => `${file}: ${name}`),
  );

  expect(missing).toEqual([]);
});

test('the ways of a write and of a read name each file once', () => {
  const architecture = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
  for (const heading of ['### A write, file by file', '### A read, file by file']) {
    const way = architecture.split(heading)[1]?.split('\n#')[0] ?? '';
    const files = [...way.matchAll(/`(packages\/[^`]+\.ts)`/g)].map((match) => match[1]);
    expect(files.length).toBeGreaterThan(10);
    expect(files).toEqual([...new Set(files)]);
  }
});

test('names of source files in comments', () => {
  const known = new Set(everything.map((file) => basename(file)));
  const missing = texts
    .filter((file) => /\.(ts|tsx)$/.test(file) && !file.endsWith('.test.ts'))
    .flatMap((file) =>
      namesIn(file, /(?<![\w./*'"`-])[a-z][\w-]*(?:\.[\w-]+)*\.(?:ts|tsx|mjs|cjs|md)\b/g)
        .filter((name) => !known.has(name))
        .map((name) => `${file}: ${name}`),
    );

  expect(missing).toEqual([]);
});

/** The matches in the comments of a source file, or in any other text as a whole. */
function namesIn(file: string, pattern: RegExp): readonly string[] {
  const text = readFileSync(new URL(file, root), 'utf8');
  const comments = /\.(md|json)$/.test(file) ? text : commentsOf(text);
  return [...comments.matchAll(pattern)].map((match) => match[0]);
}

function commentsOf(text: string): string {
  const blocks = text.match(/\/\*\*[\s\S]*?\*\/|(?<=^\s*)\/\/.*$/gm) ?? [];
  return blocks.join('\n');
}

/** A file, a folder, or something made by the build. */
function isThere(name: string, file: string): boolean {
  if (/\/(dist|build|node_modules)(\/|$)/.test(name)) return true;
  return [root, new URL(file, root)].some((base) => existsSync(new URL(name, base)));
}

function filesIn(folder: string): readonly string[] {
  const found = readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' });
  return found.map((name) => `${folder}/${name}`);
}
