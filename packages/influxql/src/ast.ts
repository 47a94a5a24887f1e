// Syntax tree of InfluxQL: immutable data, every node with the span of the text it was read from.
// Grammar: docs/reference/influxql.md. Nothing here is checked for meaning; that is
// analysis (packages/query).
import type { FieldType, Span } from '@tidemark/core';

// ---------------------------------------------------------------- expressions

/** `f::float` and the like; `field` and `tag` choose between a field and a tag of the same name. */
export type CastType = FieldType | 'field' | 'tag';

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '&'
  | '|'
  | '^'
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '=~'
  | '!~'
  | 'AND'
  | 'OR';

/** A node of the tree, with the span of the text it was read from. */
type Node<K extends string, T = unknown> = { readonly kind: K; readonly span: Span } & Readonly<T>;

export type Reference = Node<'reference', { name: string; cast?: CastType | undefined }>;
export type Call = Node<'call', { name: string; arguments: readonly Expression[] }>;
export type Binary = Node<
  'binary',
  { operator: BinaryOperator; left: Expression; right: Expression }
>;
/** Parentheses are kept: column names and printed texts depend on them. */
export type Paren = Node<'paren', { expression: Expression }>;
/** `DISTINCT name`, which means the same as `distinct(name)`. */
export type Distinct = Node<'distinct', { name: string }>;
export type Wildcard = Node<'wildcard', { only?: 'field' | 'tag' | undefined }>;
/** RE2 text without the slashes, `\/` unescaped. Checked to compile. */
export type RegexLiteral = Node<'regex', { pattern: string }>;
export type NumberLiteral = Node<'number', { value: number }>;
export type IntegerLiteral = Node<'integer', { value: bigint }>;
export type UnsignedLiteral = Node<'unsigned', { value: bigint }>;
export type StringLiteral = Node<'string', { value: string }>;
export type BooleanLiteral = Node<'boolean', { value: boolean }>;
/** Nanoseconds. */
export type DurationLiteral = Node<'duration', { nanos: bigint }>;

export type Literal =
  | NumberLiteral
  | IntegerLiteral
  | UnsignedLiteral
  | StringLiteral
  | BooleanLiteral
  | DurationLiteral
  | RegexLiteral;
export type Expression = Reference | Call | Binary | Paren | Distinct | Wildcard | Literal;

// -------------------------------------------------------------------- SELECT

export type SelectField = {
  readonly expression: Expression;
  readonly alias?: string | undefined;
  readonly span: Span;
};

/**
 * `db.rp.name`, any leading part may be missing. `pattern` is set instead of `name` for a regular
 * expression.
 */
export type MeasurementSource = Node<
  'measurement',
  {
    database?: string | undefined;
    retentionPolicy?: string | undefined;
    name?: string | undefined;
    pattern?: string | undefined;
  }
>;
export type SubquerySource = Node<'subquery', { statement: SelectStatement }>;
export type Source = MeasurementSource | SubquerySource;

/**
 * INTO. `isBackReference` marks `:MEASUREMENT`, where every row goes to a measurement named like
 * its source.
 */
export type IntoTarget = {
  readonly database?: string | undefined;
  readonly retentionPolicy?: string | undefined;
  readonly measurement?: string | undefined;
  readonly isBackReference: boolean;
  readonly span: Span;
};

export type Fill =
  | { readonly kind: 'null' | 'none' | 'previous' | 'linear' }
  | { readonly kind: 'number'; readonly value: number | bigint };

export type SortOrder = { readonly descending: boolean };

export type SelectStatement = {
  readonly kind: 'select';
  readonly fields: readonly SelectField[];
  readonly into?: IntoTarget | undefined;
  readonly sources: readonly Source[];
  readonly condition?: Expression | undefined;
  readonly dimensions: readonly Expression[];
  /** `undefined` when the text has none, which means null. */
  readonly fill?: Fill | undefined;
  readonly orderBy?: SortOrder | undefined;
  /** 0 and absent both mean unlimited. */
  readonly limit?: bigint | undefined;
  readonly offset?: bigint | undefined;
  readonly seriesLimit?: bigint | undefined;
  readonly seriesOffset?: bigint | undefined;
  /** A valid IANA name, as written; '' is UTC. */
  readonly timeZone?: string | undefined;
  /**
   * The same for statements that differ only in the literals of their conditions and in their
   * limits (`parse-cache.ts`): what does not depend on these may be cached for it.
   */
  readonly shape?: object | undefined;
  readonly span: Span;
};

export type ExplainStatement = Node<
  'explain',
  { isAnalyze: boolean; isVerbose: boolean; statement: SelectStatement }
>;

// ---------------------------------------------------------------------- SHOW

/**
 * The clauses that SHOW statements share; the parser decides which of them a statement may have.
 */
export type ShowClauses = {
  readonly database?: string | undefined;
  readonly sources: readonly MeasurementSource[];
  readonly condition?: Expression | undefined;
  readonly orderBy?: SortOrder | undefined;
  readonly limit?: bigint | undefined;
  readonly offset?: bigint | undefined;
  readonly seriesLimit?: bigint | undefined;
  readonly seriesOffset?: bigint | undefined;
};

/** WITH KEY. */
export type TagKeyFilter =
  | { readonly kind: 'in'; readonly keys: readonly string[] }
  | { readonly kind: 'equal' | 'not-equal'; readonly key: string }
  | { readonly kind: 'match' | 'not-match'; readonly pattern: string };

/** WITH MEASUREMENT. */
export type MeasurementFilter =
  | { readonly kind: 'equal'; readonly name: string }
  | { readonly kind: 'match'; readonly pattern: string };

export type ShowStatement =
  | Node<'show-databases'>
  | Node<'show-continuous-queries'>
  | Node<'show-diagnostics', { module?: string | undefined }>
  | Node<'show-stats', { module?: string | undefined }>
  | Node<'show-grants', { user: string }>
  | Node<'show-queries'>
  | Node<'show-retention-policies', { database?: string | undefined }>
  | Node<'show-shards'>
  | Node<'show-shard-groups'>
  | Node<'show-subscriptions'>
  | Node<'show-users'>
  | Node<
      'show-measurements',
      ShowClauses & {
        with?: MeasurementFilter | undefined;
        /** `ON db.rp`; `*` means every retention policy. */
        retentionPolicy?: string | undefined;
        /** `ON *`: every database. */
        isAll?: boolean | undefined;
      }
    >
  | Node<'show-field-keys', ShowClauses>
  | Node<'show-series', ShowClauses>
  | Node<'show-tag-keys', ShowClauses>
  | Node<'show-tag-values', ShowClauses & { keys: TagKeyFilter }>
  | Node<
      'show-cardinality',
      ShowClauses & {
        of: 'series' | 'measurement' | 'tag-key' | 'field-key' | 'tag-values';
        isExact: boolean;
        dimensions: readonly Expression[];
        /** WITH KEY; only for tag values. */
        keys?: TagKeyFilter | undefined;
      }
    >;

// ------------------------------------------------------ definitions and rights

/** Retention policy options; durations in nanoseconds, 0 = infinite. */
export type PolicyOptions = {
  readonly durationNanos?: bigint | undefined;
  readonly replication?: number | undefined;
  readonly shardDurationNanos?: bigint | undefined;
  readonly isDefault?: boolean | undefined;
  readonly futureLimitNanos?: bigint | undefined;
  readonly pastLimitNanos?: bigint | undefined;
};

export type Privilege = 'READ' | 'WRITE' | 'ALL';

export type DefinitionStatement =
  | Node<
      'create-database',
      { name: string; hasOptions: boolean; options: PolicyOptions; policyName?: string | undefined }
    >
  | Node<'drop-database', { name: string }>
  | Node<'create-retention-policy', { name: string; database: string; options: PolicyOptions }>
  | Node<'alter-retention-policy', { name: string; database: string; options: PolicyOptions }>
  | Node<'drop-retention-policy', { name: string; database: string }>
  | Node<
      'create-continuous-query',
      {
        name: string;
        database: string;
        resampleEveryNanos?: bigint | undefined;
        resampleForNanos?: bigint | undefined;
        statement: SelectStatement;
      }
    >
  | Node<'drop-continuous-query', { name: string; database: string }>
  | Node<
      'create-subscription',
      {
        name: string;
        database: string;
        retentionPolicy: string;
        mode: 'ALL' | 'ANY';
        destinations: readonly string[];
      }
    >
  | Node<'drop-subscription', { name: string; database: string; retentionPolicy: string }>
  | Node<'create-user', { name: string; password: string; isAdmin: boolean }>
  | Node<'drop-user', { name: string }>
  | Node<'set-password', { name: string; password: string }>
  | Node<'grant', { privilege: Privilege; database: string; user: string }>
  | Node<'grant-admin', { user: string }>
  | Node<'revoke', { privilege: Privilege; database: string; user: string }>
  | Node<'revoke-admin', { user: string }>
  | Node<'drop-measurement', { name: string }>
  | Node<
      'drop-series',
      { sources: readonly MeasurementSource[]; condition?: Expression | undefined }
    >
  | Node<'delete', { sources: readonly MeasurementSource[]; condition?: Expression | undefined }>
  | Node<'drop-shard', { id: bigint }>
  | Node<'kill-query', { id: bigint; host?: string | undefined }>;

export type Statement = SelectStatement | ExplainStatement | ShowStatement | DefinitionStatement;

/** A statement before its place in the text is known. */
export type Unplaced<S extends Statement> = S extends unknown ? Omit<S, 'span'> : never;

/** A whole query text. Empty statements are left out. */
export type Query = { readonly statements: readonly Statement[] };
