// kapacitorLoopback: sends points into the engine's own write path.

export type KapacitorLoopbackOptions = {
  readonly database: string;
  readonly retentionPolicy: string;
  /** Empty keeps the point's. */
  readonly measurement: string;
  readonly tags: ReadonlyMap<string, string>;
};
