// Command lines of scripts for Kapacitor's client, and their translation.
import type { Command } from 'commander';
import { beforeAll, expect, test } from 'vitest';

import { withOurOptions, withOurVerbs } from './old-client.ts';
import { wholeProgram } from './program.ts';

let program: Command;

beforeAll(async () => {
  program = await wholeProgram();
});

const words = (line: string): readonly string[] => line.split(' ').filter((word) => word !== '');

const ours = (line: string): string => withOurOptions(program, withOurVerbs(words(line))).join(' ');

/** Whether the line leads to a verb that exists. */
function isVerb(line: string): boolean {
  const [group = '', verb = ''] = words(line);
  const found = program.commands.find((one) => one.name() === group);
  return found?.commands.some((one) => one.name() === verb) === true;
}

test.each([
  [
    'define hot -type stream -tick hot.tick -dbrp a.b -dbrp "c"."d" -no-reload',
    'task define hot --type stream --script hot.tick --dbrp a.b --dbrp "c"."d" --no-reload',
  ],
  ['define hot -template t -vars vars.json', 'task define hot --template t --vars vars.json'],
  ['define hot -file task.yaml', 'task define hot --file task.yaml'],
  [
    'define-template t -tick=t.tick -type=stream',
    'template define t --script=t.tick --type=stream',
  ],
  ['define-topic-handler handler.yaml', 'handler define handler.yaml'],
  ['enable a b*', 'task enable a b*'],
  ['disable a', 'task disable a'],
  ['reload a', 'task reload a'],
  ['show a -replay r', 'task show a --replay r'],
  ['show-template t', 'template show t'],
  ['show-topic t', 'topic show t'],
  ['show-topic-handler t h', 'handler show t h'],
  ['list tasks a* b*', 'task list a* b*'],
  ['list templates', 'template list'],
  ['list recordings', 'recording list'],
  ['list replays', 'replay list'],
  ['list topics', 'topic list'],
  ['list topic-handlers t*', 'handler list t*'],
  ['list service-tests', 'service-test list'],
  ['delete tasks a', 'task delete a'],
  ['delete templates a', 'template delete a'],
  ['delete recordings *', 'recording delete *'],
  ['delete replays *', 'replay delete *'],
  ['delete topics a', 'topic delete a'],
  ['delete topic-handlers t h', 'handler delete t h'],
  [
    'record stream -task a -duration 1m -recording-id r -no-wait=true',
    'record stream --task a --duration 1m --id r --no-wait',
  ],
  ['record batch -task a -past 1h -no-wait=false', 'record batch --task a --past 1h'],
  [
    'record query -query -x -type batch -cluster c',
    'record query --query -x --type batch --cluster c',
  ],
  [
    'replay -recording r -task a -rec-time -real-clock -replay-id p',
    'replay recording --recording r --task a --rec-time --real-clock --id p',
  ],
  ['replay-live batch -task a -past 1h', 'replay-live batch --task a --past 1h'],
  ['replay-live query -task a -query q', 'replay-live query --task a --query q'],
  ['watch a node=log2', 'task watch a node=log2'],
  ['logs service=http -level info', 'engine logs service=http --level info'],
  ['level debug', 'engine level debug'],
  ['backup file.db', 'engine backup file.db'],
  ['stats ingress', 'engine stats ingress'],
  ['vars', 'engine stats --json'],
  ['service-tests smtp chat', 'service-test run smtp chat'],
  ['-url http://h:1 list tasks', 'task list --url http://h:1'],
  ['-url=http://h:1 -skipVerify enable a', 'task enable a --url=http://h:1 --skip-verify'],
])('%s', (line, wanted) => {
  expect(ours(line)).toBe(wanted);
  expect(isVerb(wanted.replace(/^record /, 'recording '))).toBe(true);
});

test.each([
  'task define hot --script hot.tick --json',
  'task show -- -replay',
  'replay recording --recording r --task a',
  'shell --execute -tick',
  'engine --data-dir d',
  'task list -unknown',
  '--help',
  '-v',
  '',
])('our own lines stay: %s', (line) => {
  expect(ours(line)).toBe(line);
});
