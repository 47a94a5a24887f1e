// Checks of the text of a query node when its task starts: one SELECT, only from databases that the task may read.
import { parseQuery } from '@tidemark/influxql';
import type { SelectStatement, Source } from '@tidemark/influxql';

type Dbrp = { readonly database: string; readonly retentionPolicy: string };

/** The recorded text for a query that a task must not run. */
export function checkQueryText(text: string, dbrps: readonly Dbrp[]): string | undefined {
  const { query, error } = parseQuery(text);
  if (error !== undefined) return `failed to parse InfluxQL query: ${error}`;
  const [statement] = query.statements;
  if (statement === undefined || query.statements.length > 1) {
    return `query must be a single select statement, got ${query.statements.length} statements`;
  }
  if (statement.kind !== 'select') return `query is not a select statement ${JSON.stringify(text)}`;
  return checkSources(statement, dbrps);
}

function checkSources(select: SelectStatement, dbrps: readonly Dbrp[]): string | undefined {
  for (const source of select.sources) {
    const problem = checkSource(source, dbrps);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkSource(source: Source, dbrps: readonly Dbrp[]): string | undefined {
  if (source.kind === 'subquery') return checkSources(source.statement, dbrps);
  const { database = '', retentionPolicy = '' } = source;
  const isAllowed = dbrps.some(
    (each) => each.database === database && each.retentionPolicy === retentionPolicy,
  );
  if (isAllowed) return undefined;
  return `batch query is not allowed to request data from "${database}"."${retentionPolicy}"`;
}
