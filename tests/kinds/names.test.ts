// No code outside of its own file depends on the name of a node or of a kind of handler: the
// definition has everything that other code needs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { HANDLER_DEFINITIONS, NODES } from '@tidemark/pipeline';
import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../../packages/', import.meta.url));

/** Types of edges and tasks, too. */
const EDGES = ['stream', 'batch'];

/**
 * Words that other things are called by: messages of threads, sections of task tests, statements,
 * the usual retention policy.
 */
const OTHER_WORDS = new Set([
  'barrier',
  'default',
  'delete',
  'from',
  'last',
  'log',
  'publish',
  'query',
  'stats',
  'sum',
  'where',
]);

const types = NODES.map(({ type }) => type).filter((type) => !EDGES.includes(type));
const names = new Set([...types, ...HANDLER_DEFINITIONS.map(({ kind }) => kind)]);

function* decisionsIn(text: string): Generator<string> {
  for (const [line, type] of text.matchAll(/\btype (?:===|!==) '(\w+)'/g)) {
    if (types.includes(type ?? '')) yield line;
  }
  for (const [line, name] of text.matchAll(/\b(?:case|\w+ (?:===|!==)) '(\w+)'/g)) {
    if (names.has(name ?? '') && !OTHER_WORDS.has(name ?? '')) yield line;
  }
}

test('no code decides by the name of a node or handler outside of its file', () => {
  const found = ['pipeline', 'runtime', 'alerting', 'engine', 'cli', 'ui'].flatMap((name) => {
    const folder = join(packages, name, 'src');
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !/\.(test|gen)\.tsx?$/.test(file))
      .filter((file) => !/^(nodes|handlers)\//.test(file))
      .flatMap((file) => {
        const text = readFileSync(join(folder, file), 'utf8');
        return [...decisionsIn(text)].map((line) => `${name}/src/${file}: ${line}`);
      });
  });

  expect(found).toEqual([]);
});

test('the runtime knows the file of a single node from its registry only', () => {
  const folder = join(packages, 'runtime/src');
  const importing = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|gen)\.ts$/.test(file))
    .filter((file) => !file.startsWith('nodes/'))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      const found = text.matchAll(/from '(?:\.\.?\/)+nodes\/([\w.-]+)'/g);
      return [...found].map(([, node]) => `${file}: ${node}`);
    });

  expect(importing).toEqual(['implementations.ts: registry.gen.ts']);
});

test('contracts of tasks and deliveries have no methods that may be absent', () => {
  const contracts = [
    'runtime/src/node.ts',
    'runtime/src/node-capabilities.ts',
    'runtime/src/running-task.ts',
    'runtime/src/services.ts',
    'alerting/src/delivery.ts',
    'alerting/src/event.ts',
  ];
  const found = contracts.flatMap((file) => {
    const text = readFileSync(join(packages, file), 'utf8');
    return [...text.matchAll(/^ +(\w+)\?\(/gm)].map(([, method]) => `${file}: ${method}`);
  });

  expect(found).toEqual([]);
});

test('every node that keeps state has a test beside it', () => {
  const folder = join(packages, 'runtime/src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const tested = new Set(files.flatMap((file) => /([\w-]+)\.test\.ts$/.exec(file)?.slice(1) ?? []));
  const keepsState = (file: string): boolean =>
    readFileSync(join(folder, file), 'utf8').includes('state: this');
  const parts = files
    .filter((file) => /^node-parts\/[\w-]+\.ts$/.test(file) && keepsState(file))
    .map((file) => `../${file}`);
  const stateful = files
    .filter((file) => /^nodes\/[\w-]+\.ts$/.test(file))
    .filter((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return keepsState(file) || parts.some((part) => text.includes(`'${part}'`));
    })
    .map((file) => /^nodes\/([\w-]+)\.ts$/.exec(file)?.[1] ?? '');

  expect(stateful.length).toBeGreaterThan(30);
  expect(stateful.filter((node) => !tested.has(node))).toEqual([]);
});
