// Checks the text of a query node when its task starts: one SELECT, only from databases that the
// task may read.
import { measurementSources, parseQuery } from '@tidemark/influxql';
import type { MeasurementSource, SelectStatement } from '@tidemark/influxql';
import { didYouMean } from './evaluate/hints.ts';
import type { NodeDiagnostic } from './definition/node-diagnostic.ts';

const code = 'TICK_QUERY_TEXT';

type Dbrp = { readonly database: string; readonly retentionPolicy: string };

/** Refuses a query that a task must not run. Positions are those in the query's text. */
export function checkQueryText(text: string, dbrps: readonly Dbrp[]): readonly NodeDiagnostic[] {
  const { query, diagnostics } = parseQuery(text);
  if (diagnostics.length > 0) {
    return diagnostics.map(({ message, span, hint }) => {
      const { found, expected } = misfitOf(message);
      return {
        code,
        text: `failed to parse InfluxQL query: ${message}`,
        textSpan: span,
        found,
        expected,
        hint: hint ?? (found === undefined ? undefined : didYouMean(found.toUpperCase(), expected)),
      };
    });
  }
  const [statement, second] = query.statements;
  if (statement === undefined || second !== undefined) {
    const { length } = query.statements;
    return [
      {
        code,
        text: `query must be a single select statement, got ${length} statements`,
        textSpan: second?.span ?? { start: text.length, end: text.length },
        found: `${length} statements`,
        expected: ['one SELECT statement'],
        hint:
          length === 0
            ? 'write SELECT … FROM "database"."policy"."measurement"'
            : 'write a |query() for each statement and join their results',
      },
    ];
  }
  if (statement.kind !== 'select') {
    return [
      {
        code,
        text: `query is not a select statement ${JSON.stringify(text)}`,
        textSpan: statement.span,
        expected: ['one SELECT statement'],
        hint: 'tasks read points: SELECT … FROM "database"."policy"."measurement"',
      },
    ];
  }
  return checkSources(statement, { text, dbrps });
}

type Misfit = { readonly found?: string; readonly expected: readonly string[] };

/** The parts of a syntax error of the query language. */
function misfitOf(message: string): Misfit {
  const [, found, expected] =
    /^found (.+), expected (.+) at line \d+, char \d+$/s.exec(message) ?? [];
  return found === undefined || expected === undefined
    ? { expected: [] }
    : { found, expected: expected.split(', ') };
}

type Asked = { readonly text: string; readonly dbrps: readonly Dbrp[] };

function checkSources(select: SelectStatement, asked: Asked): readonly NodeDiagnostic[] {
  return measurementSources(select).flatMap((source) => checkSource(source, asked));
}

function checkSource(source: MeasurementSource, asked: Asked): readonly NodeDiagnostic[] {
  const { text, dbrps } = asked;
  const { database = '', retentionPolicy = '' } = source;
  const isAllowed = dbrps.some(
    (each) => each.database === database && each.retentionPolicy === retentionPolicy,
  );
  if (isAllowed) return [];
  return [
    {
      code,
      text: `batch query is not allowed to request data from "${database}"."${retentionPolicy}"`,
      textSpan: source.span,
      found:
        database === ''
          ? text.slice(source.span.start, source.span.end)
          : `"${database}"."${retentionPolicy}"`,
      expected: dbrps.map((each) => `"${each.database}"."${each.retentionPolicy}"`),
      hint:
        database === ''
          ? 'name database and policy before the measurement: "database"."policy"."measurement"'
          : 'add the pair to those of the task',
    },
  ];
}
