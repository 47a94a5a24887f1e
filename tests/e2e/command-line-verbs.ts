// One row per verb that talks to the task engine: its output as a table and as JSON, its handling
// of globs, and its failures. command-line.test.ts runs the rows in this order, and fails if a verb
// has no row.

import { expect } from 'vitest';

const ARRAY: unknown = expect.any(Array);
const STRING: unknown = expect.any(String);

export type VerbRow = {
  /** Command lines that must succeed first. */
  readonly before?: readonly string[];
  /**
   * Arguments after the verb that succeed. Words are split at spaces; `{name}` is a file of the
   * test's directory.
   */
  readonly ok: string;
  /** Its expected output; nothing when left out. */
  readonly prints?: RegExp;
  /** Arguments for `--json`, when the verb cannot be run twice with the same. */
  readonly okForJson?: string;
  /** A part of the JSON. */
  readonly json: unknown;
  /**
   * Arguments with a glob, and the ids, in any order, that it must come to: the first column, or
   * `ids` of the JSON.
   */
  readonly glob?: { readonly args: string; readonly ids: readonly string[] };
  /** A glob that matches nothing; exit status 1. Lists have an empty table instead. */
  readonly emptyGlob?: string;
  /** The expected refusal by the engine, or by the verb itself; exit status 1. */
  readonly refused?: string;
  /** Wrong usages; exit status 2. Unknown options are tried anyway. */
  readonly wrong: readonly string[];
  /** Goes on until so many lines have come: points are written meanwhile. */
  readonly isFollowing?: boolean;
  /** Needs no engine. */
  readonly isLocal?: boolean;
};

const QUERY = 'SELECT|usage|FROM|"metrics"."autogen"."cpu"';

export const VERBS: Readonly<Record<string, VerbRow>> = {
  'task define': {
    ok: 'verb --script {cpu.tick} --dbrp metrics.autogen --type stream --split 1',
    prints: /^defined verb \(stream, disabled\)\n$/,
    okForJson: 'verb --file {verb.yaml} --no-reload',
    json: {
      id: 'verb',
      dbrps: [
        { db: 'metrics', rp: 'autogen' },
        { db: 'metrics', rp: 'week' },
      ],
    },
    refused: 'broken --script {broken.tick} --dbrp metrics.autogen',
    wrong: [
      '',
      'a b',
      'x --script {absent.tick}',
      'x --type batched',
      'x --split many',
      'x --dbrp metrics',
      'x --vars {cpu.tick}',
      'x --file {wrong.yaml}',
    ],
  },
  'task enable': { ok: 'verb', json: { ids: ['verb'] }, refused: 'absent', wrong: [''] },
  'task list': {
    ok: '',
    prints:
      /^ID +Type +Status +Executing +Databases and Retention Policies +Split\n(.*\n)*verb +stream +enabled +true +\["metrics"\."autogen" "metrics"\."week"\] +1\n/,
    json: [{ id: 'cpu_hot' }, { id: 'means' }, { id: 'verb' }],
    glob: { args: 'v[e]rb* mean?', ids: ['verb', 'means'] },
    emptyGlob: 'nothing*',
    wrong: ['--fields'],
  },
  'task show': {
    ok: 'verb',
    prints:
      /^ID: verb\nError: \nTemplate: \nType: stream\nStatus: enabled\nExecuting: true\nCreated: (.*\n)*Split: 1\n(.*\n)*DOT:\ndigraph verb \{/,
    json: { id: 'verb', executing: true },
    refused: 'absent',
    wrong: ['', 'a b', 'verb --replay'],
  },
  'task output': {
    ok: 'verb latest',
    prints: /^\{\s*"series"/,
    json: {},
    refused: 'verb absent',
    wrong: ['', 'verb', 'verb latest more'],
  },
  'task stats': {
    ok: 'verb',
    prints: /^Node +Counter +Value\n(.*\n)*from1 +collected +\d+\n/,
    json: { 'node-stats': {} },
    refused: 'absent',
    wrong: ['', 'a b'],
  },
  'task watch': {
    ok: 'verb node=log2 --level info --lines 1',
    prints: /^[^\n]*task=verb[^\n]*\n$/,
    json: { task: 'verb', node: 'log2' },
    refused: 'absent',
    wrong: ['', 'verb nonsense', 'verb --level loud', 'verb --lines none'],
    isFollowing: true,
  },
  'task tap': {
    ok: 'verb alert4 --lines 1',
    prints: /^[^\n]+ -> CRITICAL\n {2}crit: /,
    json: { kind: 'why', node: 'alert4' },
    refused: 'verb absent',
    wrong: ['', 'verb', 'verb alert4 --group host', 'verb alert4 --lines -1'],
    isFollowing: true,
  },
  'task reload': { ok: 'verb', json: { count: 1 }, refused: 'absent', wrong: [''] },
  'task disable': {
    ok: 'verb',
    json: { ids: ['verb'] },
    glob: { args: 've* verb', ids: ['verb'] },
    emptyGlob: 'nothing*',
    refused: 'absent',
    wrong: [''],
  },
  'task delete': {
    ok: 'verb',
    before: ['task define verb2 --script {cpu.tick} --dbrp metrics.autogen'],
    json: { ids: ['verb'] },
    glob: { args: 'verb?', ids: ['verb2'] },
    emptyGlob: 'verb*',
    wrong: [''],
  },
  'task push': {
    ok: '{pushed}',
    prints: /^Change +Kind +ID\ndefined +template +pushed_above\nchanged +task +means\n/,
    json: ARRAY,
    refused: '{pushed_wrong}',
    wrong: ['', '{absent}', '{pushed} more'],
  },
  'task test': {
    ok: '{tests/fine.task-test}',
    prints: /^1 passed, 0 failed/,
    json: [{ tests: [{ failures: [] }] }],
    refused: '{tests}',
    wrong: ['', '{absent}'],
    isLocal: true,
  },
  'task pipeline': {
    ok: '{cpu.tick} --to script',
    prints: /^stream\n {4}\|from\(\)\n {8}\.measurement\('cpu'\)\n {4}\|log\(\)\n/,
    json: {
      type: 'stream',
      nodes: [{ type: 'stream' }, { type: 'from' }, {}, {}, { name: 'alert4' }],
    },
    refused: '{broken.tick}',
    wrong: ['', '{absent.tick}', '{cpu.tick} --to yaml', '{cpu.tick} --vars {absent.json}'],
    isLocal: true,
  },
  'template define': {
    ok: 'verb_above --script {above.tick} --type stream',
    prints: /^defined verb_above \(stream\)\n$/,
    json: { id: 'verb_above', vars: { measurement: { type: 'string' } } },
    refused: 'broken --script {broken.tick}',
    wrong: ['', 'x', 'x --script {absent.tick}', 'x --script {above.tick} --type none'],
  },
  'template list': {
    ok: '',
    prints: /^ID +Type +Vars\n(.*\n)*verb_above +stream +limit,measurement\n/,
    json: ARRAY,
    glob: { args: 'verb_*', ids: ['verb_above'] },
    emptyGlob: 'nothing*',
    wrong: ['a b'],
  },
  'template show': {
    ok: 'verb_above',
    prints:
      /^ID: verb_above\nError: \nType: stream\n(.*\n)*Name +Type +Default Value +Description\n/,
    json: { id: 'verb_above', type: 'stream' },
    refused: 'absent',
    wrong: ['', 'a b'],
  },
  'template delete': {
    ok: 'verb_above',
    before: ['template define verb_two --script {above.tick}'],
    json: { count: 1, ids: ['verb_above'] },
    glob: { args: 'verb_*', ids: ['verb_two'] },
    emptyGlob: 'verb_*',
    wrong: [''],
  },
  'recording query': {
    ok: `--query ${QUERY} --type stream --cluster default --id verb_q`,
    prints: /^verb_q\n$/,
    okForJson: `--query ${QUERY} --type batch --id verb_b`,
    json: { id: 'verb_b', type: 'batch', status: 'finished' },
    refused: `--query ${QUERY} --type stream --cluster absent`,
    wrong: ['', `--query ${QUERY}`, `--query ${QUERY} --type neither`],
  },
  'recording stream': {
    ok: '--task cpu_hot --duration 1h --id verb_s --no-wait',
    prints: /^verb_s\n$/,
    okForJson: '--task cpu_hot --duration 1h --id verb_s2 --no-wait',
    json: { id: 'verb_s2', type: 'stream', status: 'running' },
    refused: '--task absent --duration 1s',
    wrong: ['', '--task cpu_hot', '--task cpu_hot --duration soon', '--task cpu_hot --duration 0s'],
  },
  'recording batch': {
    ok: '--task means --past 20m --id verb_p',
    prints: /^verb_p\n$/,
    okForJson: '--task means --start 2024-01-01T00:00:00Z --stop 2024-01-01T00:20:00Z --id verb_r',
    json: { id: 'verb_r', type: 'batch', status: 'finished' },
    refused: '--task absent --past 1m',
    wrong: [
      '',
      '--task means',
      '--task means --past 1h --start 2024-01-01T00:00:00Z',
      '--task means --start yesterday',
      '--task means --start 2024-01-01T00:00:00Z --stop 2024-13-01T00:00:00Z',
    ],
  },
  'recording list': {
    ok: '',
    prints: /^ID +Type +Status +Size +Date\n(.*\n)*verb_q +stream +finished +[\d.]+ k?B +\d{4}-/,
    json: ARRAY,
    glob: { args: 'verb_[qb]', ids: ['verb_b', 'verb_q'] },
    emptyGlob: 'nothing*',
    wrong: ['a b'],
  },
  'recording show': {
    ok: 'verb_q',
    prints: /^ID: verb_q\nType: stream\nStatus: finished\nProgress: 100 %\nError: \nSize: /,
    json: { id: 'verb_q', status: 'finished', progress: 1 },
    refused: 'absent',
    wrong: ['', 'a b'],
  },
  'replay recording': {
    ok: '--recording verb_q --task cpu_hot --id verb_1',
    prints: /^verb_1\n$/,
    okForJson: '--recording verb_q --task cpu_hot --id verb_2 --real-clock --rec-time --no-wait',
    json: { id: 'verb_2', clock: 'real', 'recording-time': true },
    refused: '--recording absent --task cpu_hot',
    wrong: ['', '--task cpu_hot', '--recording verb_q'],
  },
  'replay batch': {
    ok: '--task means --past 20m --id verb_3',
    prints: /^verb_3\n$/,
    okForJson: '--task means --start 2024-01-01 --stop 2024-01-02 --rec-time --id verb_4',
    json: { id: 'verb_4', task: 'means', status: 'finished' },
    refused: '--task absent --past 20m',
    wrong: ['', '--task means', '--task means --past ever'],
  },
  'replay query': {
    ok: `--task cpu_hot --query ${QUERY} --cluster default --id verb_5`,
    prints: /^verb_5\n$/,
    okForJson: `--task cpu_hot --query ${QUERY} --id verb_6`,
    json: { id: 'verb_6', status: 'finished' },
    refused: `--task cpu_hot --query ${QUERY} --cluster absent`,
    wrong: ['', '--task cpu_hot', `--query ${QUERY}`],
  },
  'replay list': {
    ok: '',
    prints:
      /^ID +Task +Recording +Status +Clock +Date\n(.*\n)*verb_1 +cpu_hot +verb_q +finished +fast +\d{4}-/,
    json: ARRAY,
    glob: { args: 'verb_[1]', ids: ['verb_1'] },
    emptyGlob: 'nothing*',
    wrong: ['a b'],
  },
  'replay show': {
    ok: 'verb_1',
    prints: /^ID: verb_1\nTask: cpu_hot\nRecording: verb_q\nStatus: finished\nProgress: 100 %\n/,
    json: { id: 'verb_1', clock: 'fast' },
    refused: 'absent',
    wrong: ['', 'a b'],
  },
  'replay-live batch': {
    ok: '--task means --past 20m --id verb_7',
    prints: /^verb_7\n$/,
    okForJson: '--task means --past 20m --id verb_8',
    json: { id: 'verb_8' },
    refused: '--task absent --past 20m',
    wrong: ['', '--task means'],
  },
  'replay-live query': {
    ok: `--task cpu_hot --query ${QUERY} --id verb_9`,
    prints: /^verb_9\n$/,
    okForJson: `--task cpu_hot --query ${QUERY} --rec-time`,
    json: { task: 'cpu_hot' },
    refused: `--task absent --query ${QUERY}`,
    wrong: ['', '--task cpu_hot'],
  },
  'replay delete': {
    ok: 'verb_1',
    json: { ids: ['verb_1'] },
    glob: {
      args: 'verb_[2-8]',
      ids: ['verb_8', 'verb_7', 'verb_6', 'verb_5', 'verb_4', 'verb_3', 'verb_2'],
    },
    emptyGlob: 'verb_[2-8]',
    wrong: [''],
  },
  'recording delete': {
    ok: 'verb_s',
    json: { ids: ['verb_s'] },
    glob: { args: 'verb_[qb] verb_*', ids: ['verb_b', 'verb_q', 'verb_r', 'verb_p', 'verb_s2'] },
    emptyGlob: 'verb_q*',
    wrong: [''],
  },
  'handler define': {
    ok: '{verb-handler.yaml}',
    prints: /^defined noted on verbs\n$/,
    json: { id: 'noted', kind: 'log' },
    refused: '{pigeon.json}',
    wrong: ['', '{absent.json}', '{nameless.json}', '{cpu.tick}'],
  },
  'engine members': {
    ok: '',
    prints:
      /^ID +URL +Version +State +Leads +Tasks +Parts +Points\/s +Memory MiB +Copy behind +Tasks behind\n$/,
    json: [],
    wrong: ['a'],
  },
  'dead-letter list': {
    ok: '--topic verbs --handler noted',
    prints: /^ID +Topic +Handler +Event +Level +Date +Reason\n$/,
    json: [],
    wrong: ['a'],
  },
  'dead-letter retry': {
    ok: '--all',
    prints: /^0 queued for their handlers, 0 left\n$/,
    json: { count: 0, left: 0 },
    refused: '17',
    wrong: ['', '--all --topic verbs', '--all 17'],
  },
  'dead-letter drop': {
    ok: '--topic verbs',
    prints: /^0 dropped, 0 left\n$/,
    json: { count: 0, left: 0 },
    refused: '17 18',
    wrong: ['', '--all --handler noted'],
  },
  'handler list': {
    ok: 'verb*',
    prints: /^Topic +ID +Kind +Warning\nverbs +noted +log\n$/,
    json: [{ topic: 'verbs', id: 'noted', kind: 'log' }],
    glob: { args: 'v*', ids: ['verbs'] },
    emptyGlob: 'nothing*',
    wrong: ['a b'],
  },
  'handler show': {
    ok: 'verbs noted',
    prints: /^ID: noted\nTopic: verbs\nKind: log\nMatch: \nOptions: \{"path":/,
    json: { id: 'noted', kind: 'log' },
    refused: 'verbs absent',
    wrong: ['', 'verbs', 'a b c'],
  },
  'topic list': {
    ok: 'verb*',
    prints: /^ID +Level +Collected\nverbs +OK +0\n$/,
    json: [{ id: 'verbs', level: 'OK' }],
    glob: { args: 'v?rbs --min-level ok', ids: ['verbs'] },
    emptyGlob: 'verb* --min-level critical',
    wrong: ['a b', '--min-level loud'],
  },
  'topic show': {
    ok: 'verbs',
    prints:
      /^ID: verbs\nLevel: OK\nCollected: 0\nHandlers: \[noted\]\nEvents:\nEvent +Level +Message +Date\n$/,
    json: { id: 'verbs', handlers: [{ id: 'noted' }], events: [] },
    refused: 'absent',
    wrong: ['', 'a b', 'verbs --min-level loud'],
  },
  'handler delete': {
    ok: 'verbs noted',
    before: ['handler define {verb-handler2.json}'],
    json: { ids: ['noted'] },
    glob: { args: 'verbs n*', ids: ['noted2'] },
    emptyGlob: 'verbs n*',
    wrong: ['', 'verbs'],
  },
  'topic delete': {
    ok: 'verbs',
    before: ['handler define {verb-handler.yaml}'],
    json: { ids: ['verbs'] },
    glob: { args: 'ver*', ids: ['verbs'] },
    emptyGlob: 'nothing*',
    wrong: [''],
  },
  'service-test list': {
    ok: '',
    prints: /^Service Name\n(.*\n)*tsdb\n/,
    json: ARRAY,
    glob: { args: 'sm[t]p', ids: ['smtp'] },
    emptyGlob: 'nothing*',
    refused: '[',
    wrong: ['a b'],
  },
  'service-test run': {
    ok: 'tsdb',
    prints: /^Service +Success +Message\ntsdb +true$/m,
    okForJson: 'tsdb --options {"cluster":"default"}',
    json: [{ name: 'tsdb', success: true, message: '' }],
    glob: { args: 'tsd?', ids: ['tsdb'] },
    emptyGlob: 'nothing*',
    refused: 'smtp',
    wrong: ['', 'tsdb --options {', 'tsdb --options []'],
  },
  'engine config': {
    ok: 'tsdb default',
    prints: /"password": false/,
    json: { options: { name: 'default' } },
    refused: 'absent',
    wrong: ['a b c'],
  },
  'engine backup': {
    ok: '{engine.mdb}',
    prints: /engine\.mdb: \d+ kB\n$/,
    json: { file: STRING },
    refused: '{absent/engine.mdb}',
    wrong: ['', 'a b'],
  },
  'engine logs': {
    ok: 'task=cpu_hot --level info --lines 1',
    prints: /^[^\n]*task=cpu_hot[^\n]*\n$/,
    json: { task: 'cpu_hot', lvl: 'info' },
    wrong: ['nonsense', '--level loud', '--lines 0'],
    isFollowing: true,
  },
  'engine level': { ok: 'debug', json: { level: 'debug' }, wrong: ['', 'loud', 'info more'] },
  'engine stats': {
    ok: 'ingress',
    prints:
      /^Database +Retention Policy +Measurement +Points Received\n(.*\n)*metrics +autogen +cpu +\d+\n/,
    okForJson: 'general',
    json: { product: 'tidemark' },
    wrong: ['other', 'general more'],
  },
  'engine import': {
    ok: '--from {engine} --pattern nothing --dry-run',
    prints: /0 tasks/,
    json: ARRAY,
    refused: '--from http://127.0.0.1:1',
    wrong: ['', '--from', '--from nowhere:x:y'],
  },
};
