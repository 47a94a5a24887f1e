// Checks of the text of a query node when its task starts: one SELECT, only from databases that the task may read.
import { parseQuery } from '@tidemark/influxql';
import type { SelectStatement, Source } from '@tidemark/influxql';
import type { NodeProblem } from './node-problem.ts';

const code = 'TICK_QUERY_TEXT';

type Dbrp = { readonly database: string; readonly retentionPolicy: string };

/** Refuses a query that a task must not run. */
export function checkQueryText(text: string, dbrps: readonly Dbrp[]): NodeProblem | undefined {
  const { query, error, diagnostics } = parseQuery(text);
  if (error !== undefined) {
    const hint = diagnostics[0]?.hint;
    return { code, text: `failed to parse InfluxQL query: ${error}`, hint };
  }
  const [statement] = query.statements;
  if (statement === undefined || query.statements.length > 1) {
    const { length } = query.statements;
    return {
      code,
      text: `query must be a single select statement, got ${length} statements`,
      found: `${length} statements`,
      expected: ['one SELECT statement'],
      hint: 'write a |query() for each statement and join their results',
    };
  }
  if (statement.kind !== 'select') {
    return {
      code,
      text: `query is not a select statement ${JSON.stringify(text)}`,
      expected: ['one SELECT statement'],
      hint: 'tasks read points: SELECT … FROM "database"."policy"."measurement"',
    };
  }
  return checkSources(statement, dbrps);
}

function checkSources(select: SelectStatement, dbrps: readonly Dbrp[]): NodeProblem | undefined {
  for (const source of select.sources) {
    const problem = checkSource(source, dbrps);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkSource(source: Source, dbrps: readonly Dbrp[]): NodeProblem | undefined {
  if (source.kind === 'subquery') return checkSources(source.statement, dbrps);
  const { database = '', retentionPolicy = '' } = source;
  const isAllowed = dbrps.some(
    (each) => each.database === database && each.retentionPolicy === retentionPolicy,
  );
  if (isAllowed) return undefined;
  return {
    code,
    text: `batch query is not allowed to request data from "${database}"."${retentionPolicy}"`,
    found: `"${database}"."${retentionPolicy}"`,
    expected: dbrps.map((each) => `"${each.database}"."${each.retentionPolicy}"`),
    hint:
      database === ''
        ? 'name database and policy before the measurement: "database"."policy"."measurement"'
        : 'add the pair to those of the task',
  };
}
