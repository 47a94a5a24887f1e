// `tidemark engine members|drain`: lists the members of a cluster of engines, and drains one of
// them.
import type { ClusterMember } from '@tidemark/client';
import type { Command } from 'commander';

import { formatTable, print, printJson } from '../../output/table.ts';
import { clientCommand, engineClient } from './context.ts';
import type { ClientFlags } from './context.ts';

export function engineMemberCommands(): readonly Command[] {
  return [
    clientCommand('members', 'List the instances of the cluster of engines.').action(
      async (flags: ClientFlags) => {
        const members = await engineClient(flags).members();
        if (flags.json === true) printJson(members);
        else printMembers(members);
      },
    ),
    clientCommand(
      'drain',
      'Ask an instance of the cluster to run no tasks and not to lead until it is started again: others take over at once.',
    )
      .argument('<instance>', 'id or URL, as `members` lists it')
      .action(async (instance: string, flags: ClientFlags) => {
        await engineClient(flags).drainMember(instance);
        if (flags.json === true) printJson({ instance, isDraining: true });
      }),
  ];
}

function printMembers(members: readonly ClusterMember[]): void {
  print(
    formatTable(
      [
        { title: 'ID', value: ({ id }) => id },
        { title: 'URL', value: ({ url }) => url },
        { title: 'Version', value: ({ version }) => version },
        { title: 'State', value: ({ state }) => state },
        { title: 'Leads', value: ({ leader }) => (leader ? 'yes' : 'no') },
        { title: 'Tasks', value: ({ tasks }) => tasks, isRightAligned: true },
        { title: 'Parts', value: ({ parts }) => parts, isRightAligned: true },
        {
          title: 'Points/s',
          value: (member) => member['points-per-second'],
          isRightAligned: true,
        },
        {
          title: 'Memory MiB',
          value: (member) => Math.round(member['memory-bytes'] / 2 ** 20),
          isRightAligned: true,
        },
        { title: 'Copy behind', value: (member) => member['copy-lag'], isRightAligned: true },
        { title: 'Tasks behind', value: (member) => member['task-lag'], isRightAligned: true },
      ],
      members,
    ),
  );
}
