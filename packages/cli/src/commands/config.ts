// `tidemark config`: print the commented default, check a file.
import { Command, Option } from 'commander';

import { checkConfig, defaultConfigText, describeProblems } from '../config/config-files.ts';
import type { ServiceCommand } from '../config/config-files.ts';
import { convertFiles, PRODUCTS } from '../config/convert-files.ts';
import type { Product } from '../config/convert-files.ts';
import { ExitStatus } from '../exit.ts';
import { decideBy } from './allow-found.ts';
import { collect } from './engine-client/context.ts';

type ConvertFlags = {
  readonly for: ServiceCommand;
  readonly from?: Product;
  readonly scripts?: readonly string[];
  readonly allowFound?: boolean;
};

const serviceOption = (): Option =>
  new Option('--for <command>', 'the command that the configuration is for')
    .choices(['up', 'tsdb', 'engine'])
    .default('up');

/** The command with its subcommands. */
export function configCommand(finish: (status: number) => void): Command {
  const command = new Command('config').description('Print or check a configuration.');
  command
    .command('default')
    .description('Print the default configuration, every key with a comment.')
    .addOption(serviceOption())
    .action(async (options: { for: ServiceCommand }) => {
      process.stdout.write(await defaultConfigText(options.for));
    });
  command
    .command('check')
    .description('Check a configuration file; exit status 2 when something is wrong with it.')
    .argument('<file>')
    .addOption(serviceOption())
    .option('--json', 'print the problems as JSON')
    .action(async (file: string, options: { for: ServiceCommand; json?: boolean }) => {
      const { problems } = await checkConfig(options.for, {
        file,
        environment: {},
        flags: new Map(),
      });
      if (options.json === true) process.stdout.write(`${JSON.stringify({ problems })}\n`);
      else if (problems.length === 0) process.stdout.write(`${file} is fine\n`);
      else process.stderr.write(`${describeProblems(problems)}\n`);
      finish(problems.length === 0 ? ExitStatus.Ok : ExitStatus.Usage);
    });
  command
    .command('convert')
    .description(
      'Convert influxdb.conf, kapacitor.conf or both into one file; prints the result, and settings without a counterpart on standard error.',
    )
    .argument('<files...>')
    .addOption(serviceOption())
    .addOption(
      new Option(
        '--from <product>',
        'the product of the file; guessed from its sections by default',
      ).choices([...PRODUCTS]),
    )
    .option(
      '--scripts <folder>',
      'look here, too, for programs and files that scripts and handlers name (repeatable)',
      collect,
    )
    .option('--allow-found', 'list what scripts use without asking')
    .action(async (files: string[], flags: ConvertFlags) => {
      const decide = decideBy(flags.allowFound);
      const { toml, notes } = await convertFiles(files, { ...flags, decide });
      process.stdout.write(toml);
      for (const { key, message } of notes) process.stderr.write(`${key}: ${message}\n`);
    });
  for (const sub of command.commands) sub.exitOverride();
  return command;
}
