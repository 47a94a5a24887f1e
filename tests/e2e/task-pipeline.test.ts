// `tidemark task pipeline`: scripts as JSON and back, without a server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runInProcess } from './in-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'tidemark-pipeline-'));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

async function output(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runInProcess(['task', 'pipeline', ...args]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const SCRIPT = `dbrp "house"."autogen"

stream
    |from()
        .measurement('room')
        .groupBy('name')
    |where(lambda: "n" > 9007199254740993)
    |alert()
        .crit(lambda: "celsius" > 30.5)
        .slack()
        .channel('#ops')
`;

test('a script goes to JSON and comes back', async () => {
  const json = await output(file('hot.tick', `// how hot\n${SCRIPT}`));

  expect(json).toContain('9007199254740993');
  expect(JSON.parse(json)).toMatchObject({
    type: 'stream',
    dbrps: [{ db: 'house', rp: 'autogen' }],
    nodes: [
      { id: 0, name: 'stream0' },
      { id: 1, type: 'from', properties: [{ name: 'measurement' }, { name: 'groupBy' }] },
      { id: 2, type: 'where' },
      { id: 3, type: 'alert', handlers: [{ kind: 'chat', properties: [{ name: 'channel' }] }] },
    ],
  });
  expect(await output(file('hot.json', json))).toBe(SCRIPT);
  expect(await output(file('hot.json', json), '--json')).toBe(json);
  expect(await output(file('hot.json', json), '--to', 'dot')).toBe(
    'digraph pipeline {\nstream0 -> from1;\nfrom1 -> where2;\nwhere2 -> alert3;\n}\n',
  );
});

test('values of secret vars are not shown, whatever the form', async () => {
  const script = file('told.tick', `var to = ''\nstream|from()|httpPost('http://h/' + to)`);
  const vars = file('told.json', '{"to": {"type": "secret", "value": "hush-7Zq"}}');
  for (const form of ['json', 'script', 'dot']) {
    const shown = await output(script, '--vars', vars, '--to', form);
    expect(shown).not.toContain('hush');
    if (form !== 'dot') expect(shown).toContain('http://h/[REDACTED]');
  }
});

test('values of vars are put in', async () => {
  const script = file(
    'above.tick',
    'var limit int\nvar of = \'m\'\nstream|from().measurement(of)|where(lambda: "v" > limit)',
  );
  const vars = file(
    'vars.yml',
    'limit: {type: int, value: 9007199254740993}\nof: {type: string, value: cpu}\n',
  );

  expect(await output(script, '--vars', vars, '--to', 'script')).toBe(
    'stream\n    |from()\n        .measurement(\'cpu\')\n    |where(lambda: "v" > 9007199254740993)\n',
  );
});

test.each([
  [
    'a script',
    'stream|from()|widnow()',
    'invalid TICKscript: line 1 char 15: no method or property "widnow" on *pipeline.FromNode\n  line 1, column 15: did you mean window?\n',
  ],
  [
    'a var without value',
    'var x int\nstream|from()',
    'invalid TICKscript: missing value for var "x".\n  line 1, column 1: ',
  ],
  ['neither stream nor batch', 'var x = 1', 'invalid task type: invalid'],
  ['JSON that is none', '{"type": "stream", ', 'invalid JSON: '],
  ['JSON that is no pipeline', '{"type": "stream", "nodes": [{"type": "x"}]}', 'no node type x'],
])('%s with a mistake is refused', async (_name, text, message) => {
  const { status, stdout, stderr } = await runInProcess(['task', 'pipeline', file('wrong', text)]);

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(`tidemark: ${message}`);
});

test('pipelines that no script can express are refused with the reason', async () => {
  const node = { type: 'stream', arguments: [], properties: [] };
  const nodes = [
    { ...node, parents: [] },
    { ...node, type: 'from', parents: [0] },
    { ...node, type: 'log', parents: [0, 1] },
  ];
  const json = file('two.json', JSON.stringify({ type: 'stream', nodes }));

  const { status, stderr } = await runInProcess(['task', 'pipeline', json]);

  expect([status, stderr]).toEqual([1, 'tidemark: log3 has more than one parent\n']);
});
