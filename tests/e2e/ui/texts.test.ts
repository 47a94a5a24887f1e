// Texts are in one catalogue, so that languages can be added: components hold none. The page of the
// design system is for those who build pages, and shows made-up words.
import { readdirSync, readFileSync } from 'node:fs';

import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const SOURCES = new URL('../../../packages/ui/src/', import.meta.url);

/** Attributes that are read or spoken. */
const SPOKEN = ['label', 'title', 'placeholder', 'aria-label', 'hint', 'problem', 'alt', 'action'];

/**
 * Names of formats and keys, settings with a value, URLs and statements: alike in all languages.
 */
const SAME_EVERYWHERE = new RegExp(
  `^(?:${[
    'Tidemark|CSV|JSON|PNG|\\(Ctrl\\+K\\)',
    '[a-z-]+\\.[a-z-]+(?: = "[a-z]+")?',
    'https?:\\S+',
    '(?:SELECT|SHOW) .*',
  ].join('|')})$`,
);

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

/** Texts of a literal, or of the fixed parts of a template. */
function textsOf(value: unknown): readonly string[] {
  if (!isNode(value)) return [];
  if (value.type === 'JSXExpressionContainer') return textsOf(value['expression']);
  if (value.type === 'TemplateLiteral') {
    return (value['quasis'] as { readonly value: { readonly raw: string } }[]).map(
      (part) => part.value.raw,
    );
  }
  return typeof value['value'] === 'string' ? [value['value']] : [];
}

const nameOf = (value: unknown): string => (isNode(value) ? String(value['name']) : '');

/** Words that a node shows to a user; those below it are its own affair. */
function spokenBy(node: Node): readonly string[] {
  switch (node.type) {
    case 'JSXText':
      return textsOf(node);
    case 'JSXAttribute':
      return SPOKEN.includes(nameOf(node['name'])) ? textsOf(node['value']) : [];
    case 'Property':
      return SPOKEN.includes(nameOf(node['key'])) ? textsOf(node['value']) : [];
    case 'CallExpression':
      return nameOf(node['callee']) === 'toast' ? textsOf((node['arguments'] as unknown[])[0]) : [];
    default:
      return [];
  }
}

function spokenIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(spokenIn);
  if (typeof value !== 'object' || value === null) return [];
  const own = isNode(value) ? spokenBy(value) : [];
  return [...own, ...Object.values(value).flatMap(spokenIn)];
}

const wordsOf = (name: string, source: string): readonly string[] =>
  spokenIn(parseSync(name, source).program)
    .map((text) => text.trim())
    .filter((text) => /\p{L}{2}/u.test(text) && !SAME_EVERYWHERE.test(text));

test('texts of components come from the catalogue', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.tsx'),
  );
  const found = files.flatMap((name) =>
    wordsOf(name, readFileSync(new URL(name, SOURCES), 'utf8')).map((text) => `${name}: ${text}`),
  );

  expect(files.length).toBeGreaterThan(80);
  expect(found).toEqual([]);
});

test('a word in a component is found', () => {
  const source = `const a = <p title="Press here">Some words {'CSV'}</p>;
    const b = { label: 'Rows' };
    toast(\`Saved \${a}\`);`;

  expect(wordsOf('a.tsx', source)).toEqual(['Press here', 'Some words', 'Rows', 'Saved']);
});
