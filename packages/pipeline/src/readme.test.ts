// The example of the README.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildPipeline, formatDot } from './index.ts';

test('the script of the README is the graph shown there', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const block = (name: string) => readme.split(`\`\`\`${name}\n`)[1]?.split('```')[0] ?? '';

  const { pipeline } = buildPipeline(block('tickscript'));

  expect(`${formatDot('cpu', pipeline!)}\n`).toBe(block('dot'));
});
