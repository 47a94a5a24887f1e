// Every verb of the task engine's command line against a real server: text, --json, globs, exit
// statuses.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  eventually,
  query,
  removeDirectory,
  run,
  EXECUTABLE,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { RunResult, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { runInProcess } from './in-process.ts';

const STREAM = `stream
    |from()
        .measurement('cpu')
    |log()
    |httpOut('latest')
    |alert()
        .id('{{ index .Tags "host" }}')
        .crit(lambda: "usage" > 90)
        .topic('cpu')
`;

const BATCH = `batch
    |query('SELECT mean("usage") AS usage FROM "metrics"."autogen"."cpu"')
        .period(10m)
        .every(5m)
    |httpOut('means')
`;

const TEMPLATE = `// which measurement
var measurement string

var limit = 10.0

stream
    |from()
        .measurement(measurement)
    |where(lambda: "usage" > limit)
    |httpOut('above')
`;

let server: Tidemark;
let engine: string;

beforeAll(async () => {
  server = await startTidemark({
    environment: { TIDEMARK_ENGINE_ALERT_ALLOWED_FILES: '/**' },
  });
  engine = server.engine;
  vi.stubEnv('TIDEMARK_ENGINE_URL', engine);
  await query(server.tsdb, 'CREATE DATABASE metrics');
  await writeFile(file('cpu.tick'), STREAM);
  await writeFile(file('means.tick'), BATCH);
  await writeFile(file('above.tick'), TEMPLATE);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
  await removeDirectory(server.directory);
});

const file = (name: string): string => join(server.directory, name);

/** Runs a command against the engine of this file's server. */
const tidemark = (...args: string[]): Promise<RunResult> => runInProcess(args);

/** Runs a command that must succeed; its output. */
async function output(...args: string[]): Promise<string> {
  const result = await tidemark(...args);
  expect(result, args.join(' ')).toMatchObject({ status: 0, stderr: '' });
  return result.stdout;
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await output(...args, '--json')) as T;
}

/** The first word of each line below the titles. */
const firstColumn = (table: string): readonly string[] =>
  table
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/)[0] ?? '');

/**
 * Writes points, which the task `cpu_hot` logs, until a command that follows the log has seen
 * enough.
 */
async function followed(following: Promise<RunResult>): Promise<RunResult> {
  return eventually('the end of following', async () => {
    await write(engine, 'metrics', 'cpu,host=a usage=97', { rp: 'autogen' });
    return Promise.race([following, sleep(50, undefined)]);
  });
}

describe('task', () => {
  test('define creates, says what it is, and takes effect when enabled', async () => {
    expect(
      await output(
        'task',
        'define',
        'cpu_hot',
        '--script',
        file('cpu.tick'),
        '--dbrp',
        'metrics.autogen',
      ),
    ).toBe('defined cpu_hot (stream, disabled)\n');
    await output('task', 'enable', 'cpu_hot');

    expect(await json('task', 'show', 'cpu_hot')).toMatchObject({
      id: 'cpu_hot',
      type: 'stream',
      status: 'enabled',
      executing: true,
      script: STREAM,
      dbrps: [{ db: 'metrics', rp: 'autogen' }],
    });
    const shown = await output('task', 'show', 'cpu_hot');
    expect(shown).toMatch(/^ID: cpu_hot\n/);
    expect(shown).toContain(STREAM);
    expect(shown).toContain('digraph cpu_hot {');
  });

  test('define changes what is given and reloads an enabled task', async () => {
    const before = await json<{ 'last-enabled': string }>('task', 'show', 'cpu_hot');
    const define = async (...flags: string[]) => {
      expect(await output('task', 'define', 'cpu_hot', ...flags)).toBe(
        'changed cpu_hot (stream, enabled)\n',
      );
      return json('task', 'show', 'cpu_hot');
    };

    const unloaded = await define('--dbrp', 'metrics.other', '--no-reload');
    const reloaded = await define('--dbrp', 'metrics.other');
    const after = await define('--dbrp', 'metrics.autogen');

    expect(unloaded).toMatchObject({ 'needs-restart': true });
    for (const each of [reloaded, after]) {
      expect(each).not.toHaveProperty('needs-restart');
      // It never was disabled on the way.
      expect(each).toMatchObject({
        script: STREAM,
        executing: true,
        'last-enabled': before['last-enabled'],
      });
    }
    expect(after).toMatchObject({ dbrps: [{ db: 'metrics', rp: 'autogen' }] });
  });

  test('define reads a script from standard input', async () => {
    const defined = await run(
      EXECUTABLE,
      [
        'task',
        'define',
        'piped',
        '--script',
        '-',
        '--dbrp',
        '"metrics"."autogen"',
        '--url',
        engine,
      ],
      { input: STREAM },
    );

    expect(defined).toMatchObject({ status: 0, stdout: 'defined piped (stream, disabled)\n' });
  });

  test('list takes globs', async () => {
    await output(
      'task',
      'define',
      'means',
      '--script',
      file('means.tick'),
      '--dbrp',
      'metrics.autogen',
    );

    expect(firstColumn(await output('task', 'list'))).toEqual(['cpu_hot', 'means', 'piped']);
    expect(firstColumn(await output('task', 'list', 'cpu*', 'mean?'))).toEqual([
      'cpu_hot',
      'means',
    ]);
    expect(await output('task', 'list', 'nothing*')).toMatch(/^ID +Type/);
    expect(await json('task', 'list', 'means')).toMatchObject([{ id: 'means', type: 'batch' }]);
  });

  test('output, stats and watch show what a task does', async () => {
    const watching = tidemark('task', 'watch', 'cpu_hot', '--lines', '1');
    await write(engine, 'metrics', 'cpu,host=a usage=97', { rp: 'autogen' });

    const latest = await json<{ series: readonly { name: string }[] }>(
      'task',
      'output',
      'cpu_hot',
      'latest',
    );
    expect(latest.series).toMatchObject([{ name: 'cpu', tags: { host: 'a' } }]);
    expect(await output('task', 'stats', 'cpu_hot')).toMatch(/^log2 +collected +1$/m);
    expect(await json('task', 'stats', 'cpu_hot')).toHaveProperty('node-stats.alert4');
    const watched = await followed(watching);
    expect(watched).toMatchObject({ status: 0, stderr: '' });
    expect(watched.stdout).toMatch(/^[^\n]*task=cpu_hot[^\n]*\n$/);
  });

  test('tap shows what leaves a node and why an alert decided as it did', async () => {
    const listenerCount = process.listenerCount('SIGINT');
    const tapped = await followed(tidemark('task', 'tap', 'cpu_hot', 'alert4', '--lines', '1'));
    expect(tapped).toMatchObject({ status: 0, stderr: '' });
    expect(tapped.stdout).toMatch(/ -> CRITICAL\n  crit: "usage" > 90 is true \(usage=97\)\n$/);

    const raw = tidemark('task', 'tap', 'cpu_hot', 'log2', '--lines', '1', '--json');
    expect(JSON.parse((await followed(raw)).stdout)).toMatchObject({
      kind: 'point',
      node: 'log2',
      name: 'cpu',
      tags: { host: 'a' },
      fields: { usage: 97 },
    });
    expect(await tidemark('task', 'tap', 'cpu_hot', 'nothing')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no node "nothing"'),
    });
    expect(process.listenerCount('SIGINT')).toBe(listenerCount);
  });

  test('enable, disable, reload and delete take several ids and globs', async () => {
    expect(await json('task', 'enable', 'means', 'pip*')).toEqual({
      count: 2,
      ids: ['means', 'piped'],
    });
    await output('task', 'reload', 'means');
    await output('task', 'disable', '*');
    const states = await json<readonly { status: string }[]>('task', 'list');
    expect(new Set(states.map(({ status }) => status))).toEqual(new Set(['disabled']));
    await output('task', 'delete', 'piped');
    expect(await tidemark('task', 'show', 'piped')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^tidemark: no task exists/) as unknown,
    });
    expect(await tidemark('task', 'delete', 'pip*')).toMatchObject({ status: 1 });
  });

  test('push defines everything of a directory and says which file is wrong', async () => {
    const folder = file('load');
    await mkdir(join(folder, 'tasks'), { recursive: true });
    await mkdir(join(folder, 'templates'));
    await mkdir(join(folder, 'handlers'));
    await writeFile(join(folder, 'templates', 'above.tick'), TEMPLATE);
    await writeFile(join(folder, 'tasks', 'pushed.tick'), `dbrp "metrics"."autogen"\n\n${STREAM}`);
    await writeFile(
      join(folder, 'tasks', 'from_template.json'),
      JSON.stringify({
        'template-id': 'above',
        dbrps: ['metrics.autogen'],
        vars: { measurement: { type: 'string', value: 'cpu' } },
      }),
    );
    await writeFile(
      join(folder, 'handlers', 'noted.json'),
      JSON.stringify({ topic: 'cpu', kind: 'log', options: { path: file('events.log') } }),
    );

    expect(await json('task', 'push', folder, '--enable')).toEqual([
      { kind: 'template', id: 'above', change: 'defined' },
      { kind: 'task', id: 'from_template', change: 'defined' },
      { kind: 'task', id: 'pushed', change: 'defined' },
      { kind: 'handler', id: 'noted', change: 'defined' },
    ]);
    expect(await json('task', 'list', 'pushed', 'from_template')).toMatchObject([
      { id: 'pushed', status: 'enabled' },
      { id: 'from_template', status: 'enabled' },
    ]);
    expect(await output('task', 'push', folder)).toContain('changed  task      pushed');

    await writeFile(join(folder, 'tasks', 'broken.tick'), 'stream|nonsense()');
    const failed = await tidemark('task', 'push', folder);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain('tasks/broken.tick: ');
    expect(failed.stdout).toContain('pushed');
    await output('task', 'delete', 'pushed', 'from_template');
    await output('handler', 'delete', 'cpu', 'noted');
    await output('template', 'delete', 'above');
  });

  test('define and show tell what will keep a task from starting, enabling is refused with it', async () => {
    await writeFile(file('unfit.tick'), "stream\n    |from()\n    |where(lambda: 'x' == 2)\n");
    const finding =
      /got string == int.*\n  line 3, column 27: found int, expected string; convert it/;

    const script = ['--script', file('unfit.tick'), '--dbrp', 'metrics.autogen'];
    const defined = await tidemark('task', 'define', 'unfit', ...script);
    expect(defined).toMatchObject({ status: 0, stdout: 'defined unfit (stream, disabled)\n' });
    expect(defined.stderr).toMatch(finding);
    expect(await output('task', 'show', 'unfit')).toContain('line 3, column 27: ');

    const enabled = await tidemark('task', 'enable', 'unfit');
    expect(enabled.status).toBe(1);
    expect(enabled.stderr).toMatch(finding);
    // A refused command changes nothing: the task has no error of its own, and stays disabled.
    expect(await output('task', 'show', 'unfit')).toMatch(
      /^Error: \n  line 3, column 27: Failed to compile.*\n(?:.*\n)*Status: disabled$/m,
    );
    await output('task', 'delete', 'unfit');

    // A task that can be enabled but fails on every point causes a warning.
    await writeFile(file('doomed.tick'), 'stream|from()\n    |where(lambda: nofn("a"))\n');
    const doomed = ['--script', file('doomed.tick'), '--dbrp', 'metrics.autogen'];
    expect((await tidemark('task', 'define', 'doomed', ...doomed)).stderr).toBe(
      'tidemark: task doomed fails on every point:\n  line 2, column 20: where2: undefined function: "nofn"\n',
    );
    expect(await output('task', 'show', 'doomed')).toMatch(
      /^Error: \nFails on every point:\n  line 2, column 20: where2: undefined/m,
    );
    await output('task', 'delete', 'doomed');

    // And what nobody would hear of.
    const unheard = "stream|from()|alert().crit(lambda: TRUE).email('a@b.example')\n";
    await writeFile(file('unheard.tick'), unheard);
    const script2 = ['--script', file('unheard.tick'), '--dbrp', 'gone.autogen'];
    const told = /line 1, column 42: handler smtp: the service is not enabled; configure smtp/;
    const { stderr } = await tidemark('task', 'define', 'unheard', ...script2);
    expect(stderr).toMatch(/^tidemark: task unheard cannot reach what it needs:\n/);
    expect(stderr).toMatch(told);
    expect(stderr).toMatch(
      /stream0: database "gone" does not exist; this task receives only points written to the/,
    );
    expect(await output('task', 'show', 'unheard')).toMatch(told);
    await output('task', 'delete', 'unheard');
    await writeFile(file('unheard.yaml'), 'topic: deaf\nid: mail\nkind: smtp\n');
    expect((await tidemark('handler', 'define', file('unheard.yaml'))).stderr).toBe(
      'tidemark: handler smtp: the service is not enabled; configure smtp, in the file or by POST config/smtp; until then events become dead letters\n',
    );
    expect(await output('handler', 'show', 'deaf', 'mail')).toContain('\nWarning: handler smtp:');
    await output('handler', 'delete', 'deaf', 'mail');

    // Inside the text of a query it is the word that is pointed at.
    await writeFile(
      file('asking.tick'),
      "batch\n    |query('''SELECT mean(v)\n        FORM metrics.autogen.m''')\n        .every(1m)\n",
    );
    const asking = ['--script', file('asking.tick'), '--dbrp', 'metrics.autogen'];
    expect((await tidemark('task', 'define', 'asking', ...asking)).stderr).toMatch(
      /found FORM, expected FROM at line 2, char 9\n  line 3, column 9: found FORM, expected FROM; did you mean FROM\?\n$/,
    );
    await output('task', 'delete', 'asking');
  });

  test('variables keep all digits of their integers', async () => {
    await writeFile(file('long.tick'), 'var limit int\nstream|from().where(lambda: "v" > limit)\n');
    await writeFile(file('long.json'), '{"limit": {"type": "int", "value": 9007199254740993}}');
    const given = ['--script', file('long.tick'), '--vars', file('long.json')];
    await output('task', 'define', 'long', ...given, '--dbrp', 'metrics.autogen');
    // An integer in quotes is a text, and a text is no integer.
    await writeFile(file('quoted.yml'), 'vars:\n  limit: {type: int, value: "9007199254740993"}\n');
    const quoted = await tidemark('task', 'define', 'long', '--file', file('quoted.yml'));
    expect(quoted).toMatchObject({
      status: 1,
      stderr:
        'tidemark: invalid var limit: its value must be an integer of 64 bits, not "9007199254740993"\n',
    });
    await writeFile(file('long.yml'), 'vars:\n  limit: {type: int, value: 9007199254740993}\n');
    await output('task', 'define', 'long', '--file', file('long.yml'));

    expect(await output('task', 'show', 'long')).toMatch(/limit\s+int\s+9007199254740993\s*$/m);
    expect(await output('task', 'show', 'long', '--json')).toContain(' 9007199254740993');
    await output('task', 'delete', 'long');
  });

  test('a wrong script, wrong usage and a missing engine end with 1, 2 and 1', async () => {
    await writeFile(file('broken.tick'), 'stream\n    |from(\n');
    expect(
      await tidemark(
        'task',
        'define',
        'broken',
        '--script',
        file('broken.tick'),
        '--dbrp',
        'metrics.autogen',
      ),
    ).toMatchObject({ status: 1, stderr: expect.stringContaining('line 3 char 1') as unknown });
    expect(await tidemark('task', 'define', 'x', '--script', file('absent.tick'))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('absent.tick') as unknown,
    });
    expect(await tidemark('task', 'define', 'x', '--dbrp', 'metrics')).toMatchObject({ status: 2 });
    expect(await tidemark('task', 'define')).toMatchObject({ status: 2 });
    expect(await tidemark('task', 'frobnicate')).toMatchObject({ status: 2 });
    const away = await tidemark('task', 'list', '--url', 'http://127.0.0.1:1');
    expect(away.status).toBe(1);
    expect(away.stderr).toMatch(/^tidemark: .*127\.0\.0\.1:1/);
    expect(away.stderr).not.toContain('    at ');
  });
});

describe('template', () => {
  test('define, show, list, use and delete', async () => {
    expect(await output('template', 'define', 'above', '--script', file('above.tick'))).toBe(
      'defined above (stream)\n',
    );
    expect(await output('template', 'show', 'above')).toMatch(
      /measurement +string +<required> +which measurement/,
    );
    expect(firstColumn(await output('template', 'list', 'ab*'))).toEqual(['above']);
    await writeFile(file('vars.json'), '{"measurement":{"type":"string","value":"cpu"}}');
    await output(
      'task',
      'define',
      'above_10',
      '--template',
      'above',
      '--vars',
      file('vars.json'),
      '--dbrp',
      'metrics.autogen',
    );
    expect(await output('task', 'show', 'above_10')).toMatch(/Template: above\n/);

    await output('task', 'delete', 'above_10');
    await output('template', 'delete', 'abo*');
    expect(await json('template', 'list')).toEqual([]);
    expect(await tidemark('template', 'show', 'above')).toMatchObject({ status: 1 });
    expect(await tidemark('template', 'define', 'y')).toMatchObject({ status: 2 });
  });
});

describe('recording and replay', () => {
  beforeAll(async () => {
    const now = Date.now();
    await write(
      server.tsdb,
      'metrics',
      Array.from(
        { length: 20 },
        (_, i) => `cpu,host=b usage=${i} ${now - 1_200_000 + i * 60_000}`,
      ).join('\n'),
      { precision: 'ms' },
    );
    await tidemark('task', 'enable', 'cpu_hot');
  });

  test('record query, and replay it', async () => {
    expect(
      await output(
        'recording',
        'query',
        '--type',
        'stream',
        '--id',
        'hosts',
        '--query',
        'SELECT usage FROM "metrics"."autogen"."cpu" WHERE host = \'b\' GROUP BY host',
      ),
    ).toBe('hosts\n');
    expect(await output('recording', 'list', 'ho*')).toMatch(/^hosts +stream +finished +\d/m);

    expect(
      await output(
        'replay',
        'recording',
        '--recording',
        'hosts',
        '--task',
        'cpu_hot',
        '--id',
        'again',
        '--rec-time',
      ),
    ).toBe('again\n');
    expect(await output('replay', 'list', 'again')).toMatch(
      /^again +cpu_hot +hosts +finished +fast/m,
    );
    expect(await json('replay', 'list', 'again')).toMatchObject([
      { status: 'finished', error: '' },
    ]);
    expect(await output('task', 'show', 'cpu_hot', '--replay', 'again')).toContain('digraph');
  });

  test('record stream and batch', async () => {
    const recording = tidemark(
      'record',
      'stream',
      '--task',
      'cpu_hot',
      '--duration',
      '1s',
      '--id',
      'live',
    );
    // Points keep coming: should the second be over before the engine hears of it, the next point
    // is the end.
    expect(await followed(recording)).toMatchObject({ status: 0, stdout: 'live\n' });

    expect(
      await json('record', 'batch', '--task', 'means', '--past', '20m', '--id', 'past'),
    ).toMatchObject({
      id: 'past',
      type: 'batch',
      status: 'finished',
    });
    expect(await output('replay', 'recording', '--recording', 'past', '--task', 'means')).toMatch(
      /^[\w-]+\n$/,
    );
  });

  test('replay-live of a batch and a query', async () => {
    expect(
      await output('replay-live', 'batch', '--task', 'means', '--past', '20m', '--id', 'b1'),
    ).toBe('b1\n');
    expect(
      await output(
        'replay-live',
        'query',
        '--task',
        'cpu_hot',
        '--id',
        'q1',
        '--query',
        'SELECT usage FROM "metrics"."autogen"."cpu" WHERE host = \'b\' GROUP BY host',
      ),
    ).toBe('q1\n');
  });

  test('failures and wrong usage', async () => {
    expect(await tidemark('record', 'batch', '--task', 'absent', '--past', '1m')).toMatchObject({
      status: 1,
    });
    expect(await tidemark('record', 'batch', '--task', 'means')).toMatchObject({
      status: 2,
      stderr: 'tidemark: give either --past or --start\n',
    });
    expect(
      await tidemark('record', 'stream', '--task', 'cpu_hot', '--duration', 'soon'),
    ).toMatchObject({ status: 2 });
    expect(
      await tidemark('replay', 'recording', '--task', 'cpu_hot', '--recording', 'absent'),
    ).toMatchObject({ status: 1 });
  });

  test('delete takes globs', async () => {
    await output('replay', 'delete', '*');
    await output('recording', 'delete', 'ho*', 'live', 'past');
    expect(await json('recording', 'list')).toEqual([]);
    expect(await json('replay', 'list')).toEqual([]);
    expect(await tidemark('recording', 'delete', 'ho*')).toMatchObject({ status: 1 });
  });
});

describe('topic and handler', () => {
  test('define a handler, get an event, look at both, delete them', async () => {
    const log = file('hot.log');
    await writeFile(
      file('handler.json'),
      JSON.stringify({ topic: 'cpu', id: 'noted', kind: 'log', options: { path: log } }),
    );
    expect(await output('handler', 'define', file('handler.json'))).toBe('defined noted on cpu\n');
    expect(await output('handler', 'define', file('handler.json'))).toBe('defined noted on cpu\n');
    expect(await output('handler', 'list')).toMatch(/^cpu +noted +log$/m);
    expect(await json('handler', 'show', 'cpu', 'noted')).toMatchObject({
      id: 'noted',
      kind: 'log',
    });

    await output('task', 'enable', 'cpu_hot');
    await write(engine, 'metrics', 'cpu,host=web1 usage=99', { rp: 'autogen' });
    await eventually('the event in the file', async () =>
      (await readFile(log, 'utf8').catch(() => '')).includes('web1') ? true : undefined,
    );
    expect(await output('topic', 'list', 'c*', '--min-level', 'CRITICAL')).toMatch(
      /^cpu +CRITICAL +\d+$/m,
    );
    const shown = await output('topic', 'show', 'cpu');
    expect(shown).toContain('Handlers: [noted]');
    expect(shown).toMatch(/^web1 +CRITICAL/m);
    expect(await json('topic', 'show', 'cpu', '--min-level', 'CRITICAL')).toMatchObject({
      id: 'cpu',
      level: 'CRITICAL',
    });

    await output('handler', 'delete', 'cpu', 'noted');
    expect(await json('handler', 'list')).toEqual([]);
    await output('task', 'disable', 'cpu_hot');
    await output('topic', 'delete', 'cpu');
    expect(await tidemark('topic', 'show', 'cpu')).toMatchObject({ status: 1 });
    expect(await tidemark('topic', 'list', '--min-level', 'BAD')).toMatchObject({ status: 2 });
  });
});

describe('service-test and engine', () => {
  test('service-test list and run', async () => {
    expect(firstColumn(await output('service-test', 'list', 'ts*'))).toEqual(['tsdb']);
    const failed = await tidemark('service-test', 'run', 'smtp');
    expect(failed).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^smtp +false/m) as unknown,
    });
    expect(
      await json('service-test', 'run', 'tsdb', '--options', '{"cluster":"default"}'),
    ).toMatchObject([{ name: 'tsdb', success: true }]);
    expect(await tidemark('service-test', 'run', 'tsdb', '--options', '{')).toMatchObject({
      status: 2,
    });
  });

  test('config, backup, level and stats', async () => {
    expect(JSON.parse(await output('engine', 'config', 'smtp'))).toHaveProperty('elements');
    const saved = await json<{ bytes: number }>('engine', 'backup', file('engine.backup'));
    expect((await stat(file('engine.backup'))).size).toBe(saved.bytes);
    expect(saved.bytes).toBeGreaterThan(0);
    await output('engine', 'level', 'debug');
    expect(await tidemark('engine', 'level', 'loud')).toMatchObject({ status: 2 });
    expect(await output('engine', 'stats')).toMatch(/^num_tasks +\d+$/m);
    expect(await json('engine', 'stats')).toHaveProperty('num_tasks');
  });

  test('logs follows with filters, for a number of lines', async () => {
    await output('task', 'enable', 'cpu_hot');
    const line = await followed(
      tidemark('engine', 'logs', 'task=cpu_hot', '--level', 'info', '--lines', '1'),
    );

    expect(line).toMatchObject({ status: 0, stderr: '' });
    expect(line.stdout).toMatch(/^[^\n]*lvl=info[^\n]*task=cpu_hot[^\n]*\n$/);
    expect(await tidemark('engine', 'logs', 'nonsense')).toMatchObject({ status: 2 });
  });
});
