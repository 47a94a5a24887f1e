// The verbs of a cluster of processes on this machine: `up`, `status`, `down`.
import { Command, InvalidArgumentError } from 'commander';

import { ExitStatus } from '../exit.ts';
import { formatTable, print, printJson } from '../output/table.ts';
import type { Column } from '../output/table.ts';

type Flags = { readonly dir: string; readonly json?: boolean | undefined };

/** A process, and whether it responds. */
type State = { readonly pid: number; readonly isUp: boolean };

/** The specifics of a kind of cluster. */
export type LocalClusterVerbs<Status, Row extends State, Counts> = {
  readonly name: string;
  /** Description for the help. */
  readonly description: string;
  /** For the help: what `up` starts, and what `status` shows of each process. */
  readonly help: { readonly up: string; readonly status: string };
  /** Options of `up` with descriptions; each is a count. */
  readonly counts: readonly (readonly [flags: string, description: string])[];
  start(directory: string, counts: Counts): Promise<Status>;
  status(directory: string): Promise<Status>;
  stop(directory: string): Promise<void>;
  /** The text that `up` prints after `ready`. */
  ready(status: Status): string;
  rows(status: Status): readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The process that all others need. */
  first(status: Status): State & { readonly name: string; readonly address: string };
};

/** The command with its subcommands. */
export function localClusterCommand<Status, Row extends State, Counts>(
  verbs: LocalClusterVerbs<Status, Row, Counts>,
  finish: (status: number) => void,
): Command {
  const { name, description, help } = verbs;
  const up = subcommand(
    'up',
    `Start ${help.up} on free ports of loopback, print a line when they answer, and leave them running. Running processes are left alone.`,
  );
  for (const [flags, text] of verbs.counts) up.option(flags, text, count);
  up.option('--json', 'print JSON').action(async ({ dir, json, ...counts }: Flags & Counts) => {
    const status = await verbs.start(dir, counts as Counts);
    if (json === true) printJson(status);
    else print(`ready ${verbs.ready(status)}`);
  });
  const status = subcommand(
    'status',
    `Print the processes of a cluster${help.status}; exit status 1 when one does not answer.`,
  )
    .option('--json', 'print JSON')
    .action(async ({ dir, json }: Flags) => {
      const found = await verbs.status(dir);
      if (json === true) printJson(found);
      else printStatus(verbs, found);
      const isUp = [verbs.first(found), ...verbs.rows(found)].every((one) => one.isUp);
      finish(isUp ? ExitStatus.Ok : ExitStatus.Failed);
    });
  const down = subcommand('down', 'End the processes of a cluster. Its data stays.').action(
    ({ dir }: Flags) => verbs.stop(dir),
  );
  return new Command(name)
    .description(description)
    .addCommand(up)
    .addCommand(status)
    .addCommand(down);
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--dir <dir>', 'folder of its configuration, its data and its logs')
    .exitOverride();
}

function printStatus<Status, Row extends State, Counts>(
  verbs: LocalClusterVerbs<Status, Row, Counts>,
  status: Status,
): void {
  print(formatTable<Row>(verbs.columns, verbs.rows(status)));
  const { name, address, pid, isUp } = verbs.first(status);
  print(`${name} ${address} pid ${pid} ${isUp ? 'up' : 'down'}`);
}

/** The columns common to all processes. */
export const PROCESS_COLUMNS: readonly Column<State & { readonly url: string }>[] = [
  { title: 'URL', value: ({ url }) => url },
  { title: 'PID', value: ({ pid }) => pid, isRightAligned: true },
  { title: 'STATE', value: ({ isUp }) => (isUp ? 'up' : 'down') },
];

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a count from 1 on');
  return value;
}
