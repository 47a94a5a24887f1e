// batch: source of a batch task; its children are queries.

export type BatchOptions = Readonly<Record<string, never>>;
