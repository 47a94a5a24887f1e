// The map of ARCHITECTURE.md is what lint, the compiler and npm know.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { lintRules, mapsOf } from '../../tools/layers.ts';

const root = new URL('../../', import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const maps = mapsOf(textOf('ARCHITECTURE.md'));
const layers = maps.packages;

test('the map has every package', () => {
  const folders = readdirSync(new URL('packages', root)).filter((name) =>
    existsSync(new URL(`packages/${name}/package.json`, root)),
  );

  expect(layers.map(({ name }) => name).toSorted()).toEqual(folders.toSorted());
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

test.each([...maps.folders])('the map of the folders of %s has all of them', (name, rows) => {
  const source = new URL(`packages/${name}/src/`, root);
  const paths = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const sources = paths.filter((path) => /\.tsx?$/.test(path) && !path.includes('.test.'));
  const folders = new Set(sources.filter((path) => dirname(path) !== '.').map(topOf));
  const names = rows.map((row) => row.name);

  expect(names.filter((each) => !sources.includes(each)).toSorted()).toEqual(
    [...folders].toSorted(),
  );
});

function topOf(path: string): string {
  return path.slice(0, path.indexOf('/'));
}

const MAP = `## The map

| \`lower\` | – | x |
| \`upper\` | \`lower\` | y |
| \`testkit\` | anything | z |

### Folders of \`upper\`

Text.

| \`limits.ts\` | – | x |
| \`log\`, \`auth\` | \`limits.ts\` | y |
| \`http\` | all above | z |
`;

test('a row of folders may have several names, and may import all above', () => {
  expect(mapsOf(MAP).folders).toEqual(
    new Map([
      [
        'upper',
        [
          { name: 'limits.ts', imports: [] },
          { name: 'log', imports: ['limits.ts'] },
          { name: 'auth', imports: ['limits.ts'] },
          { name: 'http', imports: ['limits.ts', 'log', 'auth'] },
        ],
      ],
    ]),
  );
});

test('lint refuses an import that the map of folders does not have', () => {
  const source = 'packages/upper/src';
  const text = lintOf({
    [`${source}/limits.ts`]: "import '../../lower/src/index.ts';\nimport './log/log.ts';",
    [`${source}/log/log.ts`]: "import '../limits.ts';\nimport './file.ts';",
    [`${source}/auth/deep/token.ts`]: "import '../../log/log.ts';\nimport '@tidemark/lower';",
    [`${source}/http/http.ts`]: "import '../auth/deep/token.ts';\nimport '@tidemark/testkit';",
    [`${source}/service.ts`]: "import './http/http.ts';",
  });

  expect(text.split('\n').toSorted()).toEqual([
    `${source}/auth/deep/token.ts: auth may not import this folder (ARCHITECTURE.md, folders of upper).`,
    `${source}/http/http.ts: upper may not import this package (ARCHITECTURE.md, map).`,
    `${source}/limits.ts: Import another package by its name.`,
    `${source}/limits.ts: limits.ts may not import this folder (ARCHITECTURE.md, folders of upper).`,
  ]);
});

/** The findings of lint for files under the rules of `MAP`. */
function lintOf(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'layers-'));
  try {
    const rules = 'rules.json';
    for (const [name, text] of Object.entries({ ...files, [rules]: lintRules(mapsOf(MAP)) })) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), text);
    }
    const program = fileURLToPath(new URL('node_modules/.bin/oxlint', root));
    const options = ['--config', rules, '--format', 'json', 'packages'];
    const { stdout } = spawnSync(program, options, { cwd: directory, encoding: 'utf8' });
    return JSON.parse(stdout)
      .diagnostics.map(({ filename, help }: any) => `${filename}: ${help}`)
      .join('\n');
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('a row may only name rows above it', () => {
  const map = '## The map\n\nText.\n\n| `a` | `b` | x |\n| `b` | – | y |\n';

  expect(() => mapsOf(map)).toThrow('`a` imports b, which is not above it');
});
