// The tree of commands: for the executable, for completion, for the reference page.
import { TIDEMARK_VERSION } from '@tidemark/core';
import { Command } from 'commander';

import { addExamples } from './commands/examples.ts';
import { CommandGroups } from './commands/groups.ts';

const NOTES = `
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

Exit status: 0 done, 1 failed, 2 wrong usage or configuration. \`tidemark COMMAND --help\` has the options of a command.

Every key of the configuration is also a flag (--http-max-body-size 50m) and an environment
variable (TIDEMARK_HTTP_MAX_BODY_SIZE=50m); with \`up\` the names start with database or engine
(--database-http-max-body-size, TIDEMARK_DATABASE_HTTP_MAX_BODY_SIZE).

Command lines of Kapacitor's client are understood, too: define ID -tick FILE, list tasks, record batch -past 1h.`;

/**
 * The program with the commands that the first of these arguments may mean, or with all of them if
 * there are none.
 */
export async function buildProgram(
  groups: CommandGroups,
  argv: readonly string[],
  flags: ReadonlyMap<string, string>,
): Promise<Command> {
  const program = new Command('tidemark')
    .description('A time-series database and a task-processing engine.')
    .version(TIDEMARK_VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', NOTES)
    .showSuggestionAfterError()
    // Options after a subcommand belong to it, even if the parent has one of the same name.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) });
  for (const command of await groups.commandsFor(argv, flags)) program.addCommand(command);
  const { completionCommand } = await import('./commands/completion.ts');
  program.addCommand(completionCommand(program));
  for (const command of program.commands) command.exitOverride();
  addExamples(program);
  return program;
}

/** The program with every command, for describing them. */
export function wholeProgram(): Promise<Command> {
  return buildProgram(new CommandGroups(() => undefined), [], new Map());
}
