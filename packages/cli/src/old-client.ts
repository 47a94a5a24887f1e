// Translates command lines of Kapacitor's client, so that scripts written for it keep working: its
// layout (`define ID`, `list tasks`), its option names (`-recording-id`) and its single dash.
import type { Command } from 'commander';

/** Its verbs and ours, where they differ. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  define: ['task', 'define'],
  'define-template': ['template', 'define'],
  'define-topic-handler': ['handler', 'define'],
  enable: ['task', 'enable'],
  disable: ['task', 'disable'],
  reload: ['task', 'reload'],
  show: ['task', 'show'],
  'show-template': ['template', 'show'],
  'show-topic': ['topic', 'show'],
  'show-topic-handler': ['handler', 'show'],
  watch: ['task', 'watch'],
  'service-tests': ['service-test', 'run'],
  backup: ['engine', 'backup'],
  logs: ['engine', 'logs'],
  level: ['engine', 'level'],
  stats: ['engine', 'stats'],
  vars: ['engine', 'stats', '--json'],
};

/** Arguments of its `list` and `delete`, and our groups. */
const KINDS: Readonly<Record<string, string>> = {
  tasks: 'task',
  templates: 'template',
  recordings: 'recording',
  replays: 'replay',
  topics: 'topic',
  'topic-handlers': 'handler',
  'service-tests': 'service-test',
};

/** Options before its verb, and whether a value follows. */
const GLOBAL_OPTIONS: Readonly<Record<string, boolean>> = {
  url: true,
  skipVerify: false,
  token: true,
};

/** Its option names, where ours differ. */
const OPTIONS: Readonly<Record<string, string>> = {
  tick: 'script',
  'recording-id': 'id',
  'replay-id': 'id',
  skipVerify: 'skip-verify',
};

/** The arguments in our layout; other command lines are returned unchanged. */
export function withOurVerbs(argv: readonly string[]): readonly string[] {
  const { globals, rest } = takeGlobals(argv);
  const [verb = '', second = '', ...more] = rest;
  const ours = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  if (ours !== undefined) return [...ours, ...rest.slice(1), ...globals];
  if ((verb === 'list' || verb === 'delete') && Object.hasOwn(KINDS, second))
    return [KINDS[second] ?? '', verb, ...more, ...globals];
  // There, `replay` alone replays a recording.
  if (verb === 'replay' && /^--?(recording|task|replay-id)\b/.test(second))
    return ['replay', 'recording', ...rest.slice(1), ...globals];
  return globals.length === 0 ? argv : [...rest, ...globals];
}

function takeGlobals(argv: readonly string[]): {
  readonly globals: readonly string[];
  readonly rest: readonly string[];
} {
  let taken = 0;
  for (;;) {
    const [, name = '', value] = /^--?(\w+)(=.*)?$/s.exec(argv[taken] ?? '') ?? [];
    if (!Object.hasOwn(GLOBAL_OPTIONS, name)) break;
    taken += GLOBAL_OPTIONS[name] === true && value === undefined ? 2 : 1;
  }
  return { globals: argv.slice(0, taken), rest: argv.slice(taken) };
}

/**
 * The arguments with options spelt as ours: handles `-task x`, `-no-wait=true` and the other names.
 * Only names known to the command are changed, so values that begin with a dash stay.
 */
export function withOurOptions(program: Command, argv: readonly string[]): readonly string[] {
  const { command, depth } = commandOf(program, argv);
  const end = argv.indexOf('--');
  const last = end === -1 ? argv.length : end;
  return argv.flatMap((argument, i) =>
    i < depth || i >= last ? [argument] : rewriteOption(command, argument),
  );
}

/** The command named by the first words, and the number of those words. */
function commandOf(
  program: Command,
  argv: readonly string[],
): { readonly command: Command; readonly depth: number } {
  let command = program;
  let depth = 0;
  for (const word of argv) {
    const child = command.commands.find((one) => [one.name(), ...one.aliases()].includes(word));
    if (child === undefined) break;
    command = child;
    depth++;
  }
  return { command, depth };
}

function rewriteOption(command: Command, argument: string): readonly string[] {
  const [, dashes = '', given = '', value] =
    /^(--?)([a-z][a-z-]+)(?:=(.*))?$/is.exec(argument) ?? [];
  const find = (name: string) => command.options.find(({ long }) => long === `--${name}`);
  const other = Object.hasOwn(OPTIONS, given) ? OPTIONS[given] : undefined;
  const option = find(given) ?? (other === undefined ? undefined : find(other));
  if (option === undefined || dashes === '') return [argument];
  const isSwitch = !option.required && !option.optional;
  if (isSwitch && value === 'false') return [];
  if (value === undefined || (isSwitch && value === 'true')) return [option.long ?? argument];
  return [`${option.long ?? ''}=${value}`];
}
