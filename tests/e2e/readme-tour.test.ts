// Runs the README's five-minute tour against the real executable, command by command, and compares
// what it promises.
import { readFile } from 'node:fs/promises';

import { hasPrograms, removeDirectory, run, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

type Block = { readonly language: string; readonly text: string };

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

/** Blocks marked `tour`, in order: commands in `sh`, what they print in `json` or `text`. */
function tourBlocks(markdown: string): readonly Block[] {
  const fence = /^```(\w+) tour\n(.*?)^```$/gms;
  return [...markdown.matchAll(fence)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
  }));
}

let server: Tidemark;

beforeAll(async () => {
  server = await startTidemark();
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

/** The README names the default ports; the test's server has others. */
function onThisServer(text: string): string {
  return text
    .replaceAll('http://127.0.0.1:8086', server.tsdb)
    .replaceAll('http://127.0.0.1:9092', server.engine);
}

/** `…` in the README stands for any text. */
function expectJson(actual: string, promised: string): void {
  const wanted = JSON.parse(promised, (_key, value: unknown) =>
    value === '…' ? expect.any(String) : value,
  ) as unknown;
  expect(JSON.parse(actual)).toEqual(wanted);
}

test.skipIf(!hasPrograms('curl'))(
  'every command of the tour does what the README says',
  async () => {
    const blocks = tourBlocks(readme);
    expect(blocks.length).toBeGreaterThanOrEqual(6);
    let output = '';
    for (const block of blocks) {
      if (block.language === 'sh') {
        // In an empty environment bash takes a socket as input for a remote shell and reads the
        // user's bashrc.
        const script = ['--norc', '-euo', 'pipefail', '-c', onThisServer(block.text)];
        const result = await run('bash', script);
        expect(result, block.text).toMatchObject({ status: 0, stderr: '' });
        output = result.stdout;
        for (const line of output.split('\n').filter((text) => text.startsWith('{'))) {
          expect(JSON.parse(line), block.text).not.toHaveProperty('error');
        }
      } else if (block.language === 'json') {
        expectJson(output.trim().split('\n').at(-1) ?? '', block.text);
      } else {
        expect(output.trim()).toBe(block.text.trim());
      }
    }
  },
);

test('the start page of the web UI is served', async () => {
  const response = await fetch(server.ui);

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(await response.text()).toContain('<title>Tidemark</title>');
});
