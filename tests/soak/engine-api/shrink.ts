// Shrinks the steps that led to a failure, as long as some failure remains.
import type { EpisodeResult } from './episode.ts';
import type { Step } from './steps.ts';

export type ShrinkOptions = {
  readonly run: (steps: readonly Step[]) => Promise<EpisodeResult>;
  /** Attempts after which what is left is good enough. */
  readonly attemptsMax: number;
};

/** Removes parts, halves first, then smaller ones, down to single steps. */
export async function shrinkSteps(
  steps: readonly Step[],
  { run, attemptsMax }: ShrinkOptions,
): Promise<readonly Step[]> {
  let left = steps;
  let attempts = 0;
  for (
    let size = Math.ceil(left.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < left.length && attempts < attemptsMax;) {
      const fewer = [...left.slice(0, from), ...left.slice(from + size)];
      attempts++;
      const { failure } = await run(fewer);
      if (failure === undefined) from += size;
      else left = fewer.slice(0, failure.at + 1);
    }
  }
  return left;
}
