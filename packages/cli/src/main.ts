// The executable: arguments in, exit status out.
import { CommanderError } from 'commander';

import { CommandGroups } from './commands/groups.ts';
import type { ServiceCommand } from './config/config-files.ts';
import type { SplitArguments } from './config/flags.ts';
import { describeError, ExitStatus, exitStatusOf } from './exit.ts';
import { withOurOptions, withOurVerbs } from './old-client.ts';
import { buildProgram } from './program.ts';

/** Generated names that are also documented options of the commands. */
const SHORTCUT_NAMES = ['data-dir', 'skip-config-overrides', 'log-level', 'config'];

const SERVICE_COMMANDS: ReadonlySet<string> = new Set(['up', 'tsdb', 'engine']);

/** Runs a command line; returns the exit status. Never throws. */
export async function main(argv: readonly string[]): Promise<ExitStatus> {
  let status: number = ExitStatus.Ok;
  try {
    const groups = new CommandGroups((code) => {
      status = code;
    });
    const ours = withOurVerbs(argv);
    const { flags, rest } = await takeConfigFlags(ours, groups);
    const program = await buildProgram(groups, ours, flags);
    await program.parseAsync([...withOurOptions(program, rest)], { from: 'user' });
    return status as ExitStatus;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? ExitStatus.Ok : ExitStatus.Usage;
    }
    process.stderr.write(`tidemark: ${describeError(error)}\n`);
    return exitStatusOf(error);
  }
}

async function takeConfigFlags(
  argv: readonly string[],
  groups: CommandGroups,
): Promise<SplitArguments> {
  const command = argv[0] ?? '';
  if (command === 'shell') {
    const { rewriteOldSpellings } = await import('./commands/shell.ts');
    return { flags: new Map(), rest: rewriteOldSpellings(argv) };
  }
  // Only starting a service takes generated flags; its subcommands need not load the service.
  if (!SERVICE_COMMANDS.has(command) || (await groups.isSubcommand(command, argv[1])))
    return { flags: new Map(), rest: argv };
  const { commandFlags } = await import('./config/config-files.ts');
  const { splitConfigFlags } = await import('./config/flags.ts');
  const known = new Set((await commandFlags(command as ServiceCommand)).map(({ name }) => name));
  for (const name of SHORTCUT_NAMES) known.delete(name);
  return splitConfigFlags(argv, known);
}
