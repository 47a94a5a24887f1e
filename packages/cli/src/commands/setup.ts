// `tidemark setup`: asks the questions of a new installation: what tasks may access, and the first
// admin user.
import { readFile, writeFile } from 'node:fs/promises';

import { Command, Option } from 'commander';
import { parse as parseToml } from 'smol-toml';

import { findLists, listLines, withLines } from '../config/allowed-lists.ts';
import type { FoundList } from '../config/allowed-lists.ts';
import { loadConfig } from '../config/config-files.ts';
import { UsageError } from '../exit.ts';
import { decideBy } from './allow-found.ts';
import { tsdbUrl } from './connection.ts';
import { collect } from './engine-client/context.ts';
import { createFirstUser } from './tsdb-setup.ts';
import type { UserFlags } from './tsdb-setup.ts';

type Flags = UserFlags & {
  readonly config?: string;
  readonly for: 'up' | 'engine';
  readonly scripts?: readonly string[];
  readonly allowFound?: boolean;
};

const SETTINGS = {
  'allowed-programs': 'allowedPrograms',
  'allowed-files': 'allowedFiles',
  'allowed-secrets': 'allowedSecrets',
} as const;

/** The command. Lists come first: they need no running service. */
export function setupCommand(): Command {
  return new Command('setup')
    .description(
      'Create the first admin user, as `tsdb setup` does. With --config, first list in that file the programs, files, folders and secrets that scripts name: a question each on a terminal, comments elsewhere.',
    )
    .option('--url <url>', 'the running database (env: TIDEMARK_TSDB_URL)', tsdbUrl(process.env))
    .option('--username <name>', 'name of the user')
    .option('--json', 'print JSON')
    .option(
      '--config <file>',
      'configuration file whose lists of allowed programs, files and secrets are filled',
    )
    .addOption(
      new Option('--for <command>', 'the command that the configuration is for')
        .choices(['up', 'engine'])
        .default('up'),
    )
    .option('--scripts <folder>', 'read scripts and handlers here, too (repeatable)', collect)
    .option('--allow-found', 'list what scripts use without asking')
    .exitOverride()
    .action(async (flags: Flags) => {
      if (flags.config !== undefined) await fillLists(flags.config, flags);
      else if (flags.scripts !== undefined)
        throw new UsageError('--scripts needs --config, the file whose lists are filled');
      await createFirstUser(flags);
    });
}

async function fillLists(file: string, flags: Flags): Promise<void> {
  const { engine } = await loadConfig(flags.for, { file, environment: {}, flags: new Map() });
  const { load, alert } = engine;
  const scripts = flags.scripts ?? [];
  const folders = load.enabled ? [load.dir, ...scripts] : scripts;
  const { lists, notes } = await findLists(folders);
  for (const { key, message } of notes) process.stderr.write(`${key}: ${message}\n`);
  const decide = decideBy(flags.allowFound);
  const section = flags.for === 'up' ? 'engine.alert' : 'alert';
  let text = await readFile(file, 'utf8');
  const before = text;
  for (const list of lists) {
    const listed = alert[SETTINGS[list.key]];
    const missing = withoutListed(list, listed);
    if (missing.found.size === 0 || text.includes(listLines(missing, false).join('\n'))) continue;
    const isAllowed = await decide(missing);
    if (listed.length === 0) text = withLines(text, section, listLines(missing, isAllowed));
    else if (isAllowed) throw handWork(file, section, missing);
  }
  if (text === before) return;
  try {
    parseToml(text);
  } catch {
    throw new UsageError(`${file} writes [${section}] in another form; add the lists by hand`);
  }
  await writeFile(file, text);
}

const withoutListed = (list: FoundList, listed: readonly string[]): FoundList => ({
  ...list,
  found: new Map([...list.found].filter(([path]) => !listed.includes(path))),
});

const handWork = (file: string, section: string, list: FoundList): UsageError =>
  new UsageError(
    `${file} has ${section}.${list.key} already; unless its patterns cover them, add there: ${[...list.found.keys()].join(', ')}`,
  );
