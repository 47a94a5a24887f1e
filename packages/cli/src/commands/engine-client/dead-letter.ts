// `tidemark dead-letter …`: events that could not be delivered.
import type { DeadLetterChoice } from '@tidemark/client';
import { Command } from 'commander';

import { ExitStatus, UsageError } from '../../exit.ts';
import { formatTable, print, printJson } from '../../output/table.ts';
import { clientCommand, engineClient } from './context.ts';
import type { ClientFlags, Finish } from './context.ts';

type Flags = ClientFlags & {
  readonly topic?: string | undefined;
  readonly handler?: string | undefined;
  readonly all?: true | undefined;
};

/** `tidemark dead-letter list|retry|drop`. */
export function deadLetterCommand(finish: Finish): Command {
  const group = new Command('dead-letter').description(
    'List undeliverable events, deliver them again, or drop them.',
  );
  group.addCommand(listCommand());
  group.addCommand(
    actionCommand('retry', 'Queue dead letters for delivery by their handlers again.', finish),
  );
  group.addCommand(actionCommand('drop', 'Forget dead letters.', finish));
  return group;
}

function listCommand(): Command {
  return withChoice(clientCommand('list', 'List undeliverable events, newest first.')).action(
    async (flags: Flags) => {
      const { topic, handler } = flags;
      const { letters } = await engineClient(flags).deadLetters({ topic, handler });
      if (flags.json === true) {
        printJson(letters);
        return;
      }
      print(
        formatTable(
          [
            { title: 'ID', value: (letter) => letter.id },
            { title: 'Topic', value: (letter) => letter.topic },
            { title: 'Handler', value: (letter) => letter.handler },
            { title: 'Event', value: (letter) => letter.event },
            { title: 'Level', value: (letter) => letter.level },
            { title: 'Date', value: (letter) => letter.time },
            { title: 'Reason', value: (letter) => letter.reason },
          ],
          letters,
        ),
      );
    },
  );
}

function actionCommand(name: 'retry' | 'drop', description: string, finish: Finish): Command {
  const done = name === 'retry' ? 'queued for their handlers' : 'dropped';
  return withChoice(clientCommand(name, description))
    .argument('[id...]', 'ids of the list')
    .option('--all', 'all of them')
    .action(async (ids: readonly string[], flags: Flags) => {
      const { count, left } = await engineClient(flags).changeDeadLetters(
        name,
        choiceOf(ids, flags),
      );
      if (ids.length > 0 && count === 0) {
        process.stderr.write(`tidemark: no dead letter has the id ${ids.join(' or ')}\n`);
        finish(ExitStatus.Failed);
      } else if (flags.json === true) printJson({ count, left });
      else print(`${count} ${done}, ${left} left`);
    });
}

function withChoice(command: Command): Command {
  return command
    .option('--topic <id>', 'only those of this topic')
    .option('--handler <id>', 'only those of the handler with this id');
}

function choiceOf(ids: readonly string[], { topic, handler, all }: Flags): DeadLetterChoice {
  const isChoosing = ids.length > 0 || topic !== undefined || handler !== undefined;
  if (isChoosing === (all === true)) {
    throw new UsageError('choose by ids, --topic or --handler, or say --all');
  }
  return { ...(ids.length === 0 ? {} : { ids }), topic, handler, all };
}
