// The top-level commands and the modules that implement them. Only the modules that a command line
// needs are loaded: loading the rest of the executable would take most of the time of a short
// command.
import { Command } from 'commander';

/** Sets the exit status. */
type Finish = (status: number) => void;

type CommandContext = {
  /** Flags that set configuration keys; only services take them. */
  readonly flags: ReadonlyMap<string, string>;
  readonly finish: Finish;
  /** Whether a verb follows the group's name, in which case no service starts. */
  readonly hasVerb: boolean;
  /** Subcommands of the service with this name. */
  readonly subcommands: (service: string) => Promise<readonly Command[]>;
};

/** By name, in the order of the help. */
type Subcommands = (finish: Finish) => Promise<readonly Command[]>;

const tsdbSubcommands: Subcommands = async (finish) => {
  const [exported, imported, migrate, setup, backup, tools] = await Promise.all([
    import('./tsdb-export.ts'),
    import('./tsdb-import.ts'),
    import('./tsdb-migrate.ts'),
    import('./tsdb-setup.ts'),
    import('./tsdb-backup.ts'),
    import('./tsdb-tools.ts'),
  ]);
  return [
    exported.tsdbExportCommand(),
    imported.tsdbImportCommand(finish),
    migrate.tsdbMigrateCommand(finish),
    setup.tsdbSetupCommand(),
    ...backup.tsdbBackupCommands(),
    ...tools.tsdbToolCommands(finish),
  ];
};

const engineSubcommands: Subcommands = async (finish) => {
  const [service, imported, joined, left, member] = await Promise.all([
    import('./engine-client/service.ts'),
    import('./engine-client/import.ts'),
    import('./engine-client/join.ts'),
    import('./engine-client/leave.ts'),
    import('./engine-client/member.ts'),
  ]);
  return [
    ...service.engineClientCommands(),
    imported.engineImportCommand(finish),
    joined.engineJoinCommand(),
    left.engineLeaveCommand(),
    ...member.engineMemberCommands(),
  ];
};

const SUBCOMMANDS: Readonly<Record<string, Subcommands>> = {
  tsdb: tsdbSubcommands,
  engine: engineSubcommands,
};

type Group = (context: CommandContext) => Promise<Command>;

/** By name, in the order of the help. */
const GROUPS: Readonly<Record<string, Group>> = {
  up: async ({ flags, finish }) => (await import('./up.ts')).upCommand(flags, finish),
  tsdb: async ({ flags, finish, hasVerb, subcommands }) => {
    const tsdb = hasVerb
      ? new Command('tsdb')
      : (await import('./tsdb.ts')).tsdbCommand(flags, finish);
    for (const command of await subcommands('tsdb')) tsdb.addCommand(command);
    return tsdb.enablePositionalOptions();
  },
  engine: async ({ flags, finish, hasVerb, subcommands }) => {
    const engine = hasVerb
      ? new Command('engine')
      : (await import('./engine.ts')).engineCommand(flags, finish);
    for (const command of await subcommands('engine')) engine.addCommand(command);
    return engine;
  },
  cluster: async ({ finish }) => (await import('./cluster.ts')).clusterCommand(finish),
  'engine-cluster': async ({ finish }) =>
    (await import('./engine-cluster.ts')).engineClusterCommand(finish),
  setup: async () => (await import('./setup.ts')).setupCommand(),
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
  topic: async ({ finish }) => (await import('./engine-client/topic.ts')).topicCommand(finish),
  handler: async ({ finish }) => (await import('./engine-client/topic.ts')).handlerCommand(finish),
  'dead-letter': async ({ finish }) =>
    (await import('./engine-client/dead-letter.ts')).deadLetterCommand(finish),
  'service-test': async ({ finish }) =>
    (await import('./engine-client/service.ts')).serviceTestCommand(finish),
  version: async () => (await import('./version.ts')).versionCommand(),
};

/** The commands of one command line, each created once. */
export class CommandGroups {
  readonly #finish: Finish;
  readonly #subcommands = new Map<string, Promise<readonly Command[]>>();

  constructor(finish: Finish) {
    this.#finish = finish;
  }

  /** Whether these arguments name a subcommand of a service, which need not load the service. */
  async isSubcommand(command: string, name: string | undefined): Promise<boolean> {
    if (name === undefined || name.startsWith('-')) return false;
    return (await this.#subcommandsOf(command)).some((one) => one.name() === name);
  }

  /**
   * The commands that a command line may need: the one named by its first argument, or all of them
   * if it names none (help, completion, a misspelt name). The version needs none.
   */
  async commandsFor(
    [name, second]: readonly string[],
    flags: ReadonlyMap<string, string>,
  ): Promise<readonly Command[]> {
    const context: CommandContext = {
      flags,
      finish: this.#finish,
      // A group without an action of its own reports an unknown verb, with a suggestion.
      hasVerb: second !== undefined && !second.startsWith('-'),
      subcommands: (service) => this.#subcommandsOf(service),
    };
    const only = name !== undefined && Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
    if (only !== undefined) return [await only(context)];
    if (name === '--version' || name === '-v') return [];
    return Promise.all(Object.values(GROUPS).map((group) => group(context)));
  }

  #subcommandsOf(service: string): Promise<readonly Command[]> {
    let made = this.#subcommands.get(service);
    if (made === undefined) {
      made = SUBCOMMANDS[service]?.(this.#finish) ?? Promise.resolve([]);
      this.#subcommands.set(service, made);
    }
    return made;
  }
}
