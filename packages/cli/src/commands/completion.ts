// `tidemark completion bash|zsh|fish`: a script for the shell, generated from the tree of commands.
import { Argument, Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** One node of the tree: the words that lead to it, and what may follow. */
type Place = {
  readonly path: readonly string[];
  readonly words: readonly { readonly word: string; readonly description: string }[];
};

/** The subcommand. `program` is read when it runs, so that it knows every command. */
export function completionCommand(program: Command): Command {
  return new Command('completion')
    .description('Print the completion of commands and options for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices([...SHELLS]))
    .addHelpText(
      'after',
      `
  bash:  source <(tidemark completion bash)
  zsh:   source <(tidemark completion zsh)
  fish:  tidemark completion fish | source`,
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell, program));
    });
}

/** The script for one shell. */
export function completionScript(shell: Shell, program: Command): string {
  const places = placesOf(program, []);
  switch (shell) {
    case 'bash':
      return bashScript(places);
    case 'zsh':
      // zsh runs bash completions, so there is only one to maintain.
      return `autoload -Uz compinit bashcompinit\ncompinit\nbashcompinit\n${bashScript(places)}`;
    case 'fish':
      return fishScript(places);
  }
}

function placesOf(command: Command, path: readonly string[]): readonly Place[] {
  const options = command.createHelp().visibleOptions(command);
  const words = [
    ...command.commands.map((child) => ({ word: child.name(), description: child.description() })),
    ...options.flatMap(({ long, description }) =>
      typeof long === 'string' ? [{ word: long, description }] : [],
    ),
    ...command.registeredArguments.flatMap(({ argChoices, description }) =>
      (argChoices ?? []).map((word) => ({ word, description })),
    ),
  ];
  return [
    { path, words },
    ...command.commands.flatMap((child) =>
      [child.name(), ...child.aliases()].flatMap((name) => placesOf(child, [...path, name])),
    ),
  ];
}

function bashScript(places: readonly Place[]): string {
  const cases = places.map(
    ({ path, words }) =>
      `    '${path.join(' ')}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  return `_tidemark() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place='' candidate words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    candidate="\${place:+$place }\${COMP_WORDS[i]}"
    case "$candidate" in
      ${places
        .filter(({ path }) => path.length > 0)
        .map(({ path }) => `'${path.join(' ')}'`)
        .join('|')}) place="$candidate" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tidemark tidemark
`;
}

function fishScript(places: readonly Place[]): string {
  const quote = (text: string): string =>
    `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', ' ')}'`;
  const lines = places.flatMap(({ path, words }) => {
    const names = words.map(({ word }) => word).filter((word) => !word.startsWith('--'));
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const unseen = names.length === 0 ? [] : [`not __fish_seen_subcommand_from ${names.join(' ')}`];
    const condition = [...seen, ...unseen].join('; and ');
    return words.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      const when = condition === '' ? '' : `-n ${quote(condition)} `;
      return `complete -c tidemark ${when}${what} -d ${quote(description)}`;
    });
  });
  return `${lines.join('\n')}\n`;
}
