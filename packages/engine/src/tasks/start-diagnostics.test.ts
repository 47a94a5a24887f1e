// Mistakes that prevent a task from starting are reported with their positions in the script: when
// it is defined, when it is enabled, and while it is stored. Status and message stay the recorded
// ones.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();

beforeAll(() => engine.start());
afterAll(() => engine.close());

let count = 0;

async function define(script: string, status = 'disabled') {
  const id = `task${count++}`;
  const task = { id, status, dbrps: [{ db: 'd', rp: 'r' }], script };
  return { id, answer: await engine.call('POST', '/engine/v1/tasks?diagnostics=true', task) };
}

async function shown(id: string, query = '?diagnostics=true') {
  return (await engine.call('GET', `/engine/v1/tasks/${id}${query}`)).json;
}

const MISMATCH =
  'Failed to compile expression in where clause: mismatched type to binary operator. got string == int. see bool(), int(), float(), string(), duration()';
const WRONG_TYPES = "stream|from()\n  |where(lambda: 'x' == 2)";
const FINDING = {
  code: 'TICK_LAMBDA_TYPE',
  message: MISMATCH,
  line: 2,
  column: 25,
  position: 38,
  length: 1,
  found: 'int',
  expected: ['string'],
  hint: 'convert it: string(2)',
};

test('a definition that could not start is accepted, and says so to those who ask', async () => {
  const { id, answer } = await define(WRONG_TYPES);

  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({ status: 'disabled', error: '', diagnostics: [FINDING] });
  expect(await shown(id)).toMatchObject({ error: '', diagnostics: [FINDING] });
  expect(await shown(id, '')).not.toHaveProperty('diagnostics');
});

test('enabling it is refused with the recorded sentence, its place beside it', async () => {
  const { id } = await define(WRONG_TYPES);
  const path = `/engine/v1/tasks/${id}`;
  const enable = { status: 'enabled' };

  const plain = await engine.call('PATCH', path, enable);
  expect([plain.status, plain.json]).toEqual([400, { error: MISMATCH }]);
  expect(await shown(id)).toMatchObject({ status: 'disabled', error: '', diagnostics: [FINDING] });

  const asked = await engine.call('PATCH', `${path}?diagnostics=true`, enable);
  expect([asked.status, asked.json]).toEqual([400, { error: MISMATCH, diagnostics: [FINDING] }]);
});

test('expressions that fail on every point are reported for running tasks, and for tasks that could run', async () => {
  const script = 'stream|from()|where(lambda: strLenght("a") > 1)';
  const warning = {
    code: 'TICK_FAILS_ON_POINTS',
    message: 'where2: undefined function: "strLenght"',
    line: 1,
    column: 29,
    position: 28,
    length: 14,
    hint: 'did you mean strLength?',
  };

  const { id, answer } = await define(script, 'enabled');
  expect(answer.json).toMatchObject({ executing: true, diagnostics: [], warnings: [warning] });
  expect(await shown(id)).toMatchObject({ error: '', warnings: [warning] });
  expect(await shown(id, '')).not.toHaveProperty('warnings');
  expect((await define(WRONG_TYPES)).answer.json).toMatchObject({ warnings: [] });
});

test('a task that runs has nothing against it', async () => {
  const { answer } = await define('stream|from()', 'enabled');

  expect(answer.json).toMatchObject({ executing: true, diagnostics: [] });
});

describe('what only the start finds is placed', () => {
  test.each([
    ["stream|from()|alert().message('{{ .ID').crit(lambda: TRUE)", "message('{{ .ID')"],
    ["stream|from()|httpPost().endpoint('absent')", "endpoint('absent')"],
    ["stream|from()|httpOut('a')|httpOut('a')", "httpOut('a')"],
    ["stream|from()|influxDBOut().cluster('absent').database('d')", "cluster('absent')"],
    ["stream|from()|alert().crit(lambda: TRUE).exec('')", "exec('')"],
    ["stream|from()|alert().crit(lambda: TRUE).kafka().kafkaTopic('t')", 'kafka('],
    ["stream|from()|sideload().source('file:///absent-directory').order('a')", 'source('],
    [
      "stream|from()|k8sAutoscale().cluster('absent').resourceName('a').replicas(lambda: 1)",
      "cluster('absent')",
    ],
  ])('%s', async (script, place) => {
    const { id, answer } = await define(script, 'enabled');

    expect(answer.status).toBe(400);
    const { error, diagnostics } = answer.json;
    expect(diagnostics).toEqual([
      expect.objectContaining({
        message: error,
        line: 1,
        column: script.indexOf(place) + 1,
        position: script.indexOf(place),
      }),
    ]);
    expect(await shown(id)).toEqual({ error: `no task exists with the id "${id}"` });
  });
});

test('in a thread of its own a task is refused with the same place', async () => {
  const threaded = new TestEngine();
  try {
    await threaded.start({ task: { hosts: '1' } });
    const script = "stream|from()|alert().message('{{ .ID').crit(lambda: TRUE)";
    const task = { id: 't', status: 'enabled', dbrps: [{ db: 'd', rp: 'r' }], script };

    const { status, json } = await threaded.call('POST', '/engine/v1/tasks?diagnostics=true', task);

    expect(status).toBe(400);
    expect(json.diagnostics).toMatchObject([{ message: json.error, column: 23 }]);
  } finally {
    await threaded.close();
  }
});

test('templates of texts that cannot be read are found when a task is defined', async () => {
  const script = "stream|from()\n  |alert().id('{{ .Name').crit(lambda: TRUE)";

  const { answer } = await define(script);

  expect(answer).toMatchObject({ status: 200, json: { status: 'disabled', error: '' } });
  expect(answer.json.diagnostics).toMatchObject([
    { message: 'template: id:1: unclosed action', line: 2, column: 12 },
  ]);
});
