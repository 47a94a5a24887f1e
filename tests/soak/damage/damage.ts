// Damages every file of a directory in every way and checks the effect: the same result, an error
// that says what to do, or a marked result; `verify` finds the damage, and after `repair`
// everything works and no loss is unlisted.
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { repairDirectory, verifyDirectory } from '@tidemark/storage';

import { damagesOf } from './damages.ts';
import type { Damage } from './damages.ts';
import { askAll, filesOf, fillSubjects, openSubject } from './subject.ts';
import type { Answer } from './subject.ts';

export type SoakOptions = {
  readonly rounds: number;
  /** In [0, 1), seeded. */
  readonly random: () => number;
  /** One in this many damages is tried. */
  readonly oneOf?: number;
  readonly say: (line: string) => void;
};

export type SoakResult = {
  cases: number;
  /** Questions by what came of them. */
  same: number;
  refused: number;
  marked: number;
  /** Starts that were refused. */
  notOpened: number;
  /** Directories of which `repair` lost nothing. */
  repairedWhole: number;
  readonly problems: string[];
};

type Subject = {
  readonly name: 'clean' | 'killed';
  readonly directory: string;
  readonly expected: ReadonlyMap<string, Answer>;
  readonly tornBytes: number;
};

/** The process stops being right at the first of these, so their number is bounded. */
const PROBLEMS_MAX = 50;

export async function soakDamage(options: SoakOptions): Promise<SoakResult> {
  const root = mkdtempSync(join(tmpdir(), 'soak-damage-'));
  const result: SoakResult = {
    cases: 0,
    same: 0,
    refused: 0,
    marked: 0,
    notOpened: 0,
    repairedWhole: 0,
    problems: [],
  };
  try {
    const clean = join(root, 'clean');
    const killed = join(root, 'killed');
    await fillSubjects(clean, killed);
    const subjects: Subject[] = [];
    for (const [name, directory] of [
      ['clean', clean],
      ['killed', killed],
    ] as const) {
      subjects.push(await subjectOf(name, { directory, root }));
    }
    for (let round = 0; round < options.rounds; round++) {
      for (const subject of subjects) await damageAll(subject, { root, options, result });
      options.say(
        `round ${round + 1}/${options.rounds}: ${JSON.stringify({ ...result, problems: result.problems.length })}`,
      );
      if (result.problems.length >= PROBLEMS_MAX) break;
    }
    return result;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function subjectOf(
  name: Subject['name'],
  { directory, root }: { readonly directory: string; readonly root: string },
): Promise<Subject> {
  const copy = join(root, 'copy');
  cpSync(directory, copy, { recursive: true });
  const { damage, tornBytes } = await verifyDirectory({ directory: copy });
  if (damage.length > 0) throw new Error(`${name} is damaged already: ${JSON.stringify(damage)}`);
  const engine = await openSubject(copy);
  const expected = await askAll(engine, false);
  await engine.close();
  rmSync(copy, { recursive: true });
  for (const [question, answer] of expected) {
    if (answer.kind === 'refused') throw new Error(`${name}: ${question}`, { cause: answer.error });
  }
  return { name, directory, expected, tornBytes };
}

type Run = {
  readonly root: string;
  readonly options: SoakOptions;
  readonly result: SoakResult;
};

async function damageAll(subject: Subject, run: Run): Promise<void> {
  const { options, result } = run;
  const { directory } = subject;
  for (const file of filesOf(directory)) {
    const { size } = statSync(join(directory, file));
    for (const damage of damagesOf(size, options.random)) {
      if (options.random() * (options.oneOf ?? 1) >= 1) continue;
      if (isTornEnd(subject, file, damage)) continue;
      if (result.problems.length >= PROBLEMS_MAX) return;
      result.cases++;
      await tryOne(subject, { file, damage }, run);
    }
  }
}

/** After a kill the end of the last log file may be torn: nobody can tell that from a cut. */
function isTornEnd({ name, directory }: Subject, file: string, { kind, at }: Damage): boolean {
  const last = filesOf(directory)
    .filter((path) => path.endsWith('.wal'))
    .at(-1);
  if (name === 'clean' || file !== last || kind === 'delete') return false;
  // Records behind the damage show that it is none.
  return kind !== 'flip' || at >= lastRecordAt(join(directory, file));
}

/** Offset of the mark of the last record (docs/formats/wal.md). */
function lastRecordAt(path: string): number {
  const mark = Buffer.alloc(4);
  mark.writeUInt32LE(0x9e4c4157);
  return readFileSync(path).lastIndexOf(mark);
}

async function tryOne(
  subject: Subject,
  { file, damage }: { readonly file: string; readonly damage: Damage },
  { root, options, result }: Run,
): Promise<void> {
  const name = `${subject.name}, ${file}, ${damage.name}`;
  const problem = (text: string): void => {
    result.problems.push(`${name}: ${text}`);
    options.say(`${name}: ${text}`);
  };
  const spoil = (): string => {
    const copy = mkdtempSync(join(root, 'case-'));
    cpSync(subject.directory, copy, { recursive: true });
    damage.apply(join(copy, file));
    return copy;
  };
  const copies = [spoil(), spoil(), spoil()] as const;
  try {
    for (const servesDamaged of [false, true]) {
      const directory = copies[servesDamaged ? 1 : 0];
      const answers = await answersOf(directory, { servesDamaged, problem });
      if (answers === undefined) result.notOpened++;
      else compare(answers, subject.expected, { result, problem });
    }
    const isGoneCheckpoint = damage.kind === 'delete' && file.endsWith('.checkpoint');
    await checkTools(copies[2], { subject, isGoneCheckpoint, result, problem });
  } catch (error) {
    problem(`threw ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
}

type Problem = (text: string) => void;

const ADVICE = /tidemark tsdb repair/;

/** `undefined` when it does not open, and says what to do. */
async function answersOf(
  directory: string,
  { servesDamaged, problem }: { readonly servesDamaged: boolean; readonly problem: Problem },
): Promise<ReadonlyMap<string, Answer> | undefined> {
  let engine;
  try {
    engine = await openSubject(directory, servesDamaged);
  } catch (error) {
    if (!ADVICE.test(String(error))) problem(`the start says not what to do: ${String(error)}`);
    return undefined;
  }
  const answers = await askAll(engine, servesDamaged);
  await engine.close();
  return answers;
}

function compare(
  answers: ReadonlyMap<string, Answer>,
  expected: ReadonlyMap<string, Answer>,
  { result, problem }: { readonly result: SoakResult; readonly problem: Problem },
): void {
  for (const [question, answer] of answers) {
    if (answer.kind === 'refused') {
      result.refused++;
      if (answer.error.name === 'Corruption' && ADVICE.test(answer.error.message)) continue;
      problem(`${question}: ${String(answer.error)}`);
    } else if (answer.isPartial) result.marked++;
    else if (isSame(answer, expected.get(question))) result.same++;
    else problem(`${question} is answered differently, without a word`);
  }
}

function isSame(answer: Answer, expected: Answer | undefined): boolean {
  if (answer.kind !== 'answer' || expected?.kind !== 'answer') return false;
  return (
    answer.rows.length === expected.rows.length &&
    answer.rows.every((row, i) => row === expected.rows[i])
  );
}

/**
 * `verify` finds it; after `repair` it finds nothing, everything is answered, and what is missing
 * was listed.
 */
async function checkTools(
  directory: string,
  {
    subject,
    isGoneCheckpoint,
    result,
    problem,
  }: {
    readonly subject: Subject;
    readonly isGoneCheckpoint: boolean;
    readonly result: SoakResult;
    readonly problem: Problem;
  },
): Promise<void> {
  const found = await verifyDirectory({ directory });
  const isFound = found.damage.length > 0 || found.tornBytes !== subject.tornBytes;
  // A checkpoint stands for entries of the index file; that there is none is nothing special.
  if (!isFound && !isGoneCheckpoint) problem('verify finds nothing');
  const { lost } = await repairDirectory({ directory });
  const again = await verifyDirectory({ directory });
  if (again.damage.length > 0) problem(`repair leaves ${JSON.stringify(again.damage[0])}`);
  const engine = await openSubject(directory);
  const damage = await engine.damage();
  if (damage.length > 0) problem(`after repair ${JSON.stringify(damage[0])}`);
  const answers = await askAll(engine, false);
  await engine.close();
  let isWhole = true;
  for (const [question, answer] of answers) {
    if (answer.kind === 'refused') problem(`after repair, ${question}: ${String(answer.error)}`);
    else if (!isSame(answer, subject.expected.get(question))) {
      isWhole = false;
      if (lost.length === 0) problem(`after repair, ${question} lacks what repair did not list`);
    }
  }
  if (isWhole) result.repairedWhole++;
}
