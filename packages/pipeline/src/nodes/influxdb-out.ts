// influxDBOut: writes points to a database.

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
