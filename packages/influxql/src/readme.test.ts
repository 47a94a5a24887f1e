import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { parseQuery } from './parse.ts';
import { printStatement } from './print.ts';

test('the example of the README is printed as it says', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const block = (language: string): string =>
    new RegExp(`\`\`\`${language}\\n([^]*?)\\n\`\`\``).exec(readme)?.[1] ?? '';

  const { query, error } = parseQuery(block('sql'));

  expect(error).toBeUndefined();
  expect(query.statements.map((one) => printStatement(one)).join('\n')).toBe(block('printed'));
});
