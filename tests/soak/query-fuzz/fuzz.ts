// The loop: data into both servers, statements to both, answers compared, differences made small
// and reported.
import { printStatement } from '@tidemark/influxql';
import type { Statement } from '@tidemark/influxql';

import { firstDifference } from './compare.ts';
import { DATABASE, randomLines } from './data.ts';
import { excuseFor } from './excuses.ts';
import type { Compared } from './excuses.ts';
import { Random } from './random.ts';
import { shrink } from './shrink.ts';
import type { FuzzCase } from './shrink.ts';
import type { Answer } from './server.ts';

/** What the loop needs of a server. */
export interface FuzzServer {
  load(lines: readonly string[]): Promise<void>;
  query(text: string): Promise<Answer>;
}

export type FuzzOptions = {
  readonly reference: FuzzServer;
  readonly candidate: FuzzServer;
  readonly seed: number;
  /** Stops when this says so; asked before every statement. */
  readonly isOver: () => boolean;
  readonly randomStatement: (random: Random) => Statement;
  /** Statements per data set. */
  readonly statementsPerRound: number;
  readonly onDifference: (found: Difference) => void;
};

export type Difference = {
  readonly seed: number;
  /** The statement as it was drawn; `text` is what is left of it. */
  readonly drawn: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly what: string;
  readonly reference: Answer;
  readonly candidate: Answer;
};

export type FuzzReport = {
  readonly rounds: number;
  readonly statements: number;
  /** Answers of the reference server that had rows. */
  readonly withRows: number;
  readonly differences: number;
  readonly excused: number;
};

/** Runs until `isOver`. Every round has a seed of its own, which is named in what it finds. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const counts = { rounds: 0, statements: 0, withRows: 0, differences: 0, excused: 0 };
  const seen = new Set<string>();
  while (!options.isOver()) {
    const seed = options.seed + counts.rounds++;
    const random = new Random(seed);
    const lines = randomLines(random);
    await loadBoth(options, lines);
    for (let k = 0; k < options.statementsPerRound && !options.isOver(); k++) {
      const statement = options.randomStatement(random);
      const outcome = await compare(options, statement);
      counts.statements++;
      if (outcome.reference.body.includes('"series"')) counts.withRows++;
      if (outcome.what === undefined) continue;
      if (excuseFor(outcome) !== undefined) {
        counts.excused++;
        continue;
      }
      counts.differences++;
      const found = await smallest(options, { lines, statement });
      // Which of two errors the reference server reports varies from one time to the next.
      if (found.what === '') {
        counts.differences--;
        counts.excused++;
        await loadBoth(options, lines);
        continue;
      }
      const signature = signatureOf(found.text);
      if (!seen.has(signature)) options.onDifference({ seed, drawn: outcome.text, ...found });
      seen.add(signature);
      await loadBoth(options, lines);
    }
  }
  return counts;
}

/**
 * A case in the form of tests/compat/*.jsonl, with the reference server's answer as what is wanted.
 */
export function asRecordedCase(found: Difference): string {
  const { body } = found.reference;
  return JSON.stringify({
    group: 'fuzz',
    setup: [`CREATE DATABASE ${DATABASE}`],
    writes: found.lines.length === 0 ? [] : [{ db: DATABASE, precision: 's', lines: found.lines }],
    request: { method: 'GET', path: '/query', params: { db: DATABASE, q: found.text } },
    status: found.reference.status,
    body: parsed(body) ?? body,
    raw: body,
  });
}

type Outcome = Compared & {
  /** The first difference, `$.path: one against the other`. */
  readonly what: string | undefined;
};

async function compare(options: FuzzOptions, statement: Statement): Promise<Outcome> {
  const text = printStatement(statement);
  const [reference, candidate] = await Promise.all([
    options.reference.query(text),
    options.candidate.query(text),
  ]);
  const what =
    reference.status === candidate.status
      ? firstDifference(reference.body, candidate.body)
      : `status: ${reference.status} against ${candidate.status}`;
  return { text, reference, candidate, what };
}

async function smallest(
  options: FuzzOptions,
  start: FuzzCase,
): Promise<Omit<Difference, 'seed' | 'drawn'>> {
  let loaded: readonly string[] | undefined;
  const outcomeOf = async (one: FuzzCase): Promise<Outcome> => {
    if (loaded !== one.lines) await loadBoth(options, one.lines);
    loaded = one.lines;
    return compare(options, one.statement);
  };
  const isRefusal = hasError(await outcomeOf(start));
  const found = await shrink(start, async (smaller) => {
    const outcome = await outcomeOf(smaller);
    if (outcome.what === undefined || excuseFor(outcome) !== undefined) return false;
    // A difference between two messages is another finding than one between two answers.
    return hasError(outcome) === isRefusal;
  });
  const { text, reference, candidate, what = '' } = await outcomeOf(found);
  return { text, lines: found.lines, what, reference, candidate };
}

function hasError({ reference, candidate }: Outcome): boolean {
  return reference.body.includes('"error"') || candidate.body.includes('"error"');
}

async function loadBoth(options: FuzzOptions, lines: readonly string[]): Promise<void> {
  await Promise.all([options.reference.load(lines), options.candidate.load(lines)]);
}

/** Two findings with the same signature are most probably the same one. */
function signatureOf(text: string): string {
  return text
    .replace(/\d+(\.\d+)?/g, '1')
    .replace(/'[^']*'/g, "''")
    .replace(/\b[fgi]\b/g, 'f');
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Kept as the text that it is.
    return undefined;
  }
}
