// `tidemark engine import`: moves the definitions and alert states of a running Kapacitor 1.x into
// a running engine.
import type { ImportStep } from '@tidemark/engine';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';

import { ExitStatus } from '../../exit.ts';
import { formatTable, print, printJson } from '../../output/table.ts';
import { addressOf, clientCommand, engineCredentials } from './context.ts';
import type { ClientFlags, Finish } from './context.ts';

type Flags = ClientFlags & {
  readonly from: string;
  readonly pattern?: string;
  readonly overwrite?: boolean;
  readonly disabled?: boolean;
  readonly dryRun?: boolean;
};

const NOTES = `
What is the same already is left alone, so an interrupted copy can be made again. What is there and
differs is kept and told, unless --overwrite is given. Recordings are not copied; the configuration
is converted by \`tidemark config convert kapacitor.conf\`.

Exit status: 1 when something failed, or a template, task or handler that differs was kept.`;

/** The subcommand. */
export function engineImportCommand(finish: Finish): Command {
  return clientCommand(
    'import',
    'Copy templates, tasks, topic handlers and the states of events from a running Kapacitor 1.x or another engine.',
  )
    .addOption(
      new Option('--from <url>', 'where to copy from; http://user:password@host:9092')
        .argParser(parseHttpUrl)
        .makeOptionMandatory(),
    )
    .option('--pattern <glob>', 'only tasks and templates with a matching id')
    .option('--overwrite', 'replace existing definitions that differ')
    .option('--disabled', 'leave the copied tasks disabled, for example while the old system runs')
    .option('--dry-run', 'only print what would be done')
    .addHelpText('after', NOTES)
    .action(async (flags: Flags) => {
      const { importDefinitions } = await import('@tidemark/engine');
      const steps: ImportStep[] = [];
      try {
        await importDefinitions({
          from: flags.from,
          ...targetOf(flags),
          pattern: flags.pattern,
          isOverwriting: flags.overwrite,
          isDisabled: flags.disabled,
          isDryRun: flags.dryRun,
          onStep: (step) => steps.push(step),
        });
      } catch (error) {
        // A server became unreachable midway: report what was done before.
        if (steps.length > 0) report(steps, flags);
        throw error;
      }
      report(steps, flags);
      finish(steps.some(isProblem) ? ExitStatus.Failed : ExitStatus.Ok);
    });
}

/**
 * A differing event has changed here since it was copied; a differing definition needs a decision.
 */
function isProblem({ kind, outcome }: ImportStep): boolean {
  return outcome === 'failed' || (outcome === 'kept' && kind !== 'event');
}

function report(steps: readonly ImportStep[], flags: Flags): void {
  if (flags.json === true) {
    printJson(steps);
    return;
  }
  print(
    formatTable(
      [
        { title: 'Kind', value: (step) => step.kind },
        { title: 'ID', value: (step) => step.id },
        { title: flags.dryRun === true ? 'Would be' : 'Outcome', value: (step) => step.outcome },
        { title: 'Note', value: (step) => step.note },
      ],
      // Thousands of events would hide the rest.
      steps.filter((step) => step.kind !== 'event' || isProblem(step)),
    ),
  );
  const counts = (['template', 'task', 'handler', 'event'] as const).map((kind) => {
    const ofKind = steps.filter((step) => step.kind === kind && step.outcome !== 'failed');
    const kept = ofKind.filter(({ outcome }) => outcome === 'kept').length;
    return `${ofKind.length} ${kind}s${kept === 0 ? '' : ` (${kept} kept)`}`;
  });
  const failed = steps.filter(({ outcome }) => outcome === 'failed').length;
  print(`${counts.join(', ')}; ${failed} failed`);
}

function parseHttpUrl(text: string): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('Write it as http://host:9092.');
}

/** The address to copy to, with user and password in it if needed, or a token beside it. */
function targetOf(flags: Flags): { readonly to: string; readonly toToken: string | undefined } {
  const url = addressOf(flags);
  const { token, username, password = '' } = engineCredentials(flags, url);
  if (username === undefined) return { to: url, toToken: token };
  const to = new URL(url);
  to.username = encodeURIComponent(username);
  to.password = encodeURIComponent(password);
  return { to: to.href, toToken: undefined };
}
