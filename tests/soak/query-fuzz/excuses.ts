// Differences that are wanted: defects of the reference server which are not copied. Each is named
// in docs/compat/differences.md or in the reference pages, says which statements it concerns, and
// compares what it leaves untouched: another difference in the same statement is found.
import { agree, hasSameSeries, isInParts, readAnswer, seriesOf } from './agreement.ts';
import type { Latitude } from './agreement.ts';
import { WRITE } from './chains.ts';
import { MEASUREMENTS } from './data.ts';
import type { Answer } from './server.ts';
import { isConflictAsSpecified } from './write-errors.ts';

export type Compared = {
  readonly text: string;
  readonly reference: Answer;
  readonly candidate: Answer;
};

type Excuse = {
  readonly reason: string;
  /** The statements that it concerns. */
  readonly concerns: (text: string) => boolean;
  /** Whether the answers differ in nothing else. */
  readonly explains: (compared: Compared) => boolean;
};

/** A subquery of several calls, or of one for several fields, with tags in its GROUP BY. */
const SEVERAL_CALLS_IN_GROUPS =
  /\(SELECT (\w+\((\*|\/).*|.*\w\(.*[-,+*/%&|^] \w+\(.*)GROUP BY (time\([^)]*\), |(?!time))/;

/** Several calls in the groups that a function around them asks for, to tell their tags apart. */
const SEVERAL_CALLS_TOLD_APART =
  /\b(top|bottom)\(\w+, \w+, .* FROM \(SELECT (\w+\((\*|\/).*|.*\w\(.*[-,+*/%&|^] \w+\(.*)FROM/;

/** More than one group: several tags, or several measurements. */
const HAS_GROUPS = /GROUP BY (?!time)|GROUP BY time\([^)]*\), |FROM \/|FROM [\w.]+, /;

/** Functions that answer no number where there is no result, and remainders of zero. */
const NOT_A_NUMBER = /\(SELECT .*(\b(stddev|sqrt|ln|log\w*|asin|acos|pow)\(| % )/;

const TYPE_ERROR = /^(type error: |invalid argument type |unsupported \w+( \w+)* iterator type)/;

/** The clauses after the subquery of a statement. */
function outerClauses(text: string): string {
  let end = text.indexOf('(SELECT');
  for (let depth = 1; depth > 0 && end < text.length;) {
    end++;
    if (text[end] === '(') depth++;
    if (text[end] === ')') depth--;
  }
  return text.slice(end);
}

/** Whether columns of one subquery are selected without a condition on others, or a limit. */
function selectsAsItIs(text: string): boolean {
  const isOfOne = /^SELECT [\w, ]+ FROM \(SELECT (?!.*\(SELECT)/.test(text);
  return isOfOne && !/ (WHERE|LIMIT) /.test(outerClauses(text));
}

function differOnlyIn(latitude: Latitude): Excuse['explains'] {
  return ({ reference, candidate }) => agree(reference, candidate, latitude);
}

/**
 * Columns of a function, by the name that its calls have without an alias, and by their aliases.
 */
function columnsOf(name: string, text = ''): (column: string) => boolean {
  const aliases = [...text.matchAll(new RegExp(`\\b${name}\\([^()]*\\) AS (\\w+)`, 'g'))];
  const named = new Set([name, ...aliases.map(([, alias]) => alias)]);
  return (column) => named.has(column) || column.startsWith(`${name}_`);
}

const INTEGRAL_CALCULATED = /\bintegral\([^()]*\) [-+*/%]|[-+*/%] integral\(/;

/** A function over the results of others: its rows depend on how many of those there are. */
const CALL_OF_CALLS = /\w\(\w+\(/;

/** The same series with the same columns; which values they hold is another matter. */
const sameSeries = differOnlyIn({ cells: () => true, rows: 'once-each' });

/** Each an answer without an error, or with an infinite number, which is none as JSON. */
function areAnswers({ reference, candidate }: Compared): boolean {
  return [reference, candidate].every(
    (answer) => seriesOf(answer) !== undefined || answer.body.includes('json: unsupported value'),
  );
}

function errorOf(answer: Answer): string | undefined {
  return readAnswer(answer)?.error;
}

const EXCUSES: readonly Excuse[] = [
  {
    reason: 'times under OR are warned about',
    concerns: (text) => /\btime\b.* OR /.test(text),
    explains: ({ reference, candidate }) =>
      candidate.body.includes('comparisons of time under OR') &&
      (agree(reference, candidate, {}) ||
        (errorOf(reference) !== undefined && errorOf(reference) === errorOf(candidate))),
  },
  {
    reason: 'conflicts of types have the texts of the specification',
    concerns: (text) => text.startsWith(WRITE),
    explains: ({ reference, candidate }) => isConflictAsSpecified(reference, candidate),
  },
  {
    reason: 'SHOW MEASUREMENTS asks there about measurements, here about their series',
    concerns: (text) => /^SHOW MEASUREMENTS\b.*\bWHERE\b/.test(text),
    // Where it has no measurement to ask about, it does not look at what is compared.
    explains: ({ reference, candidate }) =>
      isListOfMeasurements(reference) &&
      (isListOfMeasurements(candidate) ||
        (seriesOf(reference)?.length === 0 &&
          errorOf(candidate)?.endsWith('must be a tag value string') === true)),
  },
  {
    reason: 'top, bottom and sample do not descend there',
    concerns: (text) => /\b(top|bottom|sample)\(/.test(text) && /ORDER BY time DESC/.test(text),
    // The last of equal values are chosen then.
    explains: differOnlyIn({ rows: 'any-order', cells: (_column, index) => index !== 1 }),
  },
  {
    reason:
      'windows of an integral without a point of their own have no row there, and its groups come in random order',
    concerns: (text) =>
      /\bintegral\(/.test(text) && (/GROUP BY time\(/.test(text) || HAS_GROUPS.test(text)),
    explains: ({ text, reference, candidate }) => {
      const isInWindows = /GROUP BY time\(/.test(text);
      // In groups, the other calls stand in rows of their own there, and fill() fills what is left.
      const isFilled = HAS_GROUPS.test(text) && /fill\((?!null|none)/.test(text);
      // Calculations with calls that stand in other rows have no value there.
      const isCalculated = HAS_GROUPS.test(text) && INTEGRAL_CALCULATED.test(text);
      return agree(reference, candidate, {
        rows: 'merged',
        more: !isInWindows ? undefined : text.includes('LIMIT') ? 'both' : 'candidate',
        cells:
          isFilled || isCalculated ? (_column, index) => index > 0 : columnsOf('integral', text),
      });
    },
  },
  {
    reason: 'a query around windows of an integral sees those without a point of their own',
    concerns: (text) => /\(SELECT .*\bintegral\(/.test(text) && /GROUP BY time\(/.test(text),
    explains: ({ text, reference, candidate }) => {
      // Which rows `non_negative_` leaves out depends on all windows.
      const hasOtherRows = text.includes('non_negative_') || isInParts(reference);
      const isBoth = hasOtherRows && hasSameSeries(reference, candidate);
      return agree(reference, candidate, {
        rows: 'merged',
        more: text.includes('LIMIT') || isBoth ? 'both' : 'candidate',
        // Without windows of its own, a selector gives the time of another one.
        cells: (_column, index) => index > 0 || !outerClauses(text).includes('GROUP BY time('),
      });
    },
  },
  {
    reason: 'the reference server cannot write an infinite number as JSON',
    concerns: () => true,
    explains: ({ reference, candidate }) =>
      reference.body.includes('json: unsupported value') && errorOf(candidate) === undefined,
  },
  {
    reason: 'the reference server failed: its answer has no statement',
    concerns: () => true,
    explains: ({ reference, candidate }) =>
      reference.body.includes('"statement_id":-1') && errorOf(candidate) === undefined,
  },
  {
    reason:
      'the reference server fills the windows of a group anew whenever another group comes between',
    concerns: (text) => /\(SELECT .*GROUP BY .*fill\((previous|linear|-?\d)/.test(text),
    // Rows that appear several times leave more of them behind an offset or a function.
    explains: (compared) =>
      / OFFSET /.test(compared.text) || CALL_OF_CALLS.test(compared.text)
        ? areAnswers(compared)
        : sameSeries(compared),
  },
  {
    reason:
      'the reference server counts series for SLIMIT that have no rows, per shard, and in an order of its own',
    concerns: (text) => /SLIMIT|SOFFSET/.test(text),
    explains: areAnswers,
  },
  {
    reason: 'the reference server answers one row of each series for OFFSET alone',
    concerns: (text) => text.startsWith('SELECT') && /\bOFFSET/.test(text) && !/\bLIMIT/.test(text),
    explains: differOnlyIn({ rows: 'any-order', more: 'candidate' }),
  },
  {
    reason:
      'over a subquery, the reference server answers a group once per call when only a tag is read',
    concerns: (text) => /^SELECT (host|zone) FROM \(SELECT \w+\(\*/.test(text),
    explains: differOnlyIn({ rows: 'once-each' }),
  },
  {
    reason: 'of two errors in nested queries, the reference server reports another one',
    concerns: (text) => text.includes('(SELECT'),
    explains: ({ reference, candidate }) =>
      errorOf(reference) !== undefined && errorOf(candidate) !== undefined,
  },
  {
    reason:
      'the reference server puts calls beside each other in any order where groups are merged',
    concerns: (text) => SEVERAL_CALLS_IN_GROUPS.test(text),
    explains: (compared) =>
      selectsAsItIs(compared.text)
        ? agree(compared.reference, compared.candidate, { rows: 'columns' })
        : areAnswers(compared),
  },
  {
    reason: 'the reference server loses calls beside the one whose tags are told apart',
    concerns: (text) => SEVERAL_CALLS_TOLD_APART.test(text),
    // Sums of them have no rows then.
    explains: differOnlyIn({ cells: (_column, index) => index > 1, more: 'candidate' }),
  },
  {
    reason: 'of equally frequent values, the reference server selects any as the mode',
    concerns: (text) => text.includes('mode('),
    explains: (compared) =>
      /\(SELECT.*\bmode\(|\w\(mode\(/.test(compared.text)
        ? sameSeries(compared)
        : agree(compared.reference, compared.candidate, { cells: columnsOf('mode') }),
  },
  {
    reason: 'the reference server overlooks errors in columns of a subquery that nothing reads',
    concerns: (text) => text.includes('(SELECT'),
    explains: ({ reference, candidate }) =>
      errorOf(reference) === undefined && TYPE_ERROR.test(errorOf(candidate) ?? ''),
  },
  {
    reason: 'of equal values, the reference server selects any for a percentile',
    concerns: (text) => text.includes('percentile('),
    // The value is the same; its point, and what is selected beside it, may be others.
    explains: differOnlyIn({ cells: (_column, index) => index !== 1 }),
  },
  {
    reason: 'the reference server forgets a cast of a column that a wildcard of a subquery gave',
    concerns: (text) => /::\w+.* FROM \(SELECT (\*|\/)/.test(text),
    explains: sameSeries,
  },
  {
    reason:
      'the reference server reads what is no number (the root of a negative integer) as the smallest integer',
    concerns: (text) => /\w\(.*\(SELECT .*\b(sqrt|ln|log\w*|asin|acos|pow)\(/.test(text),
    // Without other columns there is no row here, or one from fill().
    explains: ({ text, reference, candidate }) =>
      agree(reference, candidate, {
        cells: (_column, index) => index > 0,
        more: text.includes('GROUP BY time(') ? 'both' : 'reference',
      }),
  },
  {
    reason:
      'the reference server answers windows out of order over points of top, bottom, sample or predictions in windows',
    concerns: (text) =>
      /FROM \(SELECT .*\b(top|bottom|sample|holt_winters\w*)\(.*GROUP BY .*\).* GROUP BY time\(/.test(
        text,
      ),
    explains: ({ text, reference, candidate }) =>
      agree(reference, candidate, {
        rows: 'once-each',
        cells: (_column, index) => index > 0,
        // It may answer an earlier window again in the place of another.
        more: CALL_OF_CALLS.test(text.slice(0, text.indexOf('(SELECT'))) ? 'both' : 'candidate',
      }),
  },
  {
    reason: 'what is no number (a deviation of one value) is another value there each time',
    concerns: (text) => /\bdistinct\b/i.test(text) && NOT_A_NUMBER.test(text),
    explains: differOnlyIn({ rows: 'once-each', cells: columnsOf('count') }),
  },
  {
    reason:
      'over a subquery, the reference server answers the groups of an integral in random order',
    concerns: (text) => /\(SELECT .*\bintegral\(.*GROUP BY (?!time)/.test(text),
    explains: differOnlyIn({ rows: 'any-order' }),
  },
  {
    reason:
      'the reference server orders rows by the groups of the innermost subquery, also where one between has others',
    concerns: (text) =>
      /\(SELECT [^(]*( FROM|\/ FROM) \(SELECT \w+\(.*GROUP BY .*GROUP BY /.test(text),
    explains: differOnlyIn({ rows: 'any-order' }),
  },
  {
    reason: 'in a subquery, the reference server fills columns of texts with numbers',
    concerns: (text) =>
      /\(SELECT (.*, )?(\w+\()?(s|b|host|zone)(, \d+)?\)? AS \w.*fill\(-?\d/.test(text),
    explains: areAnswers,
  },
  {
    reason:
      "the reference server's index in memory knows no shards: GROUP BY a pattern finds tags of all of them (its index on disk does not)",
    concerns: (text) => /GROUP BY .*(\*|\/)/.test(text),
    explains: ({ reference, candidate }) =>
      agree(withoutEmptyTags(reference), withoutEmptyTags(candidate), {}),
  },
  {
    reason: 'points are sampled in any order there, over a subquery and in one',
    concerns: (text) => /\bsample\(/.test(text) && text.includes('(SELECT '),
    explains: differOnlyIn({ rows: 'any-order' }),
  },
  {
    reason:
      'predictions are what a search ends at; behind a group without one, the reference server has no others',
    concerns: (text) => /\bholt_winters\w*\(/.test(text),
    explains: (compared) => {
      const { text, reference, candidate } = compared;
      // Which of these have a row depends on what is predicted.
      if (/non_negative_\w+\(\w+.*\(SELECT .*holt_winters/.test(text)) return sameSeries(compared);
      return agree(reference, candidate, {
        cells: columnsOf('holt_winters', text),
        more: HAS_GROUPS.test(text) ? 'candidate' : undefined,
      });
    },
  },
  {
    reason:
      'of several subqueries, the reference server gives a column the type that it has in each, and a call nothing when the first lacks its column',
    concerns: (text) => /\), \(SELECT /.test(text),
    explains: ({ text, reference, candidate }) => {
      const refused = errorOf(reference) ?? '';
      const isConflict = / INTO /.test(text) && /field type conflict/.test(refused);
      if (isConflict || /^unsupported \w+ iterator type/.test(refused)) {
        return errorOf(candidate) === undefined;
      }
      // With fill(none), windows in which only such a call has a value are rows here alone.
      return agree(reference, candidate, {
        cells: (_column, index) => index > 0,
        more: 'candidate',
      });
    },
  },
  {
    reason: 'what a subquery reads as a field, though it is a tag, is a tag to calculations there',
    concerns: (text) => /\(SELECT .*\b(host|zone)::field\b/.test(text),
    explains: ({ reference, candidate }) =>
      /incompatible types: (tag|\w+ and tag)|invalid argument type .*: tag$/.test(
        errorOf(reference) ?? '',
      ) && errorOf(candidate) === undefined,
  },
  {
    reason: 'the reference server counts the fields of the shards that have series of the group',
    concerns: (text) => /^SHOW FIELD KEY\b.* GROUP BY /.test(text),
    explains: differOnlyIn({ cells: (_column, index) => index === 0 }),
  },
  {
    reason:
      'of a field that does not exist, the reference server finds the number of fill() only beside other columns',
    concerns: (text) => /\(SELECT (.*, )?[a-z]+ AS \w.*fill\(-?\d/.test(text),
    explains: ({ reference, candidate }) =>
      seriesOf(reference)?.length === 0 && seriesOf(candidate) !== undefined,
  },
  {
    reason: 'the reference server sorts what is no number (the deviation of one value) as it comes',
    concerns: (text) => /\b(median|percentile)\(/.test(text) && NOT_A_NUMBER.test(text),
    explains: sameSeries,
  },
  {
    reason:
      "the reference server's index in memory knows no shards: with a time it lists tags of all of them (its index on disk does not)",
    concerns: (text) => /^SHOW TAG (KEYS|VALUES) .*\btime\b/.test(text),
    explains: (compared) =>
      / (LIMIT|OFFSET) /.test(compared.text)
        ? areAnswers(compared)
        : agree(compared.reference, compared.candidate, { more: 'reference' }),
  },
  {
    reason:
      "the reference server's index in memory knows no shards: a tag that the measurement has only outside of the range still has a type there (in its index on disk it has not)",
    concerns: (text) => /\(SELECT .*\b(host|zone)\b.* FROM/.test(text),
    explains: ({ reference, candidate }) =>
      /^unsupported \w+( \w+)* iterator type: \*query\.string/.test(errorOf(reference) ?? '') &&
      readAnswer(candidate)?.series.length === 0,
  },
  {
    reason:
      'the reference server keeps a series without points whose key begins the key of another one',
    concerns: (text) => /^SHOW SERIES\b(?!.*CARDINALITY)/.test(text),
    explains: ({ reference, candidate }) => {
      const theirs = keysOf(reference);
      const ours = new Set(keysOf(candidate));
      const others = theirs.filter((key) => !ours.has(key));
      return (
        others.length > 0 &&
        theirs.length - others.length === ours.size &&
        others.every((key) => theirs.some((each) => each !== key && each.startsWith(key)))
      );
    },
  },
  {
    reason: 'over a subquery, the reference server takes a missing boolean for false',
    concerns: (text) => /FROM \(SELECT .*\) WHERE .*\bb = false/.test(text),
    explains: areAnswers,
  },
];

function withoutEmptyTags({ status, body }: Answer): Answer {
  const shorter = body.replace(/"tags":\{[^}]*\}/g, (tags) =>
    tags.replace(/,"\w+":""|"\w+":"",?/g, ''),
  );
  return { status, body: shorter.replaceAll('"tags":{},', '') };
}

/** The first column of every row. */
function keysOf(answer: Answer): readonly string[] {
  return (seriesOf(answer) ?? []).flatMap(({ rows }) => rows.map(([key]) => String(key)));
}

/** Measurements of the data in their order, each once. */
function isListOfMeasurements(answer: Answer): boolean {
  const names = seriesOf(answer)?.flatMap(({ rows }) => rows.map(([name]) => name));
  return (
    names !== undefined &&
    names.join() === MEASUREMENTS.filter((name) => names.includes(name)).join()
  );
}

/** Why a difference is not counted, `undefined` when it is. */
export function excuseFor(compared: Compared): string | undefined {
  const { text } = compared;
  return EXCUSES.find((excuse) => excuse.concerns(text) && excuse.explains(compared))?.reason;
}

/** The excuses that concern a statement, whatever the answers, for reviewing a difference. */
export function concerning(text: string): readonly string[] {
  return EXCUSES.filter((excuse) => excuse.concerns(text)).map(({ reason }) => reason);
}
