// Verbs that apply to several items, named by ids and shell globs.
import type { EngineClient } from '@tidemark/client';
import type { Command } from 'commander';

import { ExitStatus } from '../../exit.ts';
import { printJson } from '../../output/table.ts';
import { clientCommand, engineClient, isGlob } from './context.ts';
import type { ClientFlags, Finish } from './context.ts';

export type IdVerb = {
  /** The items' noun, in the singular. */
  readonly noun: string;
  /** Ids that match a glob. */
  readonly list: (client: EngineClient, pattern: string) => Promise<readonly string[]>;
  readonly act: (client: EngineClient, id: string) => Promise<void>;
};

/**
 * A command that takes ids and globs and is silent on success. Exit status 1 if a glob matches
 * nothing, or at the first id that the engine refuses.
 */
export function eachIdCommand(
  name: string,
  description: string,
  finish: Finish,
  verb: IdVerb,
): Command {
  return clientCommand(name, description)
    .argument('<id...>', 'ids or shell globs')
    .action(async (given: readonly string[], flags: ClientFlags) => {
      const client = engineClient(flags);
      const ids = await forEachId(given, {
        list: (pattern) => verb.list(client, pattern),
        act: (id) => verb.act(client, id),
      });
      reportIds(ids, { given, noun: verb.noun, flags, finish });
    });
}

/** Applies a function to each item once, in the order of the arguments; returns the ids. */
export async function forEachId(
  given: readonly string[],
  {
    list,
    act,
  }: {
    readonly list: (pattern: string) => Promise<readonly string[]>;
    readonly act: (id: string) => Promise<void>;
  },
): Promise<readonly string[]> {
  const done = new Set<string>();
  for (const argument of given) {
    for (const id of isGlob(argument) ? await list(argument) : [argument]) {
      if (done.has(id)) continue;
      await act(id);
      done.add(id);
    }
  }
  return [...done];
}

/** Reports the result: nothing on success, the ids as JSON, or that there was nothing to do. */
export function reportIds(
  ids: readonly string[],
  {
    given,
    noun,
    flags,
    finish,
  }: {
    readonly given: readonly string[];
    readonly noun: string;
    readonly flags: ClientFlags;
    readonly finish: Finish;
  },
): void {
  if (flags.json === true) printJson({ count: ids.length, ids });
  if (ids.length > 0) return;
  process.stderr.write(`tidemark: no ${noun} matches ${given.join(' ')}\n`);
  finish(ExitStatus.Failed);
}
