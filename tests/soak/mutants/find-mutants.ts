// Checks whether a program finds each mutant of a table, one after another.
import { runMutant } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export type Finding = {
  readonly mutant: Mutant;
  /** The checker's finding; `undefined` for one that survived, or was found by another checker. */
  readonly found: string | undefined;
  readonly said: string;
};

/** Programs say `seed N fails: CHECKER: …` of the first seed that fails, and end with 1. */
const FAILURE = /seed \d+ fails: (.*)/;

export async function findMutant(mutant: Mutant, program: readonly string[]): Promise<Finding> {
  const { status, said } = await runMutant(mutant, program);
  const failure = status === 1 ? FAILURE.exec(said) : null;
  const isFound = failure?.[1]?.startsWith(mutant.foundBy) === true;
  return { mutant, found: isFound ? failure?.[0] : undefined, said };
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
