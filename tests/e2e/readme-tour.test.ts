// Runs the README's five-minute tour against the real executable, command by command, and compares
// what it promises; and the handler of the guide, which has to deliver.
import { readFile } from 'node:fs/promises';

import { hasPrograms, removeDirectory, run, startTidemark, TestServer } from '@tidemark/testkit';
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

test.skipIf(!hasPrograms('curl'))(
  'the handler of the guide delivers as it is written',
  async () => {
    const guide = new URL('../../docs/guide/engine-alerts.md', import.meta.url);
    const example = /^```sh try\n(.*?)^```$/ms.exec(await readFile(guide, 'utf8'))?.[1] ?? '';
    const receiver = new TestServer();
    await receiver.open();
    try {
      const text = onThisServer(example).replaceAll('http://127.0.0.1:9999', receiver.url);
      const result = await run('bash', ['--norc', '-euo', 'pipefail', '-c', text]);

      expect(result).toMatchObject({ status: 0, stderr: '' });
      expect(result.stdout).toContain('"id":"ops"');
      expect(result.stdout).not.toMatch(/error|warnings/);
      expect(receiver.requests.map(({ body }) => body)).toEqual([
        expect.stringContaining('"message":"a test"'),
      ]);
    } finally {
      await receiver.close();
    }
  },
);

test('the start page of the web UI is served', async () => {
  const response = await fetch(server.ui);

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(await response.text()).toContain('<title>Tidemark</title>');
});
