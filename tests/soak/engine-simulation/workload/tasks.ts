// The tasks of a run, which exist from its beginning to its end: windows that are looped back and
// summed up by another task, level changes, and a task that posts to a server.
import type { TaskRecord } from '../../../../packages/engine/src/store/records.ts';
import type { TaskInput } from '../../../../packages/engine/src/tasks/task-change.ts';
import { RECEIVER_URL, SLOW_URL } from '../world/receiver.ts';

export const DATABASE = { database: 'db', retentionPolicy: 'autogen' } as const;
const LOOPED = { database: 'looped', retentionPolicy: 'autogen' } as const;
export const TARGETS = [DATABASE, LOOPED];

export const GROUPS = ['a', 'b', 'c', 'd'] as const;

/** Points above it raise their group's level. */
export const LIMIT = 5;

export type TaskName = 'windows' | 'totals' | 'levels' | 'posting';

const SOURCE = `stream|from().measurement('m').groupBy('g')`;

export const SCRIPTS: Readonly<Record<TaskName, string>> = {
  windows: `${SOURCE}
    |window().period(1s).every(1s)
    |sum('n').as('sum')
    |kapacitorLoopback().database('looped').retentionPolicy('autogen').measurement('w')`,
  totals: `stream|from().measurement('w').groupBy('g')
    |cumulativeSum('sum').as('total')
    |httpOut('totals')`,
  levels: `${SOURCE}
    |alert().id('{{ index .Tags "g" }}').message('{{ index .Fields "n" }}').details('')
      .crit(lambda: "v" > ${LIMIT}).stateChangesOnly()
      .post('${RECEIVER_URL}')`,
  posting: `stream|from().measurement('m')
    |httpPost('${SLOW_URL}')
    |alert().crit(lambda: "v" > ${LIMIT})`,
};

/** The database from which a task takes points. */
export const SOURCES: Readonly<Record<TaskName, typeof DATABASE | typeof LOOPED>> = {
  windows: DATABASE,
  totals: LOOPED,
  levels: DATABASE,
  posting: DATABASE,
};

/** A client's definition of a task; those with groups may run in parts. */
export function taskInput(name: TaskName, parts: number): TaskInput {
  const { database: db, retentionPolicy: rp } = SOURCES[name];
  return {
    script: SCRIPTS[name],
    dbrps: [{ db, rp }],
    status: 'enabled',
    split: name === 'windows' || name === 'levels' ? parts : 1,
  };
}

/** Definitions whose values begin so run. */
export const RUNS = 'r';

/** A definition of a task that takes no points: its value is what it says. */
export function definitionInput(value: string): TaskInput {
  return {
    script: definitionScript(value),
    dbrps: [{ db: DATABASE.database, rp: DATABASE.retentionPolicy }],
    status: value.startsWith(RUNS) ? 'enabled' : 'disabled',
  };
}

export function definitionScript(value: string): string {
  return `stream\n    |from()\n        .measurement('${value}')\n`;
}

/** A task of a load directory. */
export const LOADED = 'loaded';
export const LOADED_VALUE = `${RUNS}${LOADED}`;

export function loadedFile(): string {
  const { script, dbrps } = definitionInput(LOADED_VALUE);
  return JSON.stringify({ script, dbrps });
}

/** As a single engine has stored it. */
export function ownRecord(id: string, value: string): TaskRecord {
  const { dbrps = [] } = definitionInput(value);
  const times = { created: '', modified: '', lastEnabled: '' };
  return {
    ...times,
    id,
    templateId: '',
    type: 'stream',
    dbrps,
    script: definitionScript(value),
    varsJson: '{}',
    status: 'disabled',
    error: '',
  };
}
