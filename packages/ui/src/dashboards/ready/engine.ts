// The dashboard of the task engine, from the statistics that it writes to the database
// (`stats.enabled`).
import { EMPTY_VARIABLE } from '../model.ts';
import { madeOf, mean, rate } from './make.ts';

const TASK = '$timeFilter AND "task" =~ /^$task$/';

export const ENGINE = madeOf(
  {
    title: 'Task engine',
    database: '_internal',
    refresh: '10s',
    variables: [
      {
        ...EMPTY_VARIABLE,
        name: 'task',
        kind: 'query',
        query: 'SHOW TAG VALUES FROM "nodes" WITH KEY = "task"',
        isMulti: true,
      },
    ],
  },
  [
    {
      title: 'Tasks that run',
      kind: 'single',
      w: 3,
      h: 4,
      queries: [mean('num_enabled_tasks', 'tidemark')],
    },
    {
      title: 'Points received',
      kind: 'single',
      w: 3,
      h: 4,
      unit: 'per-second',
      queries: [rate('points_written_ok', 'engine_http')],
    },
    {
      title: 'Could not be delivered',
      kind: 'single',
      w: 3,
      h: 4,
      thresholds: [
        { value: 0, level: 'good' },
        { value: 1, level: 'bad' },
      ],
      queries: ['SELECT last("dead_letters") FROM "alert" WHERE $timeFilter'],
    },
    {
      title: 'Memory',
      kind: 'single',
      w: 3,
      h: 4,
      unit: 'bytes',
      queries: [mean('Sys', 'engine_runtime')],
    },
    {
      title: 'Points through tasks',
      unit: 'per-second',
      queries: [
        [
          '',
          `SELECT non_negative_derivative(max("emitted"), 1s) FROM "edges" WHERE ${TASK} GROUP BY time($interval), "task" fill(none)`,
        ],
      ],
    },
    {
      title: 'Errors of nodes',
      kind: 'bar',
      thresholds: [{ value: 1, level: 'bad' }],
      queries: [
        ['errors', `SELECT last("errors") FROM "nodes" WHERE ${TASK} GROUP BY "task", "node"`],
      ],
    },
    {
      title: 'Time of a point',
      unit: 'ns',
      queries: [mean('avg_exec_time_ns', 'nodes', TASK, ', "task", "node"')],
    },
    {
      title: 'Groups',
      queries: [
        [
          'groups',
          `SELECT max("working_cardinality") FROM "nodes" WHERE ${TASK} GROUP BY time($interval), "task" fill(none)`,
        ],
      ],
    },
    { title: 'Open events', kind: 'alerts', w: 12, h: 5 },
  ],
);
