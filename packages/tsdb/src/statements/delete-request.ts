// DELETE and DROP SERIES: the series and times that a condition covers. Only tags and time may be
// used.
import { InvalidRequest } from '@tidemark/core';
import type { TimeRange, Timestamp } from '@tidemark/core';
import type { Expression, MeasurementSource } from '@tidemark/influxql';
import { splitCondition, tagPredicate } from '@tidemark/query';
import type { Predicate } from '@tidemark/query';
import type { DeleteRequest } from '@tidemark/storage-api';

export const FIELDS_NOT_SUPPORTED = 'fields not supported in WHERE clause during deletion';

/** A condition on something other than a tag or the time. The handler adds the place. */
export class FieldInDelete extends InvalidRequest {}

export type DeleteScope = {
  readonly timeRange: TimeRange | undefined;
  readonly where: Predicate | undefined;
  /** Tags in the condition; one that is a field must be refused. */
  readonly tagKeys: ReadonlySet<string>;
};

/** Splits a condition into time and tags, as for queries. */
export function deleteScope(
  condition: Expression | undefined,
  context: { readonly now: Timestamp; readonly onWarning: (text: string) => void },
): DeleteScope {
  const split = splitCondition(condition, { ...context, zone: undefined });
  const where = split.condition === undefined ? undefined : onTags(split.condition);
  return {
    timeRange: split.hasStart || split.hasEnd ? split.range : undefined,
    where,
    tagKeys: keysOf(where),
  };
}

function onTags(condition: Expression): Predicate {
  try {
    return tagPredicate(condition);
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    // Anything but a condition on tags is treated as one on fields, as recorded.
    const diagnostics = error.diagnostics.map((one) => ({ ...one, message: FIELDS_NOT_SUPPORTED }));
    throw new FieldInDelete(FIELDS_NOT_SUPPORTED, { cause: error, diagnostics });
  }
}

function keysOf(predicate: Predicate | undefined): ReadonlySet<string> {
  const keys = new Set<string>();
  const open = predicate === undefined ? [] : [predicate];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === 'and' || node.kind === 'or') open.push(node.left, node.right);
    else if (node.kind === 'tag' || node.kind === 'tag-regex') keys.add(node.key);
  }
  return keys;
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
