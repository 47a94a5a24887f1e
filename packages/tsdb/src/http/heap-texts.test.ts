import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { expect, test } from 'vitest';

import { hideTexts } from './heap-texts.ts';

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString('utf8');
}

/**
 * Runs in a thread of its own: a snapshot of this one would hold all that other tests have loaded.
 */
const THREAD = `
  const { parentPort } = require('node:worker_threads');
  class KeepsSecrets {
    theSharedSecret = ['hush', process.pid, 'ü'].join('-');
    byName = new Map([[['user', process.pid].join('-'), 1]]);
  }
  globalThis.kept = new KeepsSecrets();
  parentPort.on('message', () => parentPort.close());
  parentPort.postMessage('ready');
`;

test('names stay in a snapshot of a thread, texts do not', async () => {
  const thread = new Worker(THREAD, { eval: true });
  await once(thread, 'message');

  const snapshot = await textOf(await thread.getHeapSnapshot());
  const hidden = await textOf(hideTexts(await thread.getHeapSnapshot()));
  thread.postMessage('end');
  await once(thread, 'exit');

  expect(snapshot).toContain(`"hush-${process.pid}`);
  const { strings, snapshot: head, nodes } = JSON.parse(hidden);
  expect(strings).toContain('KeepsSecrets');
  expect(strings).toContain('theSharedSecret');
  expect(hidden).not.toContain(`hush-${process.pid}`);
  expect(hidden).not.toContain(`user-${process.pid}`);
  expect(nodes.length).toBe(head.node_count * head.meta.node_fields.length);
});

test.each([
  ['with', (text: string) => text],
  ['without', (text: string) => text.replaceAll('\n', '')],
])('a snapshot %s line breaks may be cut anywhere', async (_, shape) => {
  const meta = {
    node_fields: ['type', 'name', 'id'],
    node_types: [['object', 'string', 'sliced string'], 'string', 'number'],
    edge_fields: ['type', 'name_or_index', 'to_node'],
    edge_types: [['property', 'element'], 'string_or_number', 'node'],
  };
  const make = (texts: readonly string[]): string =>
    `{"snapshot":${JSON.stringify({ meta })},\n"nodes":[0,1,7\n,1,2,9\n,2,3,9],\n"edges":[0,4,0\n,1,2,3],\n` +
    `"samples":[],\n"strings":[${texts.map((text) => JSON.stringify(text)).join(',\n')}]}`;
  const given = shape(make(['', 'Class', 'secret "1"', 'secret\n2', 'property', 'unused']));
  const expected = shape(make(['(text)', 'Class', '(text)', '(text)', 'property', '(text)']));

  for (const size of [1, 7, 1000]) {
    const pieces = async function* (): AsyncIterable<Uint8Array> {
      for (let at = 0; at < given.length; at += size) yield Buffer.from(given.slice(at, at + size));
    };
    expect(await textOf(hideTexts(pieces()))).toBe(expected);
  }
});
