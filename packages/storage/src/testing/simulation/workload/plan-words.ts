// Plans in words: what a history prints is what a plan is written in.
import type { Operation, Plan, Setup, SyncedThing } from './operations.ts';

/** An operation in words. */
export function describeOperation(operation: Operation): string {
  switch (operation.kind) {
    case 'write': {
      const lines = operation.lines.map(([m, tag, time]) => `${m},${tag} ${time}`);
      return `write ${operation.database}.${operation.retentionPolicy}: ${lines.join('; ')}`;
    }
    case 'delete': {
      const { database: db, retentionPolicy, measurement, tag, times } = operation;
      const range = times === undefined ? '' : ` times ${times[0]} to ${times[1]}`;
      const from = [db, retentionPolicy ?? '*', measurement ?? '*'].join('.');
      return `delete ${from}${tag === undefined ? '' : ` where ${tag}`}${range}`;
    }
    case 'drop-measurement':
      return `drop measurement ${operation.database}.${operation.measurement}`;
    case 'drop-policy':
      return `drop policy ${operation.database}.${operation.retentionPolicy}`;
    case 'drop-database':
      return `drop database ${operation.database}`;
    case 'expire':
      return `expire the oldest shard of ${operation.database}.${operation.retentionPolicy}`;
    case 'query': {
      const { database: db, retentionPolicy, measurement, how } = operation;
      return `${how} ${db}.${retentionPolicy}.${measurement}`;
    }
    case 'fail-sync':
      return `fail ${operation.count} syncs of ${operation.of}`;
    default:
      return operation.kind;
  }
}

export function describeSetup({ fsync, hasBackgroundWork, hasParts, concurrency }: Setup): string {
  const background = hasBackgroundWork ? ', background work' : '';
  return `fsync ${fsync}${background}${hasParts ? ', parts' : ''}, ${concurrency} at once`;
}

/** The plan that `describeSetup` and lines of `describeOperation` say; `3 x` repeats a line. */
export function planInWords(seed: number, setup: string, operations: string): Plan {
  const lines = operations.split('\n').map((line) => line.trim());
  return {
    seed,
    setup: setupOf(setup),
    operations: lines.filter((line) => line !== '').flatMap(repeated),
  };
}

function setupOf(words: string): Setup {
  const said = /^fsync (always|interval)(, background work)?(, parts)?, (\d) at once$/.exec(words);
  if (said === null) throw new Error(`no setup of a simulation: ${words}`);
  return {
    fsync: said[1] as Setup['fsync'],
    hasBackgroundWork: said[2] !== undefined,
    hasParts: said[3] !== undefined,
    concurrency: Number(said[4]),
  };
}

function repeated(line: string): readonly Operation[] {
  const [, count = '1', words = line] = /^(\d+) x (.*)$/.exec(line) ?? [];
  return Array.from({ length: Number(count) }, () => operationOf(words));
}

const FORMS: readonly (readonly [form: RegExp, make: (said: readonly string[]) => Operation])[] = [
  [
    /^write (\w+)\.(\w+): (.*)$/,
    ([, database = '', retentionPolicy = '', lines = '']) => ({
      kind: 'write',
      database,
      retentionPolicy,
      lines: lines.split('; ').map((line) => {
        const [, measurement = '', tag = '', time] = /^(\w+),(t=\w+) (\d+)$/.exec(line) ?? [];
        return [measurement, tag, Number(time)] as const;
      }),
    }),
  ],
  [
    /^delete (\w+)\.(\w+|\*)\.(\w+|\*)(?: where (t=\w+))?(?: times (\d+) to (\d+))?$/,
    ([, database = '', policy, measurement, tag, from, to]) => ({
      kind: 'delete',
      database,
      retentionPolicy: policy === '*' ? undefined : policy,
      measurement: measurement === '*' ? undefined : measurement,
      tag,
      times: from === undefined ? undefined : [Number(from), Number(to)],
    }),
  ],
  [
    /^drop measurement (\w+)\.(\w+)$/,
    ([, database = '', measurement = '']) => ({ kind: 'drop-measurement', database, measurement }),
  ],
  [
    /^drop policy (\w+)\.(\w+)$/,
    ([, database = '', retentionPolicy = '']) => ({
      kind: 'drop-policy',
      database,
      retentionPolicy,
    }),
  ],
  [/^drop database (\w+)$/, ([, database = '']) => ({ kind: 'drop-database', database })],
  [
    /^expire the oldest shard of (\w+)\.(\w+)$/,
    ([, database = '', retentionPolicy = '']) => ({ kind: 'expire', database, retentionPolicy }),
  ],
  [
    /^(scan|aggregate|answer) (\w+)\.(\w+)\.(\w+)$/,
    ([, how, database = '', retentionPolicy = '', measurement = '']) => ({
      kind: 'query',
      database,
      retentionPolicy,
      measurement,
      how: how as (Operation & { kind: 'query' })['how'],
    }),
  ],
  [
    /^fail (\d+) syncs of (files|folders)$/,
    ([, count, of]) => ({ kind: 'fail-sync', of: of as SyncedThing, count: Number(count) }),
  ],
  [
    /^(flush|compact|backup|restore|close|power-cut|kill|wait)$/,
    ([, kind]) => ({ kind }) as Operation,
  ],
];

function operationOf(words: string): Operation {
  for (const [form, make] of FORMS) {
    const said = form.exec(words);
    if (said !== null) return make(said);
  }
  throw new Error(`no operation of a simulation: ${words}`);
}
