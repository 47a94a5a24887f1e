// The executable: arguments in, exit status out. The only place that reads argv, the environment and signals.
import { TIDEMARK_VERSION } from '@tidemark/core';
import { Command, CommanderError } from 'commander';

import { completionCommand } from './commands/completion.ts';
import { engineImportCommand } from './commands/engine-client/import.ts';
import { configCommand } from './commands/config.ts';
import {
  recordingCommand,
  replayCommand,
  replayLiveCommand,
} from './commands/engine-client/recording.ts';
import { engineClientCommands, serviceTestCommand } from './commands/engine-client/service.ts';
import { taskCommand } from './commands/engine-client/task.ts';
import { templateCommand } from './commands/engine-client/template.ts';
import { handlerCommand, topicCommand } from './commands/engine-client/topic.ts';
import { engineCommand } from './commands/engine.ts';
import { rewriteOldSpellings, shellCommand } from './commands/shell.ts';
import { tsdbBackupCommands } from './commands/tsdb-backup.ts';
import { tsdbExportCommand } from './commands/tsdb-export.ts';
import { tsdbImportCommand } from './commands/tsdb-import.ts';
import { tsdbSetupCommand } from './commands/tsdb-setup.ts';
import { tsdbToolCommands } from './commands/tsdb-tools.ts';
import { tsdbCommand } from './commands/tsdb.ts';
import { upCommand } from './commands/up.ts';
import { commandFlags } from './config/config-files.ts';
import type { ServiceCommand } from './config/config-files.ts';
import { splitConfigFlags } from './config/flags.ts';
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

/** Subcommands of `tidemark tsdb` and `tidemark engine`. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(
  [
    tsdbExportCommand(),
    tsdbImportCommand(() => undefined),
    tsdbSetupCommand(),
    ...tsdbBackupCommands(),
    ...tsdbToolCommands(() => undefined),
    ...engineClientCommands(),
    engineImportCommand(() => undefined),
  ].map((one) => one.name()),
);

/** Runs the command line and sets the process's exit status. Never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    const { flags, rest } = await takeConfigFlags(argv);
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
    const finish = (status: number): void => {
      process.exitCode = status;
    };
    program.addCommand(upCommand(flags, finish));
    const tsdb = tsdbCommand(flags, finish);
    tsdb.addCommand(tsdbExportCommand());
    tsdb.addCommand(tsdbImportCommand(finish));
    tsdb.addCommand(tsdbSetupCommand());
    for (const command of tsdbBackupCommands()) tsdb.addCommand(command);
    for (const command of tsdbToolCommands(finish)) tsdb.addCommand(command);
    tsdb.enablePositionalOptions();
    program.addCommand(tsdb);
    const engine = engineCommand(flags, finish);
    for (const command of engineClientCommands()) engine.addCommand(command);
    engine.addCommand(engineImportCommand(finish));
    program.addCommand(engine);
    program.addCommand(configCommand(finish));
    program.addCommand(shellCommand(finish));
    program.addCommand(taskCommand(finish));
    program.addCommand(templateCommand(finish));
    program.addCommand(recordingCommand(finish));
    program.addCommand(replayCommand(finish));
    program.addCommand(replayLiveCommand(finish));
    program.addCommand(topicCommand());
    program.addCommand(handlerCommand());
    program.addCommand(serviceTestCommand(finish));
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

async function takeConfigFlags(argv: readonly string[]): Promise<SplitArguments> {
  const command = argv[0] ?? '';
  if (command === 'shell') return { flags: new Map(), rest: rewriteOldSpellings(argv) };
  // Only starting a service takes generated flags; its subcommands need not load the service.
  const isSubcommand = argv[1] !== undefined && SUBCOMMANDS.has(argv[1]);
  if (!SERVICE_COMMANDS.has(command) || isSubcommand) return { flags: new Map(), rest: argv };
  const known = new Set((await commandFlags(command as ServiceCommand)).map(({ name }) => name));
  for (const name of SHORTCUT_NAMES) known.delete(name);
  return splitConfigFlags(argv, known);
}
