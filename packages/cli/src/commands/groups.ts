// The outermost commands and the modules that they come from. Only those that a command line needs are loaded: the
// rest of the executable would take most of the time of a short command.
import type { Command } from 'commander';

export type CommandContext = {
  /** Flags that set keys of the configuration; only services take them. */
  readonly flags: ReadonlyMap<string, string>;
  /** Sets the exit status. */
  readonly finish: (status: number) => void;
};

/** Subcommands of a service, which run without it. */
type Subcommands = (finish: CommandContext['finish']) => Promise<readonly Command[]>;

const tsdbSubcommands: Subcommands = async (finish) => {
  const [{ tsdbExportCommand }, { tsdbImportCommand }, { tsdbSetupCommand }, backup, tools] =
    await Promise.all([
      import('./tsdb-export.ts'),
      import('./tsdb-import.ts'),
      import('./tsdb-setup.ts'),
      import('./tsdb-backup.ts'),
      import('./tsdb-tools.ts'),
    ]);
  return [
    tsdbExportCommand(),
    tsdbImportCommand(finish),
    tsdbSetupCommand(),
    ...backup.tsdbBackupCommands(),
    ...tools.tsdbToolCommands(finish),
  ];
};

const engineSubcommands: Subcommands = async (finish) => {
  const [{ engineClientCommands }, { engineImportCommand }] = await Promise.all([
    import('./engine-client/service.ts'),
    import('./engine-client/import.ts'),
  ]);
  return [...engineClientCommands(), engineImportCommand(finish)];
};

const SUBCOMMANDS: Readonly<Record<string, Subcommands>> = {
  tsdb: tsdbSubcommands,
  engine: engineSubcommands,
};

/** Whether these arguments name a subcommand of a service, which need not load the service. */
export async function isSubcommand(command: string, name: string | undefined): Promise<boolean> {
  const subcommands = SUBCOMMANDS[command];
  if (subcommands === undefined || name === undefined || name.startsWith('-')) return false;
  const known = await subcommands(() => undefined);
  return known.some((one) => one.name() === name);
}

type Group = (context: CommandContext) => Promise<Command>;

/** By name, in the order of the help. */
const GROUPS: Readonly<Record<string, Group>> = {
  up: async ({ flags, finish }) => (await import('./up.ts')).upCommand(flags, finish),
  tsdb: async ({ flags, finish }) => {
    const tsdb = (await import('./tsdb.ts')).tsdbCommand(flags, finish);
    for (const command of await tsdbSubcommands(finish)) tsdb.addCommand(command);
    return tsdb.enablePositionalOptions();
  },
  engine: async ({ flags, finish }) => {
    const engine = (await import('./engine.ts')).engineCommand(flags, finish);
    for (const command of await engineSubcommands(finish)) engine.addCommand(command);
    return engine;
  },
  config: async ({ finish }) => (await import('./config.ts')).configCommand(finish),
  shell: async ({ finish }) => (await import('./shell.ts')).shellCommand(finish),
  task: async ({ finish }) => (await import('./engine-client/task.ts')).taskCommand(finish),
  template: async ({ finish }) =>
    (await import('./engine-client/template.ts')).templateCommand(finish),
  recording: async ({ finish }) =>
    (await import('./engine-client/recording.ts')).recordingCommand(finish),
  replay: async ({ finish }) =>
    (await import('./engine-client/recording.ts')).replayCommand(finish),
  'replay-live': async ({ finish }) =>
    (await import('./engine-client/recording.ts')).replayLiveCommand(finish),
  topic: async () => (await import('./engine-client/topic.ts')).topicCommand(),
  handler: async () => (await import('./engine-client/topic.ts')).handlerCommand(),
  'service-test': async ({ finish }) =>
    (await import('./engine-client/service.ts')).serviceTestCommand(finish),
};

/**
 * The commands that a command line may mean: the one that its first argument names, or all of them when it is none of
 * these (help, completion, a misspelt name). The version needs none.
 */
export async function commandsFor(
  name: string | undefined,
  context: CommandContext,
): Promise<readonly Command[]> {
  const only = name !== undefined && Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
  if (only !== undefined) return [await only(context)];
  if (name === '--version' || name === '-v') return [];
  return Promise.all(Object.values(GROUPS).map((group) => group(context)));
}
