// Completion scripts, tested in the shells that are installed.
import { execFileSync } from 'node:child_process';
import { Argument, Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { wholeProgram } from '../program.ts';
import { completionScript } from './completion.ts';
import { commandsOf, EXAMPLES } from './examples.ts';

function program(): Command {
  const task = new Command('task').description("tasks of the engine's");
  task.addCommand(
    new Command('list')
      .description('List.')
      .option('--json', 'as JSON')
      .option('-p, --pattern <glob>'),
  );
  task.addCommand(new Command('define').alias('create').option('--dbrp <db.rp>', 'where from'));
  return new Command('tidemark')
    .addCommand(task)
    .addCommand(
      new Command('completion').addArgument(new Argument('<shell>').choices(['bash', 'zsh'])),
    );
}

/** The completions that bash proposes for the last word. */
function proposals(words: readonly string[]): readonly string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const script = `${completionScript('bash', program())}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _tidemark; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  return output.split('\n').filter((line) => line !== '');
}

test.each([
  [['tidemark', 'ta'], ['task']],
  [
    ['tidemark', 'task', ''],
    ['list', 'define', '--help'],
  ],
  [['tidemark', 'task', 'list', '--j'], ['--json']],
  [['tidemark', 'task', 'create', '--d'], ['--dbrp']],
  [['tidemark', 'task', 'list', 'some-id', '--pa'], ['--pattern']],
  [
    ['tidemark', 'completion', ''],
    ['--help', 'bash', 'zsh'],
  ],
])('bash proposes for %j', (words, wanted) => {
  expect([...proposals(words)].sort()).toEqual(expect.arrayContaining([...wanted].sort()));
});

test('bash proposes nothing that does not begin so', () => {
  expect(proposals(['tidemark', 'task', 'x'])).toEqual([]);
});

test('zsh gets the functions of bash', () => {
  const script = completionScript('zsh', program());

  expect(script).toMatch(/^autoload -Uz compinit bashcompinit\n/);
  expect(script).toContain(completionScript('bash', program()));
});

test('fish gets a line per word, with its description quoted', () => {
  const lines = completionScript('fish', program()).split('\n');

  expect(lines).toContain(
    "complete -c tidemark -n 'not __fish_seen_subcommand_from task completion' -f -a task -d 'tasks of the engine\\'s'",
  );
  expect(lines).toContain(
    "complete -c tidemark -n '__fish_seen_subcommand_from task; and __fish_seen_subcommand_from list' -l json -d 'as JSON'",
  );
});

/**
 * The words that may follow a command: its verbs, its long options, the values of its arguments.
 */
const wordsAfter = (command: Command): readonly string[] => [
  ...command.commands.map((child) => child.name()),
  ...command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []),
  '--help',
  ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
];

describe('of the whole command line', () => {
  test('bash proposes every verb and every option, after each command and each alias', async () => {
    const tree = await wholeProgram();
    const places = commandsOf(tree).flatMap(([path, command]) => [
      { path, command },
      ...(path.startsWith('recording ')
        ? [{ path: path.replace('recording', 'record'), command }]
        : []),
    ]);
    const asked = places
      .map(
        ({ path }) =>
          `COMP_WORDS=(tidemark ${path} ''); COMP_CWORD=${path.split(' ').length + 1}; _tidemark; echo "\${COMPREPLY[*]}"`,
      )
      .join('\n');
    const script = `${completionScript('bash', tree)}\n${asked}`;
    const answers = execFileSync('bash', ['--norc', '-s'], { input: script, encoding: 'utf8' })
      .trimEnd()
      .split('\n');

    expect(answers).toHaveLength(places.length);
    for (const [i, { path, command }] of places.entries()) {
      const proposed = (answers[i] ?? '').split(' ').toSorted();
      expect(proposed, path).toEqual([...wordsAfter(command)].toSorted());
    }
  });

  test('fish has a line for every verb and every option', async () => {
    const tree = await wholeProgram();
    const script = completionScript('fish', tree);
    for (const [path, command] of commandsOf(tree)) {
      const [last = '', ...above] = path.split(' ').reverse();
      const place = above.length === 0 ? '' : `__fish_seen_subcommand_from ${above.join(' ')}`;
      expect(script, path).toMatch(new RegExp(`^complete .*${place}.* -f -a ${last} `, 'm'));
      for (const { long, hidden } of command.options) {
        if (long === undefined || long === null || hidden) continue;
        const option = `__fish_seen_subcommand_from ${last}.* -l ${long.slice(2)} `;
        expect(script, path).toMatch(new RegExp(option));
      }
    }
  });

  test('every command without verbs has examples, whose options it has', async () => {
    const tree = await wholeProgram();
    const paths = new Map(commandsOf(tree));
    const leaves = [...paths].filter(([, { commands }]) => commands.length === 0);
    expect(Object.keys(EXAMPLES)).toEqual(expect.arrayContaining(leaves.map(([path]) => path)));
    for (const [path, examples] of Object.entries(EXAMPLES)) {
      for (const example of examples) {
        const command = paths.get(path);
        expect(example.replace(/^record /, 'recording ').startsWith(path), example).toBe(true);
        const known = command?.options.map(({ long }) => long);
        const used = [...example.replaceAll(/'[^']*'/g, '').matchAll(/ (--[a-z-]+)/g)];
        for (const [, option] of used) expect(known, example).toContain(option);
      }
    }
  });
});
