// The example of the README.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatScript } from './index.ts';

test('the script of the README is formatted as shown there', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const block = (name: string) => readme.split(`\`\`\`${name}\n`)[1]?.split('```')[0] ?? '';

  expect(formatScript(block('tickscript'))).toBe(block('formatted'));
});
