import { getHeapSnapshot } from 'node:v8';

import { expect, test } from 'vitest';

import { hideTexts } from './heap-texts.ts';

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString('utf8');
}

test('names stay in a snapshot of this process, texts do not', async () => {
  class KeepsSecrets {
    readonly theSharedSecret = ['hush', process.pid, 'ü'].join('-');
    readonly byName = new Map([[['user', process.pid].join('-'), 1]]);
  }
  const kept = new KeepsSecrets();

  const snapshot = await textOf(getHeapSnapshot());
  const hidden = await textOf(hideTexts(getHeapSnapshot()));

  expect(snapshot).toContain(`"hush-${process.pid}`);
  const { strings, snapshot: head, nodes } = JSON.parse(hidden);
  expect(strings).toContain('KeepsSecrets');
  expect(strings).toContain('theSharedSecret');
  expect(hidden).not.toContain(`hush-${process.pid}`);
  expect(hidden).not.toContain(`user-${process.pid}`);
  expect(nodes.length).toBe(head.node_count * head.meta.node_fields.length);
  expect([kept.theSharedSecret.length > 0, kept.byName.size]).toEqual([true, 1]);
});

test('lines may be cut anywhere', async () => {
  const meta = {
    node_fields: ['type', 'name', 'id'],
    node_types: [['object', 'string', 'sliced string'], 'string', 'number'],
    edge_fields: ['type', 'name_or_index', 'to_node'],
    edge_types: [['property', 'element'], 'string_or_number', 'node'],
  };
  const make = (texts: readonly string[]): string =>
    `{"snapshot":${JSON.stringify({ meta })},\n"nodes":[0,1,7\n,1,2,9\n,2,3,9],\n"edges":[0,4,0\n,1,2,3],\n` +
    `"samples":[],\n"strings":[${texts.map((text) => JSON.stringify(text)).join(',\n')}]}`;
  const given = make(['', 'Class', 'secret "1"', 'secret\n2', 'property', 'unused']);
  const expected = make(['(text)', 'Class', '(text)', '(text)', 'property', '(text)']);

  for (const size of [1, 7, 1000]) {
    const pieces = async function* (): AsyncIterable<Uint8Array> {
      for (let at = 0; at < given.length; at += size) yield Buffer.from(given.slice(at, at + size));
    };
    expect(await textOf(hideTexts(pieces()))).toBe(expected);
  }
});
