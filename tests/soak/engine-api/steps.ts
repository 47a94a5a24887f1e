// Steps of clients, as data: few ids, so that steps interact, and no knowledge of what exists.
import type { Random } from '../query-fuzz/random.ts';

/** A script of a family that the model understands. */
export type ScriptSpec = {
  readonly form: 'stream' | 'batch' | 'broken' | 'unknown-node' | 'sourceless' | 'empty';
  readonly measurement: string;
  /** Default of the variable `threshold`; `undefined` when tasks have to give it. */
  readonly threshold: number | undefined;
  /** Topic of the events; '' for a script without an alert. */
  readonly topic: string;
  /** Cluster of a batch script; `nope` is not configured, which its queries find. */
  readonly cluster: 'fake' | 'nope';
};

export type VarsSpec = Readonly<Record<string, { readonly type: string; readonly value: unknown }>>;
export type DbrpSpec = { readonly db: string; readonly rp: string };

export type TaskChange = {
  readonly id?: string | undefined;
  readonly template?: string | undefined;
  readonly script?: ScriptSpec | undefined;
  readonly vars?: VarsSpec | undefined;
  readonly dbrps?: readonly DbrpSpec[] | undefined;
  readonly status?: 'enabled' | 'disabled' | undefined;
  /** The type that the client states, correct or not. */
  readonly type?: 'stream' | 'batch' | undefined;
};

export type ReplaySpec = {
  readonly id: string;
  readonly task: string;
  readonly isRecordingTime: boolean;
  readonly clock: 'fast' | 'real';
};

export type ConfigValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export type Step =
  | { readonly kind: 'define-task'; readonly task: TaskChange & { readonly id: string } }
  | { readonly kind: 'patch-task'; readonly id: string; readonly change: TaskChange }
  | { readonly kind: 'delete-task'; readonly id: string }
  | { readonly kind: 'define-template'; readonly id: string; readonly script: ScriptSpec }
  | {
      readonly kind: 'patch-template';
      readonly id: string;
      readonly newId: string | undefined;
      readonly script: ScriptSpec | undefined;
    }
  | { readonly kind: 'delete-template'; readonly id: string }
  | {
      readonly kind: 'write';
      readonly db: string;
      readonly measurement: string;
      readonly values: readonly number[];
      /** Seconds of the data's time since the write before. */
      readonly gap: number;
      readonly form: 'plain' | 'gzip' | 'seconds' | 'alias' | 'bad-line' | 'no-db' | 'no-rp';
    }
  | {
      readonly kind: 'record-stream';
      readonly id: string;
      readonly task: string;
      readonly seconds: number;
    }
  | {
      readonly kind: 'record-batch';
      readonly id: string;
      readonly task: string;
      readonly ticks: number;
    }
  | {
      readonly kind: 'record-query';
      readonly id: string;
      readonly type: '' | 'stream' | 'batch';
      readonly query: 'good' | 'unqualified' | '';
      readonly cluster: '' | 'fake' | 'nope';
    }
  | { readonly kind: 'delete-recording'; readonly id: string }
  | { readonly kind: 'replay'; readonly replay: ReplaySpec; readonly recording: string }
  | { readonly kind: 'replay-batch'; readonly replay: ReplaySpec; readonly ticks: number }
  | {
      readonly kind: 'replay-query';
      readonly replay: ReplaySpec;
      readonly query: 'good' | 'unqualified' | '';
      readonly cluster: '' | 'fake' | 'nope';
    }
  | { readonly kind: 'delete-replay'; readonly id: string }
  | {
      readonly kind: 'create-handler' | 'replace-handler';
      readonly topic: string;
      readonly id: string;
      readonly action: 'post' | 'unknown' | 'unknown-option' | 'none';
      readonly mark: number;
    }
  | {
      readonly kind: 'patch-handler';
      readonly topic: string;
      readonly id: string;
      readonly patch: 'replace' | 'add' | 'missing' | 'malformed';
      readonly mark: number;
    }
  | { readonly kind: 'delete-handler'; readonly topic: string; readonly id: string }
  | { readonly kind: 'delete-topic'; readonly topic: string }
  | { readonly kind: 'set-smtp'; readonly set: ConfigValues; readonly delete: readonly string[] }
  | {
      readonly kind: 'set-cluster';
      readonly element: string;
      readonly set: ConfigValues;
      readonly delete: readonly string[];
    }
  | {
      readonly kind: 'change-clusters';
      readonly add: ConfigValues | undefined;
      readonly remove: readonly string[];
    }
  | {
      readonly kind: 'list';
      readonly what: 'tasks' | 'templates' | 'recordings' | 'replays';
      readonly pattern: string;
      readonly offset: number;
      readonly limit: number | undefined;
      readonly fields: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly which: number }
  | { readonly kind: 'check' }
  | { readonly kind: 'restart'; readonly how: 'stop' | 'kill' };

const TASKS = ['a', 'b.1', 'c-2', 'Ünï_Δ', 'e5'] as const;
const TEMPLATES = ['p0', 'p1'] as const;
const RECORDINGS = ['r0', 'r1', 'r2'] as const;
const REPLAYS = ['y0', 'y1', 'y2'] as const;
const TOPICS = ['t0', 't1', 't:2'] as const;
const HANDLERS = ['h0', 'h1', 'h2'] as const;
const BAD_IDS = ['with space', 'sla/sh', 'semi;colon', 'x'.repeat(1025)] as const;

/** One step. The weights keep a handful of everything alive. */
export function makeStep(random: Random): Step {
  const makers: readonly (readonly [number, () => Step])[] = [
    [14, () => ({ kind: 'define-task', task: { ...taskChange(random, 0.9), id: taskId(random) } })],
    [12, () => patchTask(random)],
    [2, () => ({ kind: 'delete-task', id: random.pick(TASKS) })],
    [5, () => ({ kind: 'define-template', id: template(random), script: script(random) })],
    [4, () => patchTemplate(random)],
    [1, () => ({ kind: 'delete-template', id: random.pick(TEMPLATES) })],
    [18, () => write(random)],
    [4, () => recordStream(random)],
    [2, () => recordBatch(random)],
    [2, () => recordQuery(random)],
    [3, () => ({ kind: 'delete-recording', id: random.pick(RECORDINGS) })],
    [6, () => ({ kind: 'replay', replay: replay(random), recording: random.pick(RECORDINGS) })],
    [2, () => ({ kind: 'replay-batch', replay: replay(random), ticks: random.below(4) })],
    [2, () => replayQuery(random)],
    [2, () => ({ kind: 'delete-replay', id: random.pick(REPLAYS) })],
    [8, () => handlerStep(random)],
    [1, () => ({ kind: 'delete-topic', topic: random.pick(TOPICS) })],
    [3, () => ({ kind: 'set-smtp', set: smtpValues(random), delete: smtpNames(random) })],
    [3, () => clusterStep(random)],
    [6, () => list(random)],
    [6, () => ({ kind: 'invalid', which: random.below(1_000_000) })],
    [2, () => ({ kind: 'check' })],
    [0.5, () => ({ kind: 'restart', how: random.chance(0.5) ? 'stop' : 'kill' })],
  ];
  const total = makers.reduce((sum, [weight]) => sum + weight, 0);
  let rest = random.next() * total;
  for (const [weight, make] of makers) {
    rest -= weight;
    if (rest < 0) return make();
  }
  return { kind: 'check' };
}

function taskId(random: Random): string {
  return random.chance(0.05) ? random.pick(BAD_IDS) : random.pick(TASKS);
}

function template(random: Random): string {
  return random.chance(0.05) ? random.pick(BAD_IDS) : random.pick(TEMPLATES);
}

function script(random: Random): ScriptSpec {
  const isGood = random.chance(0.9);
  const form = isGood
    ? random.pick<ScriptSpec['form']>(['stream', 'stream', 'stream', 'batch'])
    : random.pick<ScriptSpec['form']>(['broken', 'unknown-node', 'sourceless', 'empty']);
  return {
    form,
    measurement: random.pick(['m0', 'm1']),
    threshold: random.chance(0.8) ? random.below(10) : undefined,
    topic: random.chance(0.8) ? random.pick(TOPICS) : '',
    cluster: random.chance(0.8) ? 'fake' : 'nope',
  };
}

function vars(random: Random): VarsSpec {
  const threshold = random.pick<{ type: string; value: unknown }>([
    { type: 'int', value: random.below(10) },
    { type: 'int', value: random.below(10) },
    { type: 'int', value: random.below(10) },
    { type: 'string', value: 'high' },
    { type: 'nonsense', value: 1 },
    { type: 'int', value: 'one' },
  ]);
  const other = { type: 'string', value: `z${random.below(3)}` };
  return {
    ...(random.chance(0.7) ? { threshold } : {}),
    ...(random.chance(0.3) ? { other } : {}),
  };
}

function dbrps(random: Random): readonly DbrpSpec[] {
  return [
    ...(random.chance(0.8) ? [{ db: 'd0', rp: 'r' }] : []),
    ...(random.chance(0.5) ? [{ db: 'd1', rp: 'r' }] : []),
  ];
}

/** `share` is how often each part is there. */
function taskChange(random: Random, share: number): TaskChange {
  const isFromTemplate = random.chance(0.3);
  return {
    ...(isFromTemplate && random.chance(share) ? { template: random.pick(TEMPLATES) } : {}),
    ...(!isFromTemplate && random.chance(share) ? { script: script(random) } : {}),
    ...(random.chance(share * 0.5) ? { vars: vars(random) } : {}),
    ...(random.chance(share) ? { dbrps: dbrps(random) } : {}),
    ...(random.chance(0.6) ? { status: random.pick(['enabled', 'enabled', 'disabled']) } : {}),
    ...(random.chance(0.2) ? { type: random.pick(['stream', 'stream', 'batch']) } : {}),
  };
}

function patchTask(random: Random): Step {
  const renamed = random.chance(0.15) ? { id: taskId(random) } : {};
  // Most patches only turn a task on or off.
  const change = random.chance(0.5)
    ? { status: random.pick(['enabled', 'disabled'] as const) }
    : taskChange(random, 0.3);
  return { kind: 'patch-task', id: random.pick(TASKS), change: { ...change, ...renamed } };
}

function patchTemplate(random: Random): Step {
  return {
    kind: 'patch-template',
    id: random.pick(TEMPLATES),
    newId: random.chance(0.2) ? template(random) : undefined,
    script: random.chance(0.8) ? script(random) : undefined,
  };
}

function write(random: Random): Step {
  const isGood = random.chance(0.9);
  return {
    kind: 'write',
    db: random.pick(['d0', 'd0', 'd1']),
    measurement: random.pick(['m0', 'm0', 'm1']),
    values: random.list(1, 4, () => random.below(12)),
    gap: random.chance(0.3) ? 0 : 1000 + random.below(200),
    form: isGood
      ? random.pick(['plain', 'plain', 'gzip', 'seconds', 'alias'])
      : random.pick(['bad-line', 'no-db', 'no-rp']),
  };
}

function recording(random: Random): string {
  return random.chance(0.05) ? random.pick(BAD_IDS) : random.pick(RECORDINGS);
}

function recordStream(random: Random): Step {
  return {
    kind: 'record-stream',
    id: recording(random),
    task: random.pick(TASKS),
    seconds: random.below(4000),
  };
}

function recordBatch(random: Random): Step {
  return {
    kind: 'record-batch',
    id: recording(random),
    task: random.pick(TASKS),
    ticks: random.below(4),
  };
}

function recordQuery(random: Random): Step {
  return {
    kind: 'record-query',
    id: recording(random),
    type: random.pick(['stream', 'batch', '']),
    query: random.pick(['good', 'good', 'good', 'unqualified', '']),
    cluster: random.pick(['', 'fake', 'fake', 'nope']),
  };
}

function replay(random: Random): ReplaySpec {
  return {
    id: random.chance(0.05) ? random.pick(BAD_IDS) : random.pick(REPLAYS),
    task: random.pick(TASKS),
    isRecordingTime: random.chance(0.7),
    clock: random.chance(0.7) ? 'fast' : 'real',
  };
}

function replayQuery(random: Random): Step {
  return {
    kind: 'replay-query',
    replay: replay(random),
    query: random.pick(['good', 'good', 'unqualified', '']),
    cluster: random.pick(['', 'fake', 'nope']),
  };
}

function handlerStep(random: Random): Step {
  const topic = random.pick(TOPICS);
  const id = random.pick(HANDLERS);
  const mark = random.below(100);
  const action = random.chance(0.8)
    ? 'post'
    : random.pick(['unknown', 'unknown-option', 'none'] as const);
  return random.pick<Step>([
    { kind: 'create-handler', topic, id, action, mark },
    { kind: 'create-handler', topic, id, action, mark },
    { kind: 'replace-handler', topic, id, action, mark },
    {
      kind: 'patch-handler',
      topic,
      id,
      mark,
      patch: random.pick(['replace', 'replace', 'add', 'missing', 'malformed']),
    },
    { kind: 'delete-handler', topic, id },
  ]);
}

function smtpValues(random: Random): ConfigValues {
  const values: [string, ConfigValues[string]][] = [
    ['host', random.pick(['mail', 'mail.example', ''])],
    ['port', random.pick([25, 587, -1, 70_000])],
    ['from', random.pick(['a@b.example', 'Name <a@b.example>', 'nobody'])],
    ['to', random.pick<readonly string[]>([['x@y.example'], []])],
    ['username', random.pick(['me', ''])],
    ['password', random.pick(['secret', ''])],
    ['enabled', random.chance(0.5)],
    ['no-verify', random.chance(0.5)],
    ['idle-timeout', random.pick(['10s', '1m0s', '-1s'])],
    ['nonsense', 1],
  ];
  return Object.fromEntries(
    values.filter(([name]) => random.chance(name === 'nonsense' ? 0.05 : 0.2)),
  );
}

function smtpNames(random: Random): readonly string[] {
  const names = ['host', 'port', 'from', 'to', 'password', 'enabled', 'idle-timeout'];
  return names.filter(() => random.chance(0.15));
}

function clusterStep(random: Random): Step {
  const element = random.pick(['fake', 'c0', 'c1', 'absent']);
  const values: ConfigValues = {
    ...(random.chance(0.5) ? { username: random.pick(['u', '']) } : {}),
    ...(random.chance(0.5) ? { password: random.pick(['p', '']) } : {}),
    ...(random.chance(0.5) ? { timeout: random.pick(['30s', '1m0s']) } : {}),
    ...(random.chance(0.1) ? { name: 'other' } : {}),
    ...(random.chance(0.1) ? { nonsense: true } : {}),
    ...(random.chance(0.1) ? { 'subscription-protocol': 'pigeon' } : {}),
  };
  if (random.chance(0.5)) {
    const deleted = ['username', 'password', 'timeout'].filter(() => random.chance(0.2));
    return { kind: 'set-cluster', element, set: values, delete: deleted };
  }
  const added = { name: random.pick(['c0', 'c1', 'fake']), ...values };
  const { name: _, ...nameless } = added;
  return {
    kind: 'change-clusters',
    add: random.chance(0.7) ? (random.chance(0.9) ? added : nameless) : undefined,
    remove: ['fake', 'c0', 'c1'].filter(() => random.chance(0.3)),
  };
}

const FIELDS = [
  'template-id',
  'type',
  'status',
  'script',
  'error',
  'progress',
  'created',
  'task',
  'nonsense',
];

function list(random: Random): Step {
  const what = random.pick(['tasks', 'templates', 'recordings', 'replays'] as const);
  return {
    kind: 'list',
    what,
    pattern: random.pick(['', '*', 'a', '[a-c]*', '?0', '*1', 'none*', '[']),
    offset: random.chance(0.3) ? random.below(4) : 0,
    limit: random.chance(0.3) ? random.below(4) : undefined,
    fields: random.chance(0.3) ? FIELDS.filter(() => random.chance(0.2)) : [],
  };
}
