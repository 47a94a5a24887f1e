import { expect, test } from 'vitest';

import { utf8Lines } from './utf8.ts';

async function* bytesOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function linesIn(text: string, size: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of utf8Lines(bytesOf(text, size))) lines.push(line);
  return lines;
}

test.each([1, 2, 3, 100])('lines are the same in chunks of %i bytes', async (size) => {
  expect(await linesIn('a\n\nü €\r\n𝄞 end', size)).toEqual(['a', '', 'ü €\r', '𝄞 end']);
});

test('a stream that ends with a line has no further one', async () => {
  expect(await linesIn('a\nb\n', 2)).toEqual(['a', 'b']);
  expect(await linesIn('', 1)).toEqual([]);
});

test('a byte order mark before the first line is no part of it', async () => {
  expect(await linesIn('\uFEFFa\n\uFEFFb', 2)).toEqual(['a', '\uFEFFb']);
});
