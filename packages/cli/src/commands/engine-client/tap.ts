// `tidemark task tap`: watch the output of a node of a running task or of a replay, with
// explanations.
import { parseLossless, printLossless } from '@tidemark/client';
import type { Command } from 'commander';

import { UsageError } from '../../exit.ts';
import { clientCommand, collect, engineClient } from './context.ts';
import type { ClientFlags } from './context.ts';
import { followLines } from './follow-lines.ts';

type TapFlags = ClientFlags & {
  readonly group?: readonly string[];
  readonly replay?: string;
  readonly lines?: string;
};

type Values = Readonly<Record<string, unknown>>;

type PointJson = { readonly time: string; readonly tags: Values; readonly fields: Values };

type MessageJson =
  | (PointJson & { readonly kind: 'point'; readonly group: string; readonly name: string })
  | {
      readonly kind: 'batch';
      readonly group: string;
      readonly name: string;
      readonly time: string;
      readonly points: readonly PointJson[];
    }
  | { readonly kind: 'barrier'; readonly group: string; readonly time: string }
  | { readonly kind: 'delete-group'; readonly group: string }
  | { readonly kind: 'dropped'; readonly count: number }
  | {
      readonly kind: 'why';
      readonly group: string;
      readonly time: string;
      readonly outcome: string;
      readonly conditions: readonly {
        readonly label: string;
        readonly text: string;
        readonly result?: unknown;
        readonly error?: string;
        readonly isPart?: boolean;
        readonly values: Values;
      }[];
    };

export function tapCommand(): Command {
  return clientCommand(
    'tap',
    'Watch the output of a node of a task, and the reasons for decisions of where and alert.',
  )
    .argument('<id>', 'task')
    .argument('<node>', 'name as in the graph, for example where2')
    .option('--group <tag=value>', 'only this group; once for each of its tags', collect)
    .option('--replay <id>', 'watch a replay of the task instead of the task itself')
    .option('--lines <count>', 'stop after this many messages')
    .action(async (id: string, node: string, flags: TapFlags) => {
      const group = groupOf(flags.group ?? []);
      await followLines(
        (signal) => engineClient(flags).tap(id, node, { group, replayId: flags.replay, signal }),
        flags.lines,
        flags.json === true
          ? undefined
          : (line) => formatMessage(parseLossless(line) as MessageJson),
      );
    });
}

/** The id of a group: its tags sorted by name, as nodes write it. */
function groupOf(pairs: readonly string[]): string {
  for (const pair of pairs) {
    if (!/^[^=]+=/.test(pair)) throw new UsageError(`${pair} must be written tag=value`);
  }
  return [...pairs].sort().join(',');
}

/** A message as readable text: one line, and one for each condition of a decision. */
export function formatMessage(message: MessageJson): string {
  switch (message.kind) {
    case 'point':
      return `${formatPoint(message.name, message)}${inGroup(message.group)}`;
    case 'batch': {
      const { name, time, points, group } = message;
      const lines = points.map((point) => `  ${formatPoint(name, point)}`);
      return [`${time} batch ${name}, ${points.length} points${inGroup(group)}`, ...lines].join(
        '\n',
      );
    }
    case 'barrier':
      return `${message.time} barrier${inGroup(message.group)}`;
    case 'delete-group':
      return `group ended${inGroup(message.group)}`;
    case 'dropped':
      return `${message.count} messages are missing here: too many to show`;
    case 'why': {
      const lines = message.conditions.map(
        ({ label, text, result, error, isPart, values }) =>
          `  ${isPart === true ? '  ' : ''}${label}: ${text} ${error === undefined ? `is ${result === undefined ? 'not known' : String(result)}` : `failed: ${error}`}${formatValues(values)}`,
      );
      return [`${message.time} ${message.outcome}${inGroup(message.group)}`, ...lines].join('\n');
    }
  }
}

function formatPoint(name: string, { time, tags, fields }: PointJson): string {
  const tagTexts = Object.entries(tags).map(([key, value]) => `,${key}=${String(value)}`);
  const fieldTexts = Object.entries(fields).map(([key, value]) => `${key}=${printLossless(value)}`);
  return `${time} ${name}${tagTexts.join('')} ${fieldTexts.join(' ')}`;
}

function formatValues(values: Values): string {
  const texts = Object.entries(values).map(([name, value]) => `${name}=${printLossless(value)}`);
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

function inGroup(group: string): string {
  return group === '' ? '' : ` [${group.replace('\n', ' ')}]`;
}
