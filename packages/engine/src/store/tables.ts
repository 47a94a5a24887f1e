// The tables of the metadata file, each declared once: its keys, which copies get its entries, and
// how entries are merged when a single engine joins a cluster. Format: docs/formats/engine.md.

export type TableDeclaration = {
  readonly name: string;
  readonly key: 'text' | 'number' | 'pair';
  /** Values are no JSON. */
  readonly isBinary?: true;
  /** Its entries are only in this directory, and in no record of the shared log. */
  readonly isLocal: boolean;
  /** Its values may hold secrets, and are encrypted on the disk and in the log. */
  readonly isSealed: boolean;
  /**
   * The name of an entry that a single engine brings into a cluster; '' for entries that come with
   * others, `undefined` for those that stay behind.
   */
  readonly joinedAs: string | undefined;
};

const SHARED = { isLocal: false, isSealed: false } as const;
const SEALED = { isLocal: false, isSealed: true } as const;
const LOCAL = { isLocal: true, isSealed: false } as const;

/** In the order in which joining a cluster writes them. */
export const TABLES = [
  { name: 'identity', key: 'text', ...LOCAL, joinedAs: undefined },
  { name: 'replica', key: 'text', ...LOCAL, joinedAs: undefined },
  { name: 'templates', key: 'text', ...SEALED, joinedAs: 'template' },
  { name: 'tasks', key: 'text', ...SEALED, joinedAs: 'task' },
  { name: 'task-versions', key: 'text', ...SEALED, joinedAs: '' },
  { name: 'snapshots', key: 'text', isBinary: true, ...SHARED, joinedAs: '' },
  { name: 'handler-specs', key: 'pair', ...SEALED, joinedAs: 'handler' },
  { name: 'topic-events', key: 'pair', ...SHARED, joinedAs: 'event' },
  { name: 'topic-origins', key: 'text', ...SHARED, joinedAs: '' },
  { name: 'outbox', key: 'pair', isBinary: true, ...SHARED, joinedAs: '' },
  { name: 'dead-letters', key: 'number', ...SHARED, joinedAs: '' },
  { name: 'told-events', key: 'text', ...SHARED, joinedAs: undefined },
  { name: 'alert-history', key: 'text', ...SHARED, joinedAs: '' },
  { name: 'overrides', key: 'text', ...SEALED, joinedAs: 'override of the configuration' },
  { name: 'documents', key: 'text', ...SHARED, joinedAs: 'document' },
  { name: 'recordings', key: 'text', ...SHARED, joinedAs: 'recording' },
  { name: 'replays', key: 'text', ...SHARED, joinedAs: 'replay' },
  { name: 'load', key: 'text', ...SHARED, joinedAs: undefined },
  { name: 'subscriber-token', key: 'text', ...SEALED, joinedAs: undefined },
] as const satisfies readonly TableDeclaration[];

type Declared = (typeof TABLES)[number];
export type TableName = Declared['name'];

type KeyTypes = { text: string; number: number; pair: [string, string | number] };

/** The keys of a table. */
export type KeyOf<N extends TableName> = KeyTypes[Extract<Declared, { name: N }>['key']];

export type StoreKey = KeyTypes[keyof KeyTypes];

/**
 * The change of one entry; without a value it is removed. A newer version may have tables that are
 * not declared here.
 */
export type StoreChange = {
  readonly table: string;
  readonly key: StoreKey;
  readonly value: Uint8Array | undefined;
};

const BY_NAME: ReadonlyMap<string, TableDeclaration> = new Map(
  TABLES.map((declared) => [declared.name, declared]),
);

export function declarationOf(table: string): TableDeclaration | undefined {
  return BY_NAME.get(table);
}
