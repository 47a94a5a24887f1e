// Statements as text that parses to the same tree, in the form that SHOW CONTINUOUS QUERIES and
// SHOW QUERIES show.
import { formatDuration, unreachable } from '@tidemark/core';

import type {
  DefinitionStatement,
  Expression,
  IntoTarget,
  MeasurementSource,
  PolicyOptions,
  SelectField,
  SelectStatement,
  ShowClauses,
  ShowStatement,
  SortOrder,
  Source,
  Statement,
  TagKeyFilter,
} from './ast.ts';
import { printExpression, printNumber } from './print-expression.ts';
import { formatIdentifier, formatPath, quoteRegex, quoteString } from './quote.ts';

export type PrintOptions = {
  /** Prints passwords as `[REDACTED]`; the text is then for people, it does not parse. */
  readonly redactPasswords?: boolean | undefined;
};

/** Prints a statement on one line: keywords in upper case, clauses in the order of the grammar. */
export function printStatement(statement: Statement, options: PrintOptions = {}): string {
  switch (statement.kind) {
    case 'select':
      return printSelect(statement);
    case 'explain': {
      const analyze = statement.isAnalyze ? 'ANALYZE ' : '';
      const verbose = statement.isVerbose ? 'VERBOSE ' : '';
      return `EXPLAIN ${analyze}${verbose}${printSelect(statement.statement)}`;
    }
    case 'create-user':
    case 'set-password':
      return printUser(statement, options);
    default:
      return statement.kind.startsWith('show-')
        ? printShow(statement as ShowStatement)
        : printDefinition(statement as Exclude<DefinitionStatement, UserStatement>, options);
  }
}

type UserStatement = Extract<
  DefinitionStatement,
  { readonly kind: 'create-user' | 'set-password' }
>;

// -------------------------------------------------------------------- SELECT

function printSelect(statement: SelectStatement): string {
  return join([
    `SELECT ${statement.fields.map(printField).join(', ')}`,
    statement.into && `INTO ${printTarget(statement.into)}`,
    `FROM ${statement.sources.map(printSource).join(', ')}`,
    condition(statement.condition),
    groupBy(statement.dimensions),
    fill(statement),
    orderAndLimits(statement),
    statement.timeZone !== undefined && `TZ(${quoteString(statement.timeZone)})`,
  ]);
}

function printField(field: SelectField): string {
  const text = printExpression(field.expression);
  return field.alias === undefined ? text : `${text} AS ${formatIdentifier(field.alias)}`;
}

function printTarget(target: IntoTarget): string {
  if (!target.isBackReference) {
    return formatPath([target.database, target.retentionPolicy, target.measurement]);
  }
  const path = pathBefore(target.database, target.retentionPolicy);
  return `${path}:MEASUREMENT`;
}

function printSource(source: Source): string {
  return source.kind === 'subquery'
    ? `(${printSelect(source.statement)})`
    : printMeasurement(source);
}

function printMeasurement(source: MeasurementSource): string {
  const { database, retentionPolicy, name, pattern } = source;
  if (pattern === undefined) return formatPath([database, retentionPolicy, name]);
  return `${pathBefore(database, retentionPolicy)}${quoteRegex(pattern)}`;
}

/** `db.rp.`, `rp.`, `db..` or nothing. */
function pathBefore(database: string | undefined, retentionPolicy: string | undefined): string {
  const path = formatPath([database, retentionPolicy]);
  return path === '' ? '' : `${path}.`;
}

/** A missing fill means null, which is not shown. */
function fill(statement: SelectStatement): string | undefined {
  const option = statement.fill;
  if (option === undefined || option.kind === 'null') return undefined;
  if (option.kind !== 'number') return `fill(${option.kind})`;
  const { value } = option;
  return `fill(${typeof value === 'bigint' ? String(value) : printNumber(value)})`;
}

// ---------------------------------------------------------------------- SHOW

function printShow(statement: ShowStatement): string {
  const title = titleOf(statement);
  switch (statement.kind) {
    case 'show-databases':
    case 'show-continuous-queries':
    case 'show-queries':
    case 'show-shards':
    case 'show-shard-groups':
    case 'show-subscriptions':
    case 'show-users':
      return title;
    case 'show-diagnostics':
    case 'show-stats':
      return join([
        title,
        statement.module !== undefined && `FOR ${quoteString(statement.module)}`,
      ]);
    case 'show-grants':
      return `${title} FOR ${formatIdentifier(statement.user)}`;
    case 'show-retention-policies':
      return join([title, on(statement.database)]);
    case 'show-measurements':
      return join([
        title,
        measurementsScope(statement),
        statement.with &&
          (statement.with.kind === 'equal'
            ? `WITH MEASUREMENT = ${formatIdentifier(statement.with.name)}`
            : `WITH MEASUREMENT =~ ${quoteRegex(statement.with.pattern)}`),
        clauses(statement),
      ]);
    case 'show-field-keys':
    case 'show-series':
    case 'show-tag-keys':
      return join([title, scope(statement), clauses(statement)]);
    case 'show-tag-values':
      return join([title, scope(statement), withKey(statement.keys), clauses(statement)]);
    case 'show-cardinality':
      return join([
        `SHOW ${wordsOf(statement.of)}`,
        statement.isExact && 'EXACT',
        'CARDINALITY',
        scope(statement),
        statement.keys && withKey(statement.keys),
        condition(statement.condition),
        groupBy(statement.dimensions),
        clauses({ ...statement, condition: undefined }),
      ]);
    default:
      return unreachable(statement);
  }
}

function measurementsScope(
  statement: Extract<ShowStatement, { readonly kind: 'show-measurements' }>,
): string | undefined {
  const { database, retentionPolicy, isAll } = statement;
  if (database === undefined && isAll !== true) return undefined;
  const policy =
    retentionPolicy === undefined || retentionPolicy === '*'
      ? retentionPolicy
      : formatIdentifier(retentionPolicy);
  const name = database === undefined ? '*' : formatIdentifier(database);
  return policy === undefined ? `ON ${name}` : `ON ${name}.${policy}`;
}

function scope({ database, sources }: ShowClauses): string {
  return join([on(database), from(sources)]);
}

function clauses(statement: ShowClauses): string {
  return join([condition(statement.condition), orderAndLimits(statement)]);
}

function orderAndLimits(statement: Omit<ShowClauses, 'sources'>): string {
  return join([
    orderBy(statement.orderBy),
    count('LIMIT', statement.limit),
    count('OFFSET', statement.offset),
    count('SLIMIT', statement.seriesLimit),
    count('SOFFSET', statement.seriesOffset),
  ]);
}

function withKey(filter: TagKeyFilter): string {
  switch (filter.kind) {
    case 'in':
      return `WITH KEY IN (${filter.keys.map(formatIdentifier).join(', ')})`;
    case 'equal':
      return `WITH KEY = ${formatIdentifier(filter.key)}`;
    case 'not-equal':
      return `WITH KEY != ${formatIdentifier(filter.key)}`;
    case 'match':
      return `WITH KEY =~ ${quoteRegex(filter.pattern)}`;
    case 'not-match':
      return `WITH KEY !~ ${quoteRegex(filter.pattern)}`;
    default:
      return unreachable(filter);
  }
}

// --------------------------------------------------------------- definitions

function printDefinition(
  statement: Exclude<DefinitionStatement, UserStatement>,
  printOptions: PrintOptions,
): string {
  const title = titleOf(statement);
  switch (statement.kind) {
    case 'create-database':
      return join([
        `${title} ${formatIdentifier(statement.name)}`,
        statement.hasOptions && 'WITH',
        policyOptions(statement.options),
        statement.policyName !== undefined && `NAME ${formatIdentifier(statement.policyName)}`,
      ]);
    case 'create-retention-policy':
    case 'alter-retention-policy':
      return join([`${title} ${nameOn(statement)}`, policyOptions(statement.options)]);
    case 'drop-retention-policy':
    case 'drop-continuous-query':
      return `${title} ${nameOn(statement)}`;
    case 'create-continuous-query': {
      const body = `BEGIN ${printSelect(statement.statement)} END`;
      return join([`${title} ${nameOn(statement)}`, resample(statement), body]);
    }
    case 'create-subscription': {
      const shown = printOptions.redactPasswords === true ? hideUrlPassword : String;
      const destinations = statement.destinations.map((url) => quoteString(shown(url))).join(', ');
      return `${title} ${nameOnPolicy(statement)} DESTINATIONS ${statement.mode} ${destinations}`;
    }
    case 'drop-subscription':
      return `${title} ${nameOnPolicy(statement)}`;
    case 'grant':
    case 'revoke': {
      const { kind, privilege, database, user } = statement;
      const right = privilege === 'ALL' ? 'ALL PRIVILEGES' : privilege;
      const word = kind === 'grant' ? 'TO' : 'FROM';
      return `${title} ${right} ON ${formatIdentifier(database)} ${word} ${formatIdentifier(user)}`;
    }
    case 'grant-admin':
      return `GRANT ALL PRIVILEGES TO ${formatIdentifier(statement.user)}`;
    case 'revoke-admin':
      return `REVOKE ALL PRIVILEGES FROM ${formatIdentifier(statement.user)}`;
    case 'drop-series':
    case 'delete':
      return join([title, from(statement.sources), condition(statement.condition)]);
    case 'drop-database':
    case 'drop-user':
    case 'drop-measurement':
      return `${title} ${formatIdentifier(statement.name)}`;
    case 'drop-shard':
      return `${title} ${statement.id}`;
    case 'kill-query': {
      const { id, host } = statement;
      return join([`${title} ${id}`, host !== undefined && `ON ${formatIdentifier(host)}`]);
    }
    default:
      return unreachable(statement);
  }
}

/** `http://user:password@host` without the password. */
export function hideUrlPassword(url: string): string {
  return url.replace(/^([^/]*\/\/[^/@]*?):[^/]*@/, '$1:[REDACTED]@');
}

function printUser(statement: UserStatement, options: PrintOptions): string {
  const password =
    options.redactPasswords === true ? '[REDACTED]' : quoteString(statement.password);
  const name = formatIdentifier(statement.name);
  if (statement.kind === 'set-password') return `SET PASSWORD FOR ${name} = ${password}`;
  const rights = statement.isAdmin ? ' WITH ALL PRIVILEGES' : '';
  return `CREATE USER ${name} WITH PASSWORD ${password}${rights}`;
}

function policyOptions(options: PolicyOptions): string {
  const { durationNanos, replication, shardDurationNanos, futureLimitNanos, pastLimitNanos } =
    options;
  return join([
    durationNanos !== undefined && `DURATION ${durationOrInf(durationNanos)}`,
    replication !== undefined && `REPLICATION ${replication}`,
    // Some statements refuse INF here, and 0s means the same.
    shardDurationNanos !== undefined && `SHARD DURATION ${formatDuration(shardDurationNanos)}`,
    options.isDefault === true && 'DEFAULT',
    futureLimitNanos !== undefined && `FUTURE LIMIT ${durationOrInf(futureLimitNanos)}`,
    pastLimitNanos !== undefined && `PAST LIMIT ${durationOrInf(pastLimitNanos)}`,
  ]);
}

function durationOrInf(nanos: bigint): string {
  return nanos === 0n ? 'INF' : formatDuration(nanos);
}

function resample(
  statement: Extract<DefinitionStatement, { readonly kind: 'create-continuous-query' }>,
): string | undefined {
  const { resampleEveryNanos: every, resampleForNanos: length } = statement;
  if (every === undefined && length === undefined) return undefined;
  return join([
    'RESAMPLE',
    every !== undefined && `EVERY ${formatDuration(every)}`,
    length !== undefined && `FOR ${formatDuration(length)}`,
  ]);
}

// ------------------------------------------------------------ common clauses

/** The words that a statement begins with are those of its kind. */
function titleOf({ kind }: Statement): string {
  return wordsOf(kind);
}

/** `tag-key` as `TAG KEY`. */
function wordsOf(name: string): string {
  return name.replaceAll('-', ' ').toUpperCase();
}

type Part = string | false | undefined;

/** The parts that exist, with one blank between them. */
function join(parts: readonly Part[]): string {
  return parts.filter((part) => part !== undefined && part !== false && part !== '').join(' ');
}

function on(database: string | undefined): string | undefined {
  return database === undefined ? undefined : `ON ${formatIdentifier(database)}`;
}

function nameOn(statement: { readonly name: string; readonly database: string }): string {
  return `${formatIdentifier(statement.name)} ON ${formatIdentifier(statement.database)}`;
}

function nameOnPolicy(
  statement: Extract<DefinitionStatement, { readonly retentionPolicy: string }>,
): string {
  return `${nameOn(statement)}.${formatIdentifier(statement.retentionPolicy)}`;
}

function from(sources: readonly MeasurementSource[]): string | undefined {
  if (sources.length === 0) return undefined;
  return `FROM ${sources.map(printMeasurement).join(', ')}`;
}

function condition(expression: Expression | undefined): string | undefined {
  return expression === undefined ? undefined : `WHERE ${printExpression(expression)}`;
}

function groupBy(dimensions: readonly Expression[]): string | undefined {
  if (dimensions.length === 0) return undefined;
  return `GROUP BY ${dimensions.map(printExpression).join(', ')}`;
}

function orderBy(order: SortOrder | undefined): string | undefined {
  if (order === undefined) return undefined;
  return `ORDER BY time ${order.descending ? 'DESC' : 'ASC'}`;
}

function count(word: string, value: bigint | undefined): string | undefined {
  return value === undefined || value === 0n ? undefined : `${word} ${value}`;
}
