// stream: source of a stream task; passes every point of the task's databases and retention policies.

export type StreamOptions = Readonly<Record<string, never>>;
