// Differences that are wanted: defects of the reference server which are not copied. Each is named
// in docs/compat/differences.md or in the reference pages.
import type { Answer } from './server.ts';

export type Compared = {
  readonly text: string;
  readonly reference: Answer;
  readonly candidate: Answer;
  /** The first difference, `$.path: one against the other`. */
  readonly what: string | undefined;
};

/** A subquery of several calls, or of one for several fields, with tags in its GROUP BY. */
const SEVERAL_CALLS_IN_GROUPS =
  /\(SELECT (\w+\((\*|\/).*|.*\w\(.*[-,+*/%&|^] \w+\(.*)GROUP BY (time\([^)]*\), |(?!time))/;

type Excuse = { readonly reason: string; readonly applies: (compared: Compared) => boolean };

/** More than one group: several tags, or several measurements. */
const HAS_GROUPS = /GROUP BY (?!time)|GROUP BY time\([^)]*\), |FROM \/|FROM m, n/;

const EXCUSES: readonly Excuse[] = [
  {
    reason: 'SHOW MEASUREMENTS asks there about measurements, here about their series',
    applies: ({ text }) => /^SHOW MEASUREMENTS\b.*\bWHERE\b/.test(text),
  },
  {
    reason: 'top, bottom and sample do not descend there',
    applies: ({ text }) => /\b(top|bottom|sample)\(/.test(text) && /ORDER BY time DESC/.test(text),
  },
  {
    reason: 'windows of an integral without a point of their own have no row there',
    applies: ({ text }) => /\bintegral\(/.test(text) && /GROUP BY time\(/.test(text),
  },
  {
    reason: 'the reference server can not write an infinite number as JSON',
    applies: ({ reference }) => reference.body.includes('json: unsupported value'),
  },
  {
    reason: 'the reference server failed: its answer has no statement',
    applies: ({ reference }) => reference.body.includes('"statement_id":-1'),
  },
  {
    reason: 'abs() of a negative integer stays negative there',
    applies: ({ text }) => /\babs\(/.test(text),
  },
  {
    reason:
      'the reference server fills the windows of a group anew whenever another group comes between',
    applies: ({ text }) => /\(SELECT .*GROUP BY .*fill\((previous|linear|-?\d)/.test(text),
  },
  {
    reason:
      'the reference server counts series for SLIMIT that have no rows, per shard, and in an order of its own',
    applies: ({ text }) => /SLIMIT|SOFFSET/.test(text),
  },
  {
    reason: 'the reference server answers one row of each series for OFFSET alone',
    applies: ({ text }) => /\bOFFSET/.test(text) && !/\bLIMIT.*OFFSET/.test(text),
  },
  {
    reason:
      'over a subquery, the reference server answers a group once per call when only a tag is read',
    applies: ({ text }) => /^SELECT (host|zone) FROM \(SELECT \w+\(\*/.test(text),
  },
  {
    reason: 'of two errors in nested queries, the reference server reports another one',
    applies: ({ text, reference, candidate }) =>
      text.includes('(SELECT') &&
      reference.body.includes('"error"') &&
      candidate.body.includes('"error"'),
  },
  {
    reason:
      'the reference server puts calls beside each other in any order where groups are merged',
    applies: ({ text }) => SEVERAL_CALLS_IN_GROUPS.test(text),
  },
  {
    reason: 'of equally frequent values, the reference server selects any as the mode',
    applies: ({ text, what }) =>
      /\w\(mode\(/.test(text) ||
      (text.includes('mode(') && /values\[\d+\]\[(?!0\])/.test(what ?? '')),
  },
  {
    reason: 'a cast to text or boolean in a subquery renames the type there and keeps the number',
    applies: ({ text }) => /\(SELECT .*::(string|boolean)/.test(text),
  },
  {
    reason: 'the reference server overlooks errors in columns of a subquery that nothing reads',
    applies: ({ text, reference, candidate }) =>
      text.includes('(SELECT') &&
      !reference.body.includes('"error"') &&
      /"error":"(type error: |unsupported \w+( \w+)* iterator type)/.test(candidate.body),
  },
  {
    reason: 'the reference server gives the groups of an integral in random order',
    applies: ({ text }) => text.includes('integral(') && HAS_GROUPS.test(text),
  },
  {
    reason: 'over a subquery, the reference server stamps an integral with the start of the range',
    applies: ({ text }) => text.includes('integral(') && text.includes('(SELECT'),
  },
  {
    reason: 'of equal values, the reference server selects any for a percentile',
    applies: ({ text, what }) =>
      text.includes('percentile(') && /values\[\d+\]\[(?!1\])/.test(what ?? ''),
  },
  {
    reason: 'the reference server forgets a cast of a column that a wildcard of a subquery gave',
    applies: ({ text }) => /::\w+.* FROM \(SELECT (\*|\/)/.test(text),
  },
  {
    reason:
      'the reference server reads what is no number (the root of a negative integer) as the smallest integer',
    applies: ({ text }) => /\w\(.*\(SELECT .*\bsqrt\(/.test(text),
  },
  {
    reason:
      'the reference server answers windows out of order over points of top, bottom or sample in windows',
    applies: ({ text }) =>
      /FROM \(SELECT .*\b(top|bottom|sample)\(.*GROUP BY time\(.*\).* GROUP BY time\(/.test(text),
  },
  {
    reason: 'the reference server sorts what is no number (the deviation of one value) as it comes',
    applies: ({ text }) => /\b(median|percentile)\(.*\(SELECT .*\bstddev\(/.test(text),
  },
  {
    reason:
      "the reference server's index in memory knows no shards: with a time it lists tags of all of them (its index on disk does not)",
    applies: ({ text }) => /^SHOW TAG (KEYS|VALUES) .*\btime\b/.test(text),
  },
  {
    reason:
      "the reference server's index in memory knows no shards: a tag that the measurement has only outside of the range still has a type there (in its index on disk it has not)",
    applies: ({ text, reference, candidate }) =>
      /\(SELECT .*\b(host|zone)\b.* FROM/.test(text) &&
      /"error":"unsupported \w+ iterator type: \*query\.string/.test(reference.body) &&
      !candidate.body.includes('"error"'),
  },
  {
    reason: 'over a subquery, the reference server takes a missing boolean for false',
    applies: ({ text }) => /FROM \(SELECT .*\) WHERE .*\bb = false/.test(text),
  },
];

/** Why a difference is not counted, `undefined` when it is. */
export function excuseFor(compared: Compared): string | undefined {
  return EXCUSES.find((excuse) => excuse.applies(compared))?.reason;
}
