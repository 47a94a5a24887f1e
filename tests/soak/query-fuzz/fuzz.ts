// The loop: writes data to both servers, sends statements to both, compares the results, and
// shrinks and reports differences.
import { printStatement } from '@tidemark/influxql';
import type { SelectStatement, Statement } from '@tidemark/influxql';

import { deleteChain, intoChain, writeChain, WRITE } from './chains.ts';
import { firstDifference } from './compare.ts';
import { DATABASE, randomLines } from './data.ts';
import { excuseFor } from './excuses.ts';
import type { Compared } from './excuses.ts';
import { Random } from './random.ts';
import { shrink, smallerLines } from './shrink.ts';
import type { FuzzCase } from './shrink.ts';
import type { Answer } from './server.ts';
import { variantOf } from './variants.ts';
import { PLAIN, randomWay } from './ways.ts';
import { isRequestLost } from './write-errors.ts';
import type { Way } from './ways.ts';

/** The part of a server that the loop uses. */
export interface FuzzServer {
  load(lines: readonly string[]): Promise<void>;
  query(text: string, way?: Way): Promise<Answer>;
  write(body: string): Promise<Answer>;
}

export type FuzzOptions = {
  readonly reference: FuzzServer;
  readonly candidate: FuzzServer;
  readonly seed: number;
  /** Stops when this says so; asked before every statement. */
  readonly isOver: () => boolean;
  /** A data set; `randomLines` when absent. */
  readonly randomLines?: ((random: Random) => readonly string[]) | undefined;
  readonly randomStatement: (random: Random) => Statement;
  /** Statements drawn per data set. */
  readonly statementsPerRound: number;
  readonly onDifference: (found: Difference) => void;
  /** Milliseconds that pass. */
  readonly now: () => number;
};

export type Difference = {
  readonly seed: number;
  /** The statement as it was drawn; `text` is what is left of it. */
  readonly drawn: string;
  readonly text: string;
  /** Statements that have to be asked before it. */
  readonly after: readonly string[];
  /** Other than plainly (`ways.ts`). */
  readonly way?: Way | undefined;
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

/** The candidate is slow above this time and this multiple of the reference's. */
const SLOW_MS = 1000;
const SLOW_TIMES = 5;
const SLOW_TURNS = 3;

/** Other statements of the same form that follow one, each asked once. */
const VARIANTS = 2;

/** Runs until `isOver`. Every round has a seed of its own, which is named in what it finds. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const run = new FuzzRun(options);
  for (let seed = options.seed; !options.isOver(); seed++) await run.round(seed);
  return run.counts;
}

class FuzzRun {
  readonly #options: FuzzOptions;
  readonly #seen = new Set<string>();
  readonly counts = { rounds: 0, statements: 0, withRows: 0, differences: 0, excused: 0 };
  #seed = 0;
  #lines: readonly string[] = [];

  constructor(options: FuzzOptions) {
    this.#options = options;
  }

  async round(seed: number): Promise<void> {
    const { randomStatement, statementsPerRound, isOver } = this.#options;
    const linesOf = this.#options.randomLines ?? randomLines;
    const random = new Random(seed);
    this.counts.rounds++;
    this.#seed = seed;
    this.#lines = linesOf(random);
    await this.#load(this.#lines);
    for (let k = 0; k < statementsPerRound && !isOver(); k++) {
      const statement = randomStatement(random);
      // Apart, so that what is drawn does not depend on answers.
      const further = new Random(seed * statementsPerRound + k);
      const answer = await this.#agreed(statement, []);
      if (answer !== undefined) await this.#askFurther(further, statement, answer);
    }
    if (random.chance(0.2) && !isOver()) await this.#askChain(deleteChain(random));
    if (random.chance(0.2) && !isOver()) await this.#askChain(writeChain(random));
  }

  /** Asks what the servers agree about in other ways, in other forms, and into a measurement. */
  async #askFurther(random: Random, statement: Statement, { body }: Answer): Promise<void> {
    // A failing statement has no number in MessagePack there, integrals vary, and chunks go on
    // behind one with an infinite number.
    const isSteady =
      !/"error"|unsupported value/.test(body) && !printStatement(statement).includes('integral(');
    if (random.chance(0.3) && isSteady) {
      await this.#askOtherwise(random, statement);
    }
    if (random.chance(0.3)) {
      const before = [printStatement(statement)];
      for (let k = 0; k < VARIANTS; k++) {
        const variant = variantOf(random, statement);
        if ((await this.#agreed(variant, before)) === undefined) return;
        before.push(printStatement(variant));
      }
    }
    if (statement.kind === 'select' && isStorable(statement, body) && random.chance(0.06)) {
      await this.#askChain(intoChain(statement));
    }
  }

  /** The answer when both servers give the same text. Reports a difference that is not wanted. */
  async #agreed(statement: Statement, before: readonly string[]): Promise<Answer | undefined> {
    const outcome = await this.#compare(printStatement(statement));
    const { reference, candidate, what } = outcome;
    this.#count(outcome);
    if (what === undefined) return reference.body === candidate.body ? reference : undefined;
    if (excuseFor(outcome) !== undefined) {
      this.counts.excused++;
      return undefined;
    }
    const start = { lines: this.#lines, statement };
    const found = (await this.#smallest(start)) ?? (await this.#repeated(before, outcome.text));
    // Which of two errors the reference server reports varies between runs.
    if (found === undefined) this.counts.excused++;
    else this.#report({ ...found, drawn: outcome.text });
    await this.#load(this.#lines);
    return undefined;
  }

  /** Formats must say the same to the byte where the plain answers do. */
  async #askOtherwise(random: Random, statement: Statement): Promise<void> {
    const drawn = printStatement(statement);
    const { text, way } = randomWay(random, drawn);
    const outcome = await this.#compare(text, way);
    this.#count(outcome);
    if (outcome.what === undefined) return;
    const found = await this.#repeated([], text, way);
    if (found !== undefined) this.#report({ ...found, drawn, way });
    await this.#load(this.#lines);
  }

  async #askChain(texts: readonly string[]): Promise<void> {
    for (const [i, text] of texts.entries()) {
      const outcome = await this.#compare(text);
      this.#count(outcome);
      if (text.startsWith(WRITE) && isRequestLost(outcome.reference)) break;
      if (!isFinding(outcome)) continue;
      const found = await this.#repeated(texts.slice(0, i), text);
      if (found !== undefined) this.#report({ ...found, drawn: text });
      break;
    }
    await this.#load(this.#lines);
  }

  /** The smallest case that differs by itself; `undefined` when it does not differ again. */
  async #smallest(start: FuzzCase): Promise<Found | undefined> {
    let loaded: readonly string[] | undefined;
    const outcomeOf = async (one: FuzzCase): Promise<Outcome> => {
      if (loaded !== one.lines) await this.#load(one.lines);
      loaded = one.lines;
      return this.#compare(printStatement(one.statement));
    };
    const isRefusal = hasError(await outcomeOf(start));
    const { lines, statement } = await shrink(start, async (smaller) => {
      const outcome = await outcomeOf(smaller);
      if (!isFinding(outcome)) return false;
      // A difference between two messages is another finding than one between two answers.
      return hasError(outcome) === isRefusal;
    });
    const outcome = await outcomeOf({ lines, statement });
    return isFinding(outcome) ? { ...outcome, lines, after: [] } : undefined;
  }

  /** The difference that the last statement has behind the others, with fewer points. */
  async #repeated(after: readonly string[], last: string, way?: Way): Promise<Found | undefined> {
    const outcomeOf = async (lines: readonly string[]): Promise<Outcome> => {
      await this.#load(lines);
      for (const text of after) await this.#compare(text);
      return this.#compare(last, way);
    };
    const lines = await smallerLines(this.#lines, async (fewer) =>
      isFinding(await outcomeOf(fewer), way),
    );
    const outcome = await outcomeOf(lines);
    return isFinding(outcome, way) ? { ...outcome, lines, after } : undefined;
  }

  #report(found: Found & Pick<Difference, 'drawn' | 'way'>): void {
    this.counts.differences++;
    const signature = signatureOf([...found.after, found.text].join('; '));
    if (!this.#seen.has(signature)) this.#options.onDifference({ seed: this.#seed, ...found });
    this.#seen.add(signature);
  }

  async #compare(text: string, way?: Way): Promise<Outcome> {
    const ask = (server: FuzzServer): Promise<Answer> =>
      text.startsWith(WRITE) ? server.write(text.slice(WRITE.length)) : server.query(text, way);
    const [reference, candidate] = await Promise.all([
      this.#timed(() => ask(this.#options.reference)),
      this.#timed(() => ask(this.#options.candidate)),
    ]);
    const what = differenceOf(reference.answer, candidate.answer, way);
    const outcome = { text, reference: reference.answer, candidate: candidate.answer };
    if (what !== undefined || !isSlow(reference.ms, candidate.ms)) return { ...outcome, what };
    return { ...outcome, what: await this.#slowness(ask) };
  }

  /** How much slower the candidate is, asked alone and again, so that it is not a busy machine. */
  async #slowness(ask: (server: FuzzServer) => Promise<Answer>): Promise<string | undefined> {
    let text: string | undefined;
    for (let turn = 0; turn < SLOW_TURNS; turn++) {
      const reference = await this.#timed(() => ask(this.#options.reference));
      const candidate = await this.#timed(() => ask(this.#options.candidate));
      if (!isSlow(reference.ms, candidate.ms)) return undefined;
      text = `slow: ${reference.ms.toFixed(0)} ms against ${candidate.ms.toFixed(0)} ms`;
    }
    return text;
  }

  async #timed(
    ask: () => Promise<Answer>,
  ): Promise<{ readonly answer: Answer; readonly ms: number }> {
    const start = this.#options.now();
    const answer = await ask();
    return { answer, ms: this.#options.now() - start };
  }

  #count({ reference }: Outcome): void {
    this.counts.statements++;
    if (reference.body.includes('"series"')) this.counts.withRows++;
  }

  async #load(lines: readonly string[]): Promise<void> {
    const { reference, candidate } = this.#options;
    await Promise.all([reference.load(lines), candidate.load(lines)]);
  }
}

/**
 * A case in the form of tests/compat/*.jsonl, with the reference server's answer as what is wanted.
 */
export function asRecordedCase(found: Difference): string {
  const { body } = found.reference;
  const { parameters, accept } = found.way ?? PLAIN;
  const request = (q: string) =>
    q.startsWith(WRITE)
      ? {
          method: 'POST',
          path: '/write',
          params: { db: DATABASE, precision: 's' },
          body: q.slice(WRITE.length),
          mayFail: true,
        }
      : {
          method: /\bINTO\b/.test(q) || !/^(SELECT|SHOW)/.test(q) ? 'POST' : 'GET',
          path: '/query',
          params: { db: DATABASE, q },
        };
  const last = request(found.text);
  return JSON.stringify({
    group: 'fuzz',
    setup: [`CREATE DATABASE ${DATABASE}`],
    writes: found.lines.length === 0 ? [] : [{ db: DATABASE, precision: 's', lines: found.lines }],
    pre: found.after.length === 0 ? undefined : found.after.map(request),
    request: {
      ...last,
      params: { ...last.params, ...parameters },
      headers: accept === undefined ? undefined : { Accept: accept },
    },
    status: found.reference.status,
    body: parsed(body) ?? body,
    raw: body,
  });
}

type Outcome = Compared & {
  /** The first difference, `$.path: one against the other`. */
  readonly what: string | undefined;
};

type Found = Compared & Pick<Difference, 'what' | 'lines' | 'after'>;

/**
 * Whether a difference counts. What the reference server says varies from one time to the next, so
 * that an answer may be excused where the one before was not. In other formats nothing is excused.
 */
function isFinding(outcome: Outcome, way?: Way): outcome is Outcome & { readonly what: string } {
  return outcome.what !== undefined && (way !== undefined || excuseFor(outcome) === undefined);
}

function isSlow(referenceMs: number, candidateMs: number): boolean {
  return candidateMs > SLOW_MS && candidateMs > referenceMs * SLOW_TIMES;
}

function differenceOf(
  reference: Answer,
  candidate: Answer,
  way: Way | undefined,
): string | undefined {
  if (reference.status !== candidate.status) {
    return `status: ${reference.status} against ${candidate.status}`;
  }
  if (way === undefined) return firstDifference(reference.body, candidate.body);
  const [a, b] = [reference.body.trim().split('\n'), candidate.body.trim().split('\n')];
  const line = a.findIndex((one, i) => one !== b[i]);
  if (line < 0 && a.length === b.length) return undefined;
  return `line ${line}: ${a[line]} against ${b[line]}`.slice(0, 400);
}

/**
 * What the reference server selects as it comes, so that INTO may store another choice, and its own
 * windows of integrals.
 */
const ARBITRARY = /\b(mode|percentile|sample|integral)\(|\bS(LIMIT|OFFSET)\b/;

/**
 * Whether INTO does the same. There, a row with an infinite number is not written at all, numbers
 * of fill() are written into columns of texts, and fields are named like tags beside them.
 */
function isStorable(statement: SelectStatement, body: string): boolean {
  if (ARBITRARY.test(printStatement(statement))) return false;
  const { fields, fill } = statement;
  const isRanking = fields.some(
    ({ expression }) => expression.kind === 'call' && expression.arguments.length > 2,
  );
  return !body.includes('unsupported value') && fill?.kind !== 'number' && !isRanking;
}

function hasError({ reference, candidate }: Outcome): boolean {
  return reference.body.includes('"error"') || candidate.body.includes('"error"');
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
