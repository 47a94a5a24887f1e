// The dashboard of machines, with the names of Telegraf's inputs cpu, mem, system, disk, diskio and
// net.
import { EMPTY_VARIABLE } from '../model.ts';
import { madeOf, mean, rate } from './make.ts';

const HOST = '$timeFilter AND "host" =~ /^$host$/';
const ALL_CPU = `${HOST} AND "cpu" = 'cpu-total'`;
const LIMITS = [
  { value: 70, level: 'warn' as const },
  { value: 90, level: 'bad' as const },
];

export const HOSTS = madeOf(
  {
    title: 'Hosts',
    database: 'telegraf',
    refresh: '10s',
    variables: [
      {
        ...EMPTY_VARIABLE,
        name: 'host',
        kind: 'query',
        query: 'SHOW TAG VALUES FROM "system" WITH KEY = "host"',
        isMulti: true,
      },
    ],
  },
  [
    {
      title: 'Processor',
      kind: 'gauge',
      w: 3,
      h: 4,
      unit: 'percent',
      thresholds: LIMITS,
      queries: [['busy', `SELECT 100 - mean("usage_idle") FROM "cpu" WHERE ${ALL_CPU}`]],
    },
    {
      title: 'Memory',
      kind: 'gauge',
      w: 3,
      h: 4,
      unit: 'percent',
      thresholds: LIMITS,
      queries: [['used', `SELECT mean("used_percent") FROM "mem" WHERE ${HOST}`]],
    },
    {
      title: 'Load',
      kind: 'single',
      w: 3,
      h: 4,
      queries: [['1 minute', mean('load1', 'system', HOST)]],
    },
    {
      title: 'Up for',
      kind: 'single',
      w: 3,
      h: 4,
      unit: 's',
      queries: [`SELECT last("uptime") FROM "system" WHERE ${HOST} GROUP BY "host"`],
    },
    {
      title: 'Processor by host',
      unit: 'percent',
      thresholds: LIMITS,
      queries: [
        [
          'busy',
          `SELECT 100 - mean("usage_idle") FROM "cpu" WHERE ${ALL_CPU} GROUP BY time($interval), "host" fill(none)`,
        ],
      ],
    },
    {
      title: 'Memory by host',
      unit: 'percent',
      thresholds: LIMITS,
      queries: [['used', mean('used_percent', 'mem', HOST, ', "host"')]],
    },
    {
      title: 'Disks',
      kind: 'bar',
      unit: 'percent',
      thresholds: LIMITS,
      queries: [
        ['used', `SELECT last("used_percent") FROM "disk" WHERE ${HOST} GROUP BY "host", "path"`],
      ],
    },
    {
      title: 'Disk traffic',
      kind: 'area',
      unit: 'bytes-per-second',
      queries: [
        ['read', rate('read_bytes', 'diskio', HOST, ', "host", "name"')],
        ['written', rate('write_bytes', 'diskio', HOST, ', "host", "name"')],
      ],
    },
    {
      title: 'Network',
      kind: 'area',
      unit: 'bytes-per-second',
      queries: [
        ['in', rate('bytes_recv', 'net', HOST, ', "host", "interface"')],
        ['out', rate('bytes_sent', 'net', HOST, ', "host", "interface"')],
      ],
    },
    {
      title: 'Processes',
      kind: 'line',
      queries: [['running', mean('running', 'processes', HOST, ', "host"')]],
    },
    { title: 'Alerts', kind: 'alerts', w: 12, h: 4 },
  ],
);
