// Shared by SHOW statements: the database, the policy, and the conditions on tags and time.
import type { InvalidRequest, TimeRange } from '@tidemark/core';
import { Forbidden } from '@tidemark/core';
import { isTime, some } from '@tidemark/influxql';
import type { Binary, Expression, MeasurementSource } from '@tidemark/influxql';

import { isFoldable } from '../analyse/fold.ts';
import { splitCondition } from '../analyse/time-range.ts';
import {
  databaseNotFound,
  databaseRequired,
  invalid,
  retentionPolicyNotFound,
} from '../compat-messages.ts';
import type { QueryContext } from '../context.ts';
import type { Predicate } from '../series-source.ts';

/** Database of a SHOW statement; throws when none is named. */
export function namedDatabase(written: string | undefined, context: QueryContext): string {
  const database = written ?? context.database;
  if (database === undefined || database === '') throw databaseRequired();
  if (context.canRead?.(database) === false) {
    throw new Forbidden(`not authorized to read database "${database}"`);
  }
  return database;
}

export type TargetOptions = {
  /** The database of the statement's ON. */
  readonly database: string | undefined;
  /** A source without a policy is in the default one, not in all. */
  readonly needsPolicy: boolean;
  /** The policy of the request has to exist even where it is not needed. */
  readonly checksPolicy?: boolean | undefined;
};

/** The data that a statement is about; without a policy, that of all policies. */
export type SchemaTarget = {
  readonly database: string;
  readonly retentionPolicy: string | undefined;
};

/**
 * The target of a source, `undefined` without FROM: the database and policy that it names,
 * otherwise those of the statement. Refuses names that do not exist.
 */
export function targetOf(
  source: MeasurementSource | undefined,
  { database: on, needsPolicy, checksPolicy = needsPolicy }: TargetOptions,
  context: QueryContext,
): SchemaTarget {
  const database = namedDatabase(source?.database ?? on, context);
  const isOwn = source?.database !== undefined;
  if (!context.catalog.hasDatabase(database)) {
    throw databaseNotFound(database, isOwn ? source.span : undefined);
  }
  const byRequest = checksPolicy ? context.retentionPolicy : undefined;
  const written = source?.retentionPolicy ?? byRequest;
  if (written !== undefined && written !== '') {
    if (!context.catalog.hasRetentionPolicy(database, written)) {
      throw retentionPolicyNotFound(
        written,
        source?.retentionPolicy === undefined ? undefined : source.span,
      );
    }
    const isWanted = needsPolicy || source?.retentionPolicy !== undefined;
    return { database, retentionPolicy: isWanted ? written : undefined };
  }
  if (!needsPolicy) return { database, retentionPolicy: undefined };
  const byDefault = context.catalog.defaultRetentionPolicy(database);
  if (byDefault === undefined) throw retentionPolicyNotFound('autogen');
  return { database, retentionPolicy: byDefault };
}

export type SeriesCondition = {
  /** Only tag leaves. */
  readonly where: Predicate | undefined;
  /** `undefined` if the condition does not restrict time. */
  readonly timeRange: TimeRange | undefined;
};

/**
 * A condition on series. A comparison of a tag with a number or a boolean depends on the statement,
 * as recorded: lists of names drop it from the condition, counts match nothing.
 */
export function seriesCondition(
  condition: Expression | undefined,
  context: QueryContext,
  isOtherMet = true,
): SeriesCondition {
  const { now, onWarning, onFinding } = context;
  const split = splitCondition(condition, { now, zone: undefined, onWarning });
  const onOther = ({ span }: Binary): Predicate => {
    const hint = "write the value as a text, as 'false' or '5'";
    const message = `values of tags are texts: ${isOtherMet ? LEFT_OUT : NEVER_MET}`;
    onFinding?.({ code: 'IQL_TYPE_OF_VALUE', message, span, hint });
    return { kind: 'constant', value: isOtherMet };
  };
  return {
    where: split.condition === undefined ? undefined : tagPredicate(split.condition, onOther),
    timeRange: split.hasStart || split.hasEnd ? split.range : undefined,
  };
}

const LEFT_OUT = 'a comparison with a number or a boolean is left out of the condition';
const NEVER_MET = 'a comparison with a number or a boolean is never met';

/** Refuses conditions on time, in the recorded words. */
export function refuseTime(condition: Expression | undefined, statement: string): void {
  if (condition === undefined || !some(condition, isTime)) return;
  throw invalid(`${statement} doesn't support time in WHERE clause`, {
    code: 'IQL_CONDITION',
    span: condition.span,
    hint: 'it tells of all there is, at whatever time',
  });
}

/**
 * A condition over tags alone as a predicate. `onOther` replaces comparisons of a tag with a number
 * or a boolean; without it, these are refused.
 */
export function tagPredicate(
  node: Expression,
  onOther?: (comparison: Binary) => Predicate,
): Predicate {
  switch (node.kind) {
    case 'paren':
      return tagPredicate(node.expression, onOther);
    case 'boolean':
      return { kind: 'constant', value: node.value };
    case 'binary':
      break;
    default:
      throw notATagCondition(node);
  }
  if (node.operator === 'AND' || node.operator === 'OR') {
    return {
      kind: node.operator === 'AND' ? 'and' : 'or',
      left: tagPredicate(node.left, onOther),
      right: tagPredicate(node.right, onOther),
    };
  }
  const [key, value] =
    node.left.kind === 'reference' ? [node.left, node.right] : [node.right, node.left];
  const isTag = key.kind === 'reference' && (key.cast !== 'field' || onOther !== undefined);
  if (!isTag) throw notATagCondition(node);
  const { operator } = node;
  if (operator === '=' || operator === '!=') {
    if (value.kind === 'string') {
      return { kind: 'tag', key: key.name, operator, value: value.value };
    }
    if (onOther !== undefined && isFoldable(value)) return onOther(node);
  }
  if (value.kind === 'regex' && (operator === '=~' || operator === '!~')) {
    return { kind: 'tag-regex', key: key.name, operator, pattern: value.pattern };
  }
  throw notATagCondition(node);
}

function notATagCondition({ span }: Expression): InvalidRequest {
  return invalid('invalid tag comparison operator', {
    code: 'IQL_CONDITION',
    span,
    hint: "compare tags with = or != and a 'text', or with =~ or !~ and a /pattern/",
  });
}
