// DELETE and DROP SERIES: which series and times a condition covers. Only tags and time may be named.
import { InvalidRequest, MAX_TIME, MIN_TIME, parseRfc3339, unreachable } from '@tidemark/core';
import type { Span, TimeRange, Timestamp } from '@tidemark/core';
import type { Binary, BinaryOperator, Expression, MeasurementSource } from '@tidemark/influxql';
import { rangeOfComparison } from '@tidemark/query';
import type { Predicate } from '@tidemark/query';
import type { DeleteRequest } from '@tidemark/storage';

export const FIELDS_NOT_SUPPORTED = 'fields not supported in WHERE clause during deletion';

/** A condition names something else than a tag or the time. The handler adds where it happened. */
export class FieldInDelete extends InvalidRequest {}

export type DeleteScope = {
  readonly timeRange: TimeRange | undefined;
  readonly where: Predicate | undefined;
  /** Tags that the condition names; one that is a field must be refused. */
  readonly tagKeys: ReadonlySet<string>;
};

/** Splits a condition into time and tags. All time bounds are intersected, under OR too, as in queries. */
export function deleteScope(condition: Expression | undefined, now: Timestamp): DeleteScope {
  const reader = new ConditionReader(now);
  const where = condition === undefined ? undefined : reader.read(condition);
  return { timeRange: reader.timeRange, where, tagKeys: reader.tagKeys };
}

/** One request for all names, and one for each regular expression among the sources. */
export function deleteRequests(
  sources: readonly MeasurementSource[],
  scope: DeleteScope,
  database: string,
): readonly DeleteRequest[] {
  const base = { database, where: scope.where, timeRange: scope.timeRange };
  if (sources.length === 0) return [base];
  const names = sources.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const patterns = sources.flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern]));
  return [
    ...(names.length === 0 ? [] : [{ ...base, measurements: names }]),
    ...patterns.map((measurementPattern) => ({ ...base, measurementPattern })),
  ];
}

const MIRRORED: Readonly<Partial<Record<BinaryOperator, BinaryOperator>>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

class ConditionReader {
  readonly tagKeys = new Set<string>();
  timeRange: TimeRange | undefined;
  readonly #now: Timestamp;

  constructor(now: Timestamp) {
    this.#now = now;
  }

  /** The tag part of a condition; `undefined` where only time was named. */
  read(node: Expression): Predicate | undefined {
    switch (node.kind) {
      case 'paren':
        return this.read(node.expression);
      case 'boolean':
        return { kind: 'constant', value: node.value };
      case 'binary':
        break;
      default:
        throw fieldInDelete(node);
    }
    if (node.operator === 'AND' || node.operator === 'OR') {
      const left = this.read(node.left);
      const right = this.read(node.right);
      if (left === undefined || right === undefined) return left ?? right;
      return { kind: node.operator === 'AND' ? 'and' : 'or', left, right };
    }
    if (isTime(node.left)) return this.#narrow(node.operator, node.right);
    if (isTime(node.right)) {
      return this.#narrow(MIRRORED[node.operator] ?? node.operator, node.left);
    }
    return this.#tag(node);
  }

  #tag(node: Binary): Predicate {
    const { operator, left, right } = node;
    if (left.kind !== 'reference' || left.cast === 'field') {
      throw fieldInDelete(node);
    }
    this.tagKeys.add(left.name);
    if ((operator === '=' || operator === '!=') && right.kind === 'string') {
      return { kind: 'tag', key: left.name, operator, value: right.value };
    }
    if ((operator === '=~' || operator === '!~') && right.kind === 'regex') {
      return { kind: 'tag-regex', key: left.name, operator, pattern: right.pattern };
    }
    throw fieldInDelete(node);
  }

  #narrow(operator: BinaryOperator, operand: Expression): undefined {
    const time = this.#instant(operand);
    const { start, end } = this.timeRange ?? { start: MIN_TIME, end: MAX_TIME };
    const range = rangeOfComparison(operator, time, operand.span);
    this.timeRange = {
      start: range.start > start ? range.start : start,
      end: range.end < end ? range.end : end,
    };
    return undefined;
  }

  /** Nanoseconds of a time, of a duration, of `now()`, and of sums and differences of them. */
  #instant(node: Expression): Timestamp {
    switch (node.kind) {
      case 'paren':
        return this.#instant(node.expression);
      case 'integer':
      case 'unsigned':
        return node.value;
      case 'duration':
        return node.nanos;
      case 'string':
        return instantOfText(node.value, node.span);
      case 'call':
        if (node.name === 'now' && node.arguments.length === 0) return this.#now;
        throw incompatible(node);
      case 'binary': {
        const left = this.#instant(node.left);
        const right = this.#instant(node.right);
        if (node.operator === '+') return left + right;
        if (node.operator === '-') return left - right;
        throw incompatible(node);
      }
      case 'number':
      case 'boolean':
      case 'regex':
      case 'reference':
      case 'wildcard':
      case 'distinct':
        throw incompatible(node);
      default:
        return unreachable(node);
    }
  }
}

/** What no tag and no time is compared in. */
function fieldInDelete({ span }: Expression): FieldInDelete {
  return new FieldInDelete(FIELDS_NOT_SUPPORTED, {
    diagnostics: [{ code: 'IQL_CONDITION', message: FIELDS_NOT_SUPPORTED, span }],
  });
}

function incompatible({ span }: Expression): InvalidRequest {
  const message = 'invalid operation: time and that expression are not compatible';
  return new InvalidRequest(message, { diagnostics: [{ code: 'IQL_CONDITION', message, span }] });
}

function isTime(node: Expression): boolean {
  if (node.kind === 'paren') return isTime(node.expression);
  return node.kind === 'reference' && node.name.toLowerCase() === 'time';
}

const LOCAL_TIME = /^(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}:\d{2}(?:\.\d+)?))?$/;

function instantOfText(text: string, span: Span): Timestamp {
  const local = LOCAL_TIME.exec(text);
  const instant = parseRfc3339(local === null ? text : `${local[1]}T${local[2] ?? '00:00:00'}Z`);
  if (instant !== undefined) return instant;
  const message = 'invalid timestamp string';
  throw new InvalidRequest(message, { diagnostics: [{ code: 'IQL_CONDITION', message, span }] });
}
