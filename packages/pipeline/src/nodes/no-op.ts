// noOp: passes everything on; made by `stats` for a node without children.

export type NoOpOptions = Readonly<Record<string, never>>;
