// influxDBOut: writes points to a database.
import { parameter } from '../evaluate/parameter.ts';
import {
  callProperty,
  defineNode,
  durationProperty,
  flagProperty,
  integerProperty,
  stringProperty,
} from '../node-definition.ts';

export type InfluxdbOutOptions = {
  readonly cluster: string;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
  readonly writeConsistency: string;
  readonly precision: string;
  readonly bufferCount: bigint;
  readonly flushIntervalNanos: bigint;
  readonly tags: ReadonlyMap<string, string>;
  readonly isCreatingDatabase: boolean;
};

export const influxdbOutNode = defineNode<InfluxdbOutOptions>({
  type: 'influxDBOut',
  label: 'influxdb_out',
  className: 'InfluxDBOutNode',
  category: 'output',
  summary: 'writes points to a database',
  wants: 'any',
  provides: 'none',
  parameters: [],
  create: () => ({
    cluster: '',
    database: '',
    retentionPolicy: '',
    measurement: '',
    writeConsistency: '',
    precision: '',
    bufferCount: 1000n,
    flushIntervalNanos: 10_000_000_000n,
    tags: new Map(),
    isCreatingDatabase: false,
  }),
  properties: [
    stringProperty(
      'cluster',
      'cluster',
      'configured database service; the default one if not given',
    ),
    stringProperty('database', 'database', "database; the point's if not given"),
    stringProperty(
      'retentionPolicy',
      'retentionPolicy',
      "retention policy; the point's if not given",
    ),
    stringProperty('measurement', 'measurement', "measurement; the point's if not given"),
    stringProperty('writeConsistency', 'writeConsistency', 'consistency of the write'),
    stringProperty('precision', 'precision', 'precision of the times written'),
    integerProperty('buffer', 'bufferCount', 'points per write'),
    durationProperty('flushInterval', 'flushIntervalNanos', 'points wait no longer than this'),
    callProperty(
      'tag',
      [parameter('name', 'string'), parameter('value', 'string')],
      'adds a tag',
      (options, values) => ({
        ...options,
        tags: new Map(options.tags).set(values.string(0), values.string(1)),
      }),
    ),
    flagProperty('create', 'isCreatingDatabase', 'creates the database when the task starts'),
  ],
});
