// Runs a text so that charts show whole lines of all series: windows are never shorter than the
// step of the data, and the limit of rows is shared by all series instead of ending with the first.
import { parseQuery, printStatement } from '@tidemark/influxql';
import type { SelectStatement } from '@tidemark/influxql';

import type { QueryAnswer, QueryCursor } from '../api/query-stream.ts';
import { stepOf } from '../charts/gaps.ts';
import { chartOf } from './frames.ts';
import { durationOf, expandMacros, millisecondsOf, usesInterval, widthFrom } from './macros.ts';
import { outlineOfSelect, unfolded } from './outline.ts';
import { readingOf } from './read-only.ts';

export type Fit = {
  /** With macros, which are filled in for the span. */
  readonly text: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** The shortest interval wanted, as a literal of the language. */
  readonly interval: string;
  /** What the text is about, for what is remembered of it: database and range. */
  readonly key: string;
  readonly rowsMax: number;
  /** Reads the smallest and largest value of each interval instead of all points. */
  readonly isReduced?: boolean | undefined;
};

/** What an answer lacks: each series has been cut after so many rows. */
export type Cut = { readonly rowsEach: number; readonly seriesCount: number };

export type Fitted = {
  readonly answer: QueryAnswer;
  readonly text: string;
  /** For more rows. */
  readonly cursor: QueryCursor;
  readonly cut?: Cut | undefined;
  /** Whether `isReduced` would draw all of it. */
  readonly isReducible: boolean;
};

/** What was found out about a text, so that a refresh is one query. */
type Known = { readonly interval?: string | undefined; readonly seriesCount?: number | undefined };

const KNOWN_MAX = 500;
const known = new Map<string, Known>();

/** Windows this much shorter than the step leave gaps that no line bridges. */
const STEP_TOLERANCE = 1.4;
/** A measured step may be a little more than the true one. */
const STEP_ROUNDING = 0.98;
/** Windows are aligned, so that there may be one more than fit into the span. */
const ROOM = 1.05;
/** Nobody looks at more lines. */
const SERIES_MAX = 20_000;

/** `open` sends a text. All cursors but the one in the answer have been cancelled. */
export async function readFitted(fit: Fit, open: (text: string) => QueryCursor): Promise<Fitted> {
  const key = JSON.stringify([fit.key, fit.text, fit.isReduced === true]);
  let found = known.get(key) ?? {};
  const learn = (more: Known): void => {
    found = { ...found, ...more };
    known.delete(key);
    known.set(key, found);
    const [oldest] = known.keys();
    if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest);
  };
  let fitted = await readOnce(fit, found, open);
  if ('refusal' in readingOf(fit.text)) return fitted;
  const hasInterval = usesInterval(fit.text);
  if (hasInterval) {
    const step = stepOfAnswer(fitted.answer);
    if (step !== undefined && step > intervalMs(fit, found) * STEP_TOLERANCE) {
      learn({ interval: durationOf(widthFrom(step * STEP_ROUNDING)) });
      fitted.cursor.cancel();
      fitted = await readOnce(fit, found, open);
    }
  }
  const selects = selectsOf(textOf(fit, found));
  if (!fitted.answer.hasMore || selects === undefined) return fitted;
  const counter = open(limited(selects, 1));
  const counted = await counter.read(SERIES_MAX);
  counter.cancel();
  const seriesCount = counted.statements.reduce((sum, { series }) => sum + series.length, 0);
  if (hasInterval || fit.isReduced === true) {
    const rows = (seriesCount * (fit.toMs - fit.fromMs)) / intervalMs(fit, found);
    const share = rows / fit.rowsMax;
    learn({ interval: durationOf(widthFrom(intervalMs(fit, found) * Math.max(1, share) * ROOM)) });
  } else if (seriesCount > 1) learn({ seriesCount });
  else return fitted;
  fitted.cursor.cancel();
  return readOnce(fit, found, open);
}

/** Sends the text in the form that is known to fit. */
async function readOnce(
  fit: Fit,
  found: Known,
  open: (text: string) => QueryCursor,
): Promise<Fitted> {
  const text = textOf(fit, found);
  const selects = selectsOf(text);
  const ms = intervalMs(fit, found);
  const outlines = selects?.flatMap((select) => outlineOfSelect(select, ms) ?? []) ?? [];
  const isReducible = outlines.length > 0 && outlines.length === selects?.length;
  if (fit.isReduced === true && isReducible) {
    const reduced = outlines.map((select) => printStatement(select)).join('; ');
    const cursor = open(reduced);
    const answer = await cursor.read(fit.rowsMax);
    const statements = answer.statements.map((statement) => unfolded(statement, ms));
    return { text: reduced, answer: { ...answer, statements }, cursor, isReducible };
  }
  const { seriesCount } = found;
  if (seriesCount === undefined || selects === undefined) {
    const cursor = open(text);
    return { text, answer: await cursor.read(fit.rowsMax), cursor, isReducible };
  }
  const rowsEach = Math.max(1, Math.floor(fit.rowsMax / seriesCount));
  const cutText = limited(selects, rowsEach);
  const cursor = open(cutText);
  const answer = await cursor.read(fit.rowsMax);
  return { text: cutText, answer, cursor, cut: { rowsEach, seriesCount }, isReducible };
}

/** The interval in use: what is wanted, or longer if that was found necessary. */
const intervalMs = ({ interval }: Fit, found: Known): number =>
  Math.max(millisecondsOf(interval), millisecondsOf(found.interval ?? '0ms'));

function textOf(fit: Fit, found: Known): string {
  const { text, fromMs, toMs } = fit;
  return expandMacros(text, { fromMs, toMs, interval: durationOf(intervalMs(fit, found)) }).text;
}

/** Queries whose rows we may limit; `undefined` if the text has anything else. */
function selectsOf(text: string): readonly SelectStatement[] | undefined {
  const { query, error } = parseQuery(text);
  const selects = query.statements.filter(
    (statement): statement is SelectStatement =>
      statement.kind === 'select' &&
      statement.into === undefined &&
      statement.limit === undefined &&
      statement.offset === undefined &&
      statement.seriesLimit === undefined,
  );
  return error === undefined && selects.length === query.statements.length ? selects : undefined;
}

/** LIMIT is of each series. */
const limited = (selects: readonly SelectStatement[], limit: number): string =>
  selects.map((select) => printStatement({ ...select, limit: BigInt(limit) })).join('; ');

/** The smallest step of its lines. */
function stepOfAnswer({ statements }: QueryAnswer): number | undefined {
  const steps = statements.flatMap((statement) =>
    chartOf(statement).series.flatMap((line) => stepOf(line) ?? []),
  );
  return steps.length === 0 ? undefined : steps.reduce((least, step) => Math.min(least, step));
}
