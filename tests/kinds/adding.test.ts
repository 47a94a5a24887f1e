// A node and a kind of handler are two files each: when those of `added` are put into copies of the
// packages and the registries are generated again, both work like all others.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { REGISTRIES, REGISTRY_FILE, registryText } from '../../tools/registries.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('./', import.meta.url));
const COPIED = ['pipeline', 'runtime', 'alerting'];
let copy: string;

beforeAll(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-kinds-')));
  const own = join(copy, 'node_modules/@tidemark');
  mkdirSync(own, { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@tidemark' || name.startsWith('.')) continue;
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  }
  for (const name of readdirSync(join(root, 'packages'))) {
    const isCopied = COPIED.includes(name);
    const place = join(isCopied ? copy : root, 'packages', name);
    symlinkSync(place, join(own, name));
    if (!isCopied) continue;
    for (const part of ['src', 'package.json']) {
      cpSync(join(root, 'packages', name, part), join(place, part), { recursive: true });
    }
  }
  cpSync(join(here, 'added'), join(copy, 'packages'), { recursive: true });
  for (const registry of REGISTRIES) {
    const folder = join(copy, registry.folder);
    writeFileSync(join(folder, REGISTRY_FILE), registryText(folder, registry));
  }
  cpSync(join(here, 'prove.ts'), join(copy, 'prove.ts'));
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('a node and a handler of two files each do what others do', () => {
  const printed = execFileSync(process.execPath, ['--conditions=source', 'prove.ts'], {
    cwd: copy,
    encoding: 'utf8',
  });

  expect(JSON.parse(printed)).toEqual({
    values: [6],
    handler: { to: 'everybody', words: ['listen', 'now'] },
    isSending: true,
    refused: ['not everybody'],
    invalid: 'nothing would be left',
    json: 'read back',
    script: true,
    completed: true,
    pages: true,
  });
});

test('their options have the types that the definitions give them', () => {
  const implementation = join(copy, 'packages/runtime/src/nodes/scale.ts');
  const text = readFileSync(implementation, 'utf8');
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: { composite: false, declaration: false, declarationMap: false, noEmit: true },
    files: COPIED.slice(1).flatMap((name) =>
      name === 'runtime'
        ? [implementation]
        : [join(copy, `packages/${name}/src/handlers/shout.ts`)],
    ),
  };
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(config));

  expect(compile()).toBe('');

  writeFileSync(implementation, text.replace('{ field, factor }', '{ field, faktor: factor }'));

  expect(compile()).toContain("Property 'faktor' does not exist");
});

/** The output of the compiler. */
function compile(): string {
  try {
    return execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', copy], { encoding: 'utf8' });
  } catch (cause) {
    // It ends with an error where there is something to say.
    return String((cause as { readonly stdout?: unknown }).stdout);
  }
}
