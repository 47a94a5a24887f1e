// WHERE without time: the part that sources can evaluate becomes a Predicate, the rest an
// expression over rows.
import { isComparison } from '@tidemark/core';
import type { ComparisonOperator, InvalidRequest, FieldType, FieldValue } from '@tidemark/core';
import { isSubquery, measurementsIn, subqueriesIn } from '@tidemark/influxql';
import type { Binary, BinaryOperator, Expression, Reference } from '@tidemark/influxql';

import { readType } from '../analyse/prepared.ts';
import type { PreparedSource, ResolvedName } from '../analyse/prepared.ts';
import { print } from '../print.ts';
import { invalid } from '../compat-messages.ts';
import type { Predicate } from '../series-source.ts';
import { resolveReference } from '../analyse/build-columns.ts';
import { isNumeric, mathType } from '../analyse/expression-types.ts';
import { mirrored, unwrap } from '../analyse/expressions.ts';
import { literalValue } from '../analyse/literals.ts';
import type { InputSet } from '../analyse/input-set.ts';
import type { ValueExpression } from '../analyse/columns.ts';
import type { ConditionPlan } from './select-plan.ts';

/**
 * Builds both forms of a condition. Inputs that only the condition reads are added after the
 * selected ones.
 */
export function buildCondition(
  condition: Expression | undefined,
  sources: readonly PreparedSource[],
  inputs: InputSet,
): ConditionPlan {
  if (condition === undefined) return { pushed: undefined, residual: undefined, whole: undefined };
  const builder = new ConditionBuilder(sources, inputs);
  const pushed: Predicate[] = [];
  const residual: ValueExpression[] = [];
  for (const conjunct of splitConjuncts(condition)) {
    const predicate = builder.predicate(conjunct);
    if (predicate !== undefined) pushed.push(predicate);
    else residual.push(builder.expression(conjunct));
  }
  const hasSubquery = sources.some(isSubquery);
  return {
    pushed: balanced(pushed, (left, right) => ({ kind: 'and', left, right })),
    residual: balanced(residual, conjunction),
    whole: hasSubquery ? builder.expression(condition) : undefined,
  };
}

/**
 * Joins all parts into a tree that is no higher than it must be, because trees are walked
 * recursively.
 */
function balanced<T>(parts: readonly T[], join: (left: T, right: T) => T): T | undefined {
  let level = parts;
  while (level.length > 1) {
    const next: T[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i]!;
      const right = level[i + 1];
      next.push(right === undefined ? left : join(left, right));
    }
    level = next;
  }
  return level[0];
}

function conjunction(left: ValueExpression, right: ValueExpression): ValueExpression {
  return { kind: 'binary', operator: 'AND', left, right, type: 'boolean' };
}

function* splitConjuncts(expression: Expression): Iterable<Expression> {
  if (expression.kind === 'paren') {
    yield* splitConjuncts(expression.expression);
  } else if (expression.kind === 'binary' && expression.operator === 'AND') {
    yield* splitConjuncts(expression.left);
    yield* splitConjuncts(expression.right);
  } else {
    yield expression;
  }
}

const NEVER: Predicate = { kind: 'constant', value: false };

class ConditionBuilder {
  readonly #sources: readonly PreparedSource[];
  readonly #inputs: InputSet;

  constructor(sources: readonly PreparedSource[], inputs: InputSet) {
    this.#sources = sources;
    this.#inputs = inputs;
  }

  /** The condition as a predicate, or undefined when a part of it cannot be pushed. */
  predicate(expression: Expression): Predicate | undefined {
    switch (expression.kind) {
      case 'boolean':
        return { kind: 'constant', value: expression.value };
      case 'paren':
        return this.predicate(expression.expression);
      case 'binary':
        break;
      default:
        return undefined;
    }
    if (expression.operator === 'AND' || expression.operator === 'OR') {
      const left = this.predicate(expression.left);
      const right = this.predicate(expression.right);
      if (left === undefined || right === undefined) return undefined;
      return { kind: expression.operator === 'AND' ? 'and' : 'or', left, right };
    }
    return this.#comparison(expression);
  }

  #comparison(node: Binary): Predicate | undefined {
    let { left, right } = node;
    let operator: BinaryOperator = node.operator;
    if (left.kind !== 'reference' && right.kind === 'reference') {
      [left, right] = [right, left];
      operator = mirrored(operator);
    }
    if (left.kind !== 'reference') return undefined;
    const resolved = this.#resolve(left);
    if (right.kind === 'regex' && (operator === '=~' || operator === '!~')) {
      const { pattern } = right;
      if (resolved.kind !== 'field') {
        return { kind: 'tag-regex', key: left.name, operator, pattern };
      }
      if (resolved.type !== 'string') return NEVER;
      return { kind: 'field-regex', field: left.name, operator, pattern };
    }
    if (right.kind === 'duration') return NEVER;
    const literal = literalValue(unwrap(right));
    if (literal?.kind !== 'constant' || !isComparison(operator)) return undefined;
    const { value } = literal;
    if (resolved.kind !== 'field') {
      if (typeof value !== 'string' || (operator !== '=' && operator !== '!=')) return NEVER;
      return { kind: 'tag', key: left.name, operator, value };
    }
    if (!isComparable(resolved.type, value, operator)) return NEVER;
    // A cast changes the value before it is compared, which sources do not do.
    if (left.cast !== undefined && left.cast !== 'field') return undefined;
    return { kind: 'field', field: left.name, operator, value };
  }

  /**
   * Conditions compare values as they are, however a column is declared. A field outside the time
   * range is still a field, with nulls.
   */
  #resolve(reference: Reference): ResolvedName {
    const resolved = resolveReference(reference, this.#sources);
    if (resolved.kind === 'field') return { ...resolved, type: readType(resolved) };
    if (resolved.kind !== 'unknown') return resolved;
    for (const { schema } of measurementsIn(this.#sources)) {
      const type = schema.absentFields?.get(reference.name);
      if (type !== undefined) return { kind: 'field', type };
    }
    return resolved;
  }

  /** The condition over rows: a boolean, or null which counts as false. */
  expression(node: Expression): ValueExpression {
    switch (node.kind) {
      case 'paren':
        return this.expression(node.expression);
      case 'reference':
        return this.#reference(node);
      case 'call': {
        const given = node.arguments.map((argument) => this.expression(argument));
        return {
          kind: 'math',
          name: node.name,
          arguments: given,
          type: mathType(node.name, given),
        };
      }
      case 'binary':
        return this.#binary(node);
      default: {
        const value = literalValue(node);
        if (value === undefined) throw notACondition(node);
        return value;
      }
    }
  }

  #binary(node: Binary): ValueExpression {
    const { operator } = node;
    if (operator === '=~' || operator === '!~') {
      if (node.right.kind !== 'regex') throw notACondition(node);
      const { pattern } = node.right;
      const operand = this.expression(node.left);
      return { kind: 'regex', operator, operand, pattern, type: 'boolean' };
    }
    const left = this.expression(node.left);
    const right = this.expression(node.right);
    const type =
      isComparison(operator) || operator === 'AND' || operator === 'OR'
        ? 'boolean'
        : conditionArithmeticType(operator, left.type, right.type);
    return { kind: 'binary', operator, left, right, type };
  }

  /** Unknown names are missing tags, which compare as empty strings. */
  #reference(reference: Reference): ValueExpression {
    const resolved = this.#resolve(reference);
    const { name } = reference;
    const groupTag = this.#hasEverySubquery(name) ? undefined : 'passed-on';
    if (resolved.kind === 'field') {
      const { type } = resolved;
      const index = this.#inputs.add({ kind: 'field', name, type, groupTag });
      return { kind: 'column', index, type };
    }
    const index = this.#inputs.add({ kind: 'tag', name, groupTag });
    return { kind: 'column', index, type: 'string' };
  }

  /** Whether the name is a column of all subqueries, or in their GROUP BY. */
  #hasEverySubquery(name: string): boolean {
    return subqueriesIn(this.#sources).every(
      ({ select }) =>
        select.tagDimensions.includes(name) ||
        select.columns.some((column) => column.name === name),
    );
  }
}

function notACondition(node: Expression): InvalidRequest {
  const text = `invalid condition expression: ${print(node)}`;
  return invalid(text, { code: 'IQL_CONDITION', span: node.span });
}

/**
 * In conditions the division of integers stays an integer, and operands that do not fit give null.
 */
function conditionArithmeticType(
  operator: BinaryOperator,
  a: FieldType | undefined,
  b: FieldType | undefined,
): FieldType | undefined {
  if (a === undefined || b === undefined) return undefined;
  const isBitwise = operator === '&' || operator === '|' || operator === '^';
  if (a === 'boolean' && b === 'boolean') return isBitwise ? 'boolean' : undefined;
  if (a === 'string' && b === 'string') return operator === '+' ? 'string' : undefined;
  if (!isNumeric(a) || !isNumeric(b)) return undefined;
  if (a === 'float' || b === 'float') return isBitwise ? undefined : 'float';
  return a === b ? a : 'integer';
}

/** Numbers are ordered; strings and booleans are only equal or not. */
function isComparable(type: FieldType, value: FieldValue, operator: ComparisonOperator): boolean {
  const isEquality = operator === '=' || operator === '!=';
  switch (typeof value) {
    case 'string':
      return type === 'string' && isEquality;
    case 'boolean':
      return type === 'boolean' && isEquality;
    default:
      return isNumeric(type);
  }
}
