// influxDBOut: writes points to a database.
import { defineNode } from '../definition/node-definition.ts';
import {
  durationOption,
  flagOption,
  integerOption,
  stringMapOption,
  stringOption,
} from '../definition/option.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const influxdbOutNode = defineNode({
  type: 'influxDBOut',
  label: 'influxdb_out',
  className: 'InfluxDBOutNode',
  category: 'output',
  summary: 'writes points to a database',
  wants: 'any',
  provides: 'none',
  split: PER_MESSAGE,
  options: {
    cluster: stringOption('cluster', 'configured database service; the default one if not given'),
    database: stringOption('database', "database; the point's if not given"),
    retentionPolicy: stringOption('retentionPolicy', "retention policy; the point's if not given"),
    measurement: stringOption('measurement', "measurement; the point's if not given"),
    writeConsistency: stringOption('writeConsistency', 'consistency of the write'),
    precision: stringOption('precision', 'precision of the times written'),
    bufferCount: integerOption('buffer', 'points per write', 1000n),
    flushIntervalNanos: durationOption(
      'flushInterval',
      'points wait no longer than this',
      10_000_000_000n,
    ),
    tags: stringMapOption('tag', 'adds a tag'),
    isCreatingDatabase: flagOption('create', 'creates the database when the task starts'),
  },
  effects: ({ cluster, database, isCreatingDatabase }) => ({
    needsCluster: {
      cluster,
      property: 'database',
      databases: isCreatingDatabase ? [] : database === '' ? undefined : [database],
      urgency: 'start',
    },
  }),
});
