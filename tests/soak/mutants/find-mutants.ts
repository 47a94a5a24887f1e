// Checks whether a program finds each mutant of a table, one after another.
import { runMutant } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export type Finding = {
  readonly mutant: Mutant;
  /**
   * The checker's finding; `undefined` for one that survived, or was found by other checkers only.
   */
  readonly found: string | undefined;
  readonly said: string;
};

/** What the programs say, who then end with 1. */
const FAILURE = /seed \d+ fails: .*/;

/**
 * The program is given the mutant's checker as its last argument: it says `seed N fails: CHECKER:
 * …` of the first seed that fails by it, and passes over those that fail by another.
 */
export async function findMutant(mutant: Mutant, program: readonly string[]): Promise<Finding> {
  const { status, said } = await runMutant(mutant, [...program, mutant.foundBy]);
  const failure = status === 1 ? FAILURE.exec(said) : null;
  return { mutant, found: failure?.[0], said };
}

/** `say` is told of each; answers how many were not found. */
export async function findMutants(
  mutants: readonly Mutant[],
  program: readonly string[],
  say: (line: string) => void,
): Promise<number> {
  let survived = 0;
  for (const mutant of mutants) {
    const { found, said } = await findMutant(mutant, program);
    if (found === undefined) survived++;
    say(found === undefined ? `SURVIVES: ${mutant.what}\n${said}` : `${mutant.what}: ${found}`);
  }
  return survived;
}
