// The executable: arguments in, exit status out. The only place that reads argv, the environment and signals.
import { TIDEMARK_VERSION } from '@tidemark/core';
import { Command, CommanderError } from 'commander';

import { CommandGroups } from './commands/groups.ts';
import type { ServiceCommand } from './config/config-files.ts';
import type { SplitArguments } from './config/flags.ts';
import { describeError, ExitStatus, exitStatusOf } from './exit.ts';

const EXAMPLES = `
Examples:
  $ tidemark up                                     both services and the web UI on ./data
  $ tidemark up --tsdb-bind 127.0.0.1:0             a free port; the ready line names it
  $ tidemark tsdb --data-dir /var/lib/tidemark      only the database
  $ tidemark engine --tsdb-url http://127.0.0.1:8086
  $ tidemark shell --database home --execute 'SELECT mean(celsius) FROM room'
  $ tidemark task define hot --script hot.tick --dbrp home.autogen
  $ tidemark task list 'hot*' --json
  $ tidemark config default > tidemark.toml         a commented configuration to start from
  $ tidemark config check tidemark.toml

Every key of the configuration is also a flag (--http-max-body-size 50m) and an environment
variable (TIDEMARK_HTTP_MAX_BODY_SIZE=50m); with \`up\` the names start with database or engine
(--database-http-max-body-size, TIDEMARK_DATABASE_HTTP_MAX_BODY_SIZE).`;

/** Generated names that are documented options of the commands themselves. */
const SHORTCUT_NAMES = ['data-dir', 'skip-config-overrides', 'log-level', 'config'];

const SERVICE_COMMANDS: ReadonlySet<string> = new Set(['up', 'tsdb', 'engine']);

/** Runs the command line and sets the process's exit status. Never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    const groups = new CommandGroups((status) => {
      process.exitCode = status;
    });
    const { flags, rest } = await takeConfigFlags(argv, groups);
    const program = new Command('tidemark')
      .description('A time-series database and a task-processing engine.')
      .version(TIDEMARK_VERSION, '-v, --version', 'print the version')
      .helpOption('-h, --help', 'print help')
      .addHelpText('after', EXAMPLES)
      .showSuggestionAfterError()
      // Options behind a subcommand are the subcommand's, also where both have one of that name.
      .enablePositionalOptions()
      .exitOverride()
      .configureOutput({ writeErr: (text) => process.stderr.write(text) });
    for (const command of await groups.commandsFor(argv[0], flags)) {
      program.addCommand(command);
    }
    const { completionCommand } = await import('./commands/completion.ts');
    program.addCommand(completionCommand(program));
    for (const command of program.commands) command.exitOverride();
    await program.parseAsync([...rest], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? ExitStatus.Ok : ExitStatus.Usage;
      return;
    }
    process.stderr.write(`tidemark: ${describeError(error)}\n`);
    process.exitCode = exitStatusOf(error);
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
