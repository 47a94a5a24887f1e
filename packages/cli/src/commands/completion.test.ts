// Completion scripts, tried in the shell where it is there.
import { execFileSync } from 'node:child_process';
import { Argument, Command } from 'commander';
import { expect, test } from 'vitest';
import { completionScript } from './completion.ts';

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

/** What bash proposes for the last of the words. */
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
