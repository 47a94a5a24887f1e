// Warnings about statements that run but probably mean something else: a SELECT of tags alone,
// numbers compared with strings, times without a unit.
import { formatRfc3339, isComparison, unitOfDigits } from '@tidemark/core';
import type { Diagnostic } from '@tidemark/core';
import { isTime, selectsOf, some, walk } from '@tidemark/influxql';
import type { Binary, Expression, SelectStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import type { PreparedSource } from './prepared.ts';
import { resolveName } from './prepared.ts';
import { unwrap } from './expressions.ts';

/** Reports parts of a statement that hardly mean what they say. */
export function reportDoubtful(
  statement: SelectStatement,
  sources: readonly PreparedSource[],
  { onFinding }: QueryContext,
): void {
  if (onFinding === undefined) return;
  const tags = onlyTags(statement, sources);
  if (tags !== undefined) onFinding(tags);
  reportComparisons(statement, onFinding, (node) => bareTime(node) ?? textForNumber(node, sources));
}

/** Whether a time of a statement, or of its subqueries, seems to lack its unit. */
export function lacksUnit(statement: SelectStatement): boolean {
  const isBareTime = (node: Expression): boolean =>
    isComparing(node) && bareTime(node) !== undefined;
  return selectsOf(statement).some(({ condition }) => condition && some(condition, isBareTime));
}

function reportComparisons(
  { condition }: SelectStatement,
  onFinding: (finding: Diagnostic) => void,
  findingOf: (node: Binary) => Diagnostic | undefined,
): void {
  if (condition === undefined) return;
  walk(condition, (node) => {
    if (!isComparing(node)) return;
    const finding = findingOf(node);
    if (finding !== undefined) onFinding(finding);
  });
}

function isComparing(node: Expression): node is Binary {
  return node.kind === 'binary' && isComparison(node.operator);
}

/** Rows consist of fields: without one there are none. */
function onlyTags(
  { fields }: SelectStatement,
  sources: readonly PreparedSource[],
): Diagnostic | undefined {
  const names = fields.map(({ expression }) => unwrap(expression));
  const isTag = (expression: Expression): boolean =>
    expression.kind === 'reference' && resolveName(expression.name, sources).kind === 'tag';
  if (sources.length === 0 || !names.every((each) => isTag(each) || isTime(each))) return undefined;
  const first = names.find(isTag);
  return first === undefined
    ? undefined
    : {
        code: 'IQL_ONLY_TAGS',
        message: 'only tags are selected, so there are no rows',
        span: first.span,
        hint: 'select a field, too, or ask for the values of a tag with SHOW TAG VALUES WITH KEY = …',
      };
}

function bareTime(node: Binary): Diagnostic | undefined {
  const [left, right] = [unwrap(node.left), unwrap(node.right)];
  const value = isTime(left) ? right : isTime(right) ? left : undefined;
  if (value?.kind !== 'integer') return undefined;
  const text = String(value.value);
  const unit = unitOfDigits(text.length);
  if (unit === undefined) return undefined;
  return {
    code: 'IQL_TIME_UNIT',
    message: `${text} means nanoseconds: ${formatRfc3339(value.value)}`,
    span: value.span,
    hint: `write ${text}${unit}, or a time in single quotes`,
  };
}

function textForNumber(node: Binary, sources: readonly PreparedSource[]): Diagnostic | undefined {
  const [left, right] = [unwrap(node.left), unwrap(node.right)];
  const [name, text] = left.kind === 'reference' ? [left, right] : [right, left];
  if (name.kind !== 'reference' || text.kind !== 'string') return undefined;
  const resolved = resolveName(name.name, sources);
  if (resolved.kind !== 'field' || resolved.type === 'string') return undefined;
  return {
    code: 'IQL_TYPE_OF_VALUE',
    message: `${name.name} is of type ${resolved.type} and equal to no string`,
    span: text.span,
    hint: /^-?\d|^(?:true|false)$/i.test(text.value)
      ? `write it without quotes: ${text.value}`
      : undefined,
  };
}
