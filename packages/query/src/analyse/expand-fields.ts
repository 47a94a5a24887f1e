// SELECT lists without wildcards: every field a single expression with its final name.
import type { FieldType, InvalidRequest } from '@tidemark/core';
import { compareBytes } from '@tidemark/core';
import { isTime, rewrite, some, walk } from '@tidemark/influxql';
import type { Call, Expression, Reference, SelectField, SelectStatement } from '@tidemark/influxql';

import { invalid } from '../compat-messages.ts';
import { checkLimit } from '../limits.ts';
import type { QueryLimits } from '../limits.ts';
import type { Acceptance } from '../functions/registry.ts';
import { FUNCTIONS, isRanking } from '../functions/registry.ts';
import { textMatcher } from '../regex.ts';
import { distinctCall } from './check-select.ts';
import { columnName, uniqueColumnNames } from './column-names.ts';
import { foldExpression } from './fold.ts';
import type { ExpandedField, PreparedSource } from './prepared.ts';
import { sourceTags } from './prepared.ts';
import { strongerType } from '../measurement-names.ts';
import { unwrap } from './expressions.ts';

type Candidate = {
  readonly expression: Expression;
  readonly alias: string | undefined;
  readonly isIntoTag?: boolean;
};

type ExpandOptions = {
  readonly tagDimensions: readonly string[];
  /**
   * GROUP BY has a wildcard or a regular expression: patterns stand for no tags then (recorded).
   */
  readonly hasPatternDimension: boolean;
  readonly limits: QueryLimits;
};

/** Expands the SELECT list; `time` is dropped, because it is always the first column. */
export function expandFields(
  statement: SelectStatement,
  sources: readonly PreparedSource[],
  { tagDimensions, hasPatternDimension, limits }: ExpandOptions,
): readonly ExpandedField[] {
  let names: Names | undefined;
  // Made when the first pattern asks for them: most statements have none.
  const namesFound = (): Names => (names ??= namesOf(sources));
  const grouped = hasPatternDimension ? undefined : new Set(tagDimensions);
  const { maxSelectColumns } = limits;
  const candidates: Candidate[] = [];
  for (const field of statement.fields) {
    if (isTime(field.expression)) continue;
    for (const candidate of expandField(field, namesFound, grouped)) candidates.push(candidate);
    checkLimit('max-select-columns', candidates.length, maxSelectColumns);
  }
  const unique = uniqueColumnNames(
    candidates.map(({ alias, expression }) => ({ alias, name: columnName(expression) })),
  );
  return candidates.map(({ expression, isIntoTag }, i) => ({
    expression,
    name: unique[i] ?? '',
    isIntoTag: isIntoTag ?? false,
  }));
}

/** Names that wildcards and regular expressions can stand for, in all sources together. */
type Names = {
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly tags: ReadonlySet<string>;
  /** Tags that subqueries select, and that are no field of any source. */
  readonly selectedTags: ReadonlySet<string>;
  /**
   * Tags and unknown names that a subquery selects: columns to a wildcard, but no arguments of
   * functions.
   */
  readonly noArguments: ReadonlySet<string>;
};

function namesOf(sources: readonly PreparedSource[]): Names {
  const fields = new Map<string, FieldType>();
  const tags = new Set<string>();
  // A name that is unknown or a tag in one source may be a field of another one.
  const selectedTags = new Set<string>();
  const unknown = new Set<string>();
  const proper = new Set<string>();
  const add = (name: string, type: FieldType): void => {
    fields.set(name, strongerType(fields.get(name), type));
  };
  for (const source of sources) {
    for (const tag of sourceTags(source)) tags.add(tag);
    if (source.kind === 'measurement') {
      for (const [name, type] of source.schema.fields) {
        add(name, type);
        proper.add(name);
      }
      continue;
    }
    for (const { name, type, isTag, visibility } of source.select.columns) {
      if (visibility === 'name' || visibility === 'none') continue;
      if (visibility === 'wildcard') {
        unknown.add(name);
        continue;
      }
      add(name, type);
      (isTag ? selectedTags : proper).add(name);
    }
  }
  for (const name of unknown) if (!fields.has(name)) fields.set(name, 'float');
  for (const name of proper) selectedTags.delete(name);
  const noArguments = new Set([...unknown, ...selectedTags].filter((name) => !proper.has(name)));
  return { fields, tags, selectedTags, noArguments };
}

function expandField(
  field: SelectField,
  names: () => Names,
  grouped: ReadonlySet<string> | undefined,
): readonly Candidate[] {
  const expression = normalise(foldExpression(field.expression));
  const { alias } = field;
  switch (expression.kind) {
    case 'wildcard':
      return references(names(), grouped, () => true, expression.only);
    case 'regex':
      return references(names(), grouped, textMatcher(expression.pattern), undefined);
    case 'call':
      if (hasPattern(expression)) return expandCall(expression, alias, names());
      return [{ expression, alias }, ...rankingTags(expression)];
    case 'binary':
      refusePatterns(expression);
      return [{ expression, alias }];
    default:
      return [{ expression, alias }];
  }
}

/** Parentheses around a whole field and `DISTINCT f` mean nothing beyond this point. */
function normalise(expression: Expression): Expression {
  return rewrite(unwrap(expression), (node) =>
    node.kind === 'distinct' ? distinctCall(node) : node,
  );
}

function isPattern(node: Expression): boolean {
  return node.kind === 'wildcard' || node.kind === 'regex';
}

function hasPattern(call: Call): boolean {
  return some(call, isPattern);
}

function refusePatterns(expression: Expression): void {
  walk(expression, (node) => {
    if (node.kind !== 'call') return;
    for (const argument of node.arguments) {
      if (argument.kind === 'wildcard') {
        throw patternRefused(`unsupported expression with wildcard: ${node.name}()`, argument);
      }
      if (argument.kind === 'regex') {
        throw patternRefused(`unsupported expression with regex field: ${node.name}()`, argument);
      }
    }
  });
}

function patternRefused(text: string, { span }: Expression): InvalidRequest {
  const hint = 'several columns cannot take part in a calculation; name the field';
  return invalid(text, { code: 'IQL_WILDCARD', span, hint });
}

/**
 * Fields and tags that are not `grouped` (all are if it is undefined), in one order by name; a
 * field comes before a tag of the same name.
 */
function references(
  names: Names,
  grouped: ReadonlySet<string> | undefined,
  matches: (name: string) => boolean,
  only: 'field' | 'tag' | undefined,
): readonly Candidate[] {
  const found: Reference[] = [];
  const span = { start: 0, end: 0 };
  for (const name of names.fields.keys()) {
    const isTag = names.selectedTags.has(name);
    if (!matches(name) || only === (isTag ? 'field' : 'tag')) continue;
    found.push({ kind: 'reference', name, cast: isTag ? undefined : 'field', span });
  }
  if (only !== 'field' && grouped !== undefined) {
    for (const name of names.tags) {
      if (matches(name) && !grouped.has(name)) {
        found.push({ kind: 'reference', name, cast: 'tag', span });
      }
    }
  }
  found.sort((a, b) => compareBytes(a.name, b.name) || (a.cast === 'tag' ? 1 : -1));
  return found.map((expression) => ({ expression, alias: undefined }));
}

const ACCEPTED: Readonly<Record<Acceptance, readonly FieldType[]>> = {
  any: ['float', 'integer', 'unsigned', 'string', 'boolean'],
  ordered: ['float', 'integer', 'unsigned', 'boolean'],
  numeric: ['float', 'integer', 'unsigned'],
  'float-integer': ['float', 'integer'],
};

/** One call per matching field: `mean(*)` becomes `mean(a) AS mean_a`, `mean(b) AS mean_b`. */
function expandCall(call: Call, alias: string | undefined, names: Names): readonly Candidate[] {
  const { pattern, accepts } = innermostPattern(call);
  const matches = pattern?.kind === 'regex' ? textMatcher(pattern.pattern) : () => true;
  const fields = [...names.fields]
    .filter(
      ([name, type]) =>
        matches(name) && ACCEPTED[accepts].includes(type) && !names.noArguments.has(name),
    )
    .map(([name]) => name)
    .sort(compareBytes);
  return fields.map((name) => ({
    expression: rewrite(call, (node) =>
      node === pattern ? { kind: 'reference', name, cast: 'field', span: node.span } : node,
    ),
    alias: `${alias ?? call.name}_${name}`,
  }));
}

/** The pattern argument, and what every function around it accepts. */
function innermostPattern(call: Call): {
  readonly pattern: Expression | undefined;
  readonly accepts: Acceptance;
} {
  let current: Call = call;
  for (;;) {
    const [first] = current.arguments;
    if (first?.kind !== 'call') {
      const accepts = FUNCTIONS.get(current.name)?.accepts ?? 'numeric';
      return { pattern: current.arguments.find(isPattern), accepts };
    }
    current = first;
  }
}

/** `top(f, tag, n)` returns its tags as columns after the value. */
function rankingTags(call: Call): readonly Candidate[] {
  if (!isRanking(call.name)) return [];
  return call.arguments
    .slice(1, -1)
    .map((expression) => ({ expression, alias: undefined, isIntoTag: true }));
}
