// `tidemark engine import`: moves the definitions and alert states of a running Kapacitor 1.x into a running engine.
import type { MoveInStep } from '@tidemark/engine';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';

import { ExitStatus } from '../../exit.ts';
import { formatTable, print, printJson } from '../../output/table.ts';
import { clientCommand } from './context.ts';
import type { ClientFlags } from './context.ts';

type Flags = ClientFlags & {
  readonly from: string;
  readonly pattern?: string;
  readonly disabled?: boolean;
  readonly dryRun?: boolean;
};

/** The subcommand. Exit status 1 when something could not be copied. */
export function engineImportCommand(finish: (status: number) => void): Command {
  return clientCommand(
    'import',
    'Copy templates, tasks, topic handlers and the states of events from a running Kapacitor 1.x or another engine.',
  )
    .addOption(
      new Option('--from <url>', 'where to copy from; http://user:password@host:9092')
        .argParser(parseHttpUrl)
        .makeOptionMandatory(),
    )
    .option('--pattern <glob>', 'only tasks and templates whose id matches')
    .option('--disabled', 'leave the copied tasks disabled, for example while the old system runs')
    .option('--dry-run', 'only say what would be copied')
    .action(async (flags: Flags) => {
      const { moveIn } = await import('@tidemark/engine');
      const steps = await moveIn({
        from: flags.from,
        to: flags.url,
        pattern: flags.pattern,
        isDisabled: flags.disabled,
        isDryRun: flags.dryRun,
      });
      if (flags.json === true) printJson(steps);
      else printReport(steps);
      const hasFailed = steps.some(({ outcome }) => outcome === 'failed');
      finish(hasFailed ? ExitStatus.Failed : ExitStatus.Ok);
    });
}

function printReport(steps: readonly MoveInStep[]): void {
  // Thousands of events would hide what matters; those that failed are shown.
  const shown = steps.filter(({ kind, outcome }) => kind !== 'event' || outcome === 'failed');
  print(
    formatTable(
      [
        { title: 'Kind', value: (step) => step.kind },
        { title: 'ID', value: (step) => step.id },
        { title: 'Outcome', value: (step) => step.outcome },
        { title: 'Note', value: (step) => step.note },
      ],
      shown,
    ),
  );
  const count = (kind: MoveInStep['kind']): number =>
    steps.filter((step) => step.kind === kind && step.outcome !== 'failed').length;
  const failed = steps.filter(({ outcome }) => outcome === 'failed').length;
  print(
    `${count('template')} templates, ${count('task')} tasks, ${count('handler')} handlers, ${count('event')} events; ${failed} failed`,
  );
}

function parseHttpUrl(text: string): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('Write it as http://host:9092.');
}
