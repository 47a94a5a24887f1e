import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { findReach } from './found-reach.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-reach-'));
  await mkdir(join(folder, 'tasks'));
});
afterEach(() => rm(folder, { recursive: true }));

async function findIn(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, 'tasks', name), text);
  }
  const { programs, files: found, unclear } = await findReach(folder);
  const names = (users: readonly string[]) => users.map((user) => user.slice(folder.length + 7));
  return {
    programs: [...programs].map(([path, users]) => [path, names(users)]),
    files: [...found].map(([path, users]) => [path, names(users)]),
    unclear: unclear.map((text) => text.slice(folder.length + 7)),
  };
}

test('scripts, tasks and handlers are read; the log node and files elsewhere are not', async () => {
  const script = `stream|from()|log().level('info')|sideload().source('file:///etc/side').order('a')
    |alert().exec('/bin/page', 'x').log('/var/log/a.log')`;
  expect(
    await findIn({
      'a.tick': script,
      'b.json': JSON.stringify({ script: "stream|from()|alert().exec('/bin/page')" }),
      'c.yaml': 'kind: exec\noptions:\n  prog: /bin/other\n',
      'd.json': JSON.stringify({ kind: 'log', options: { path: '/var/log/a.log' } }),
      'e.json': JSON.stringify({ kind: 'slack', options: { path: '/no' } }),
      'f.txt': "stream|alert().exec('/no')",
      'g.tick': "stream|from()|sideload().source('http://h/x')",
    }),
  ).toEqual({
    programs: [
      ['/bin/page', ['a.tick', 'b.json']],
      ['/bin/other', ['c.yaml']],
    ],
    files: [
      ['/var/log/a.log', ['a.tick', 'd.json']],
      ['/etc/side', ['a.tick']],
    ],
    unclear: [],
  });
});

test('references to secrets are found where scripts and handlers name them', async () => {
  const script = `var token = 'env:TALK'
    stream|alert().alerta().token('env:ALERTA').message('env')
    stream|httpPost('http://h').header('Authorization', 'file:/run/token')|alert().pagerduty().serviceKey(token)
    stream|sideload().source('file:///etc/side')`;
  const options = { url: 'http://h', headers: { 'X-Key': 'env:KEY' } };
  await writeFile(join(folder, 'a.tick'), script);
  await writeFile(join(folder, 'b.json'), JSON.stringify({ kind: 'post', options }));

  const { secrets, files, unclear } = await findReach(folder);

  expect([...secrets.keys()].sort()).toEqual([
    'env:ALERTA',
    'env:KEY',
    'env:TALK',
    'file:/run/token',
  ]);
  expect([...files.keys()]).toEqual(['/etc/side']);
  expect(unclear).toEqual([]);
});

test('addresses that a task decides, patterns and broken files are reported', async () => {
  const { programs, files, unclear } = await findIn({
    'a.tick': "var prog = '/bin/usual'\nvar path string\nstream|alert().exec(prog).log(path)",
    'b.tick': "stream|alert().exec('/bin/*')",
    'c.json': '{',
    'd.tick': 'stream|',
  });
  expect([programs, files]).toEqual([[['/bin/usual', ['a.tick']]], []]);
  expect(unclear).toEqual([
    'a.tick: .log(…) is not written out; tasks may give other values',
    'a.tick: .exec(…) is not written out; tasks may give other values',
    'b.tick: /bin/* has characters of a pattern; list it by hand',
    expect.stringMatching(/^c\.json: /),
    expect.stringMatching(/^d\.tick: /),
  ]);
});
