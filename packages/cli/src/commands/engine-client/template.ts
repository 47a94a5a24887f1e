// `tidemark template …`: define, show, list, delete.
import { NotFound } from '@tidemark/core';
import { printLossless } from '@tidemark/client';
import type { EngineClient, Template } from '@tidemark/client';
import { Command } from 'commander';

import { formatTable, print, printJson } from '../../output/table.ts';
import { clientCommand, engineClient, readText, toArray, typeOption } from './context.ts';
import type { ClientFlags, Finish } from './context.ts';
import { eachIdCommand } from './each-id.ts';

/** The group of commands. */
export function templateCommand(finish: Finish): Command {
  const group = new Command('template').description('Define and show task templates.');
  group.addCommand(defineCommand());
  group.addCommand(listCommand());
  group.addCommand(
    clientCommand('show', 'Show a template.')
      .argument('<id>')
      .action(async (id: string, flags: ClientFlags) => {
        const template = await engineClient(flags).template(id);
        if (flags.json === true) printJson(template);
        else print(describeTemplate(template));
      }),
  );
  group.addCommand(
    eachIdCommand(
      'delete',
      'Delete templates. Tasks made from them keep running but cannot be enabled again.',
      finish,
      {
        noun: 'template',
        list: async (client, pattern) =>
          (await toArray(client.templates({ pattern, fields: ['type'] }))).map(({ id }) => id),
        act: (client, id) => client.deleteTemplate(id),
      },
    ),
  );
  return group;
}

function defineCommand(): Command {
  return clientCommand(
    'define',
    'Create a template, or change it and reload all tasks made from it.',
  )
    .argument('<id>')
    .requiredOption('--script <file>', 'file of the script, - for standard input')
    .addOption(typeOption('derived from the script when left out'))
    .action(
      async (
        id: string,
        flags: ClientFlags & { readonly script: string; readonly type?: string },
      ) => {
        const client = engineClient(flags);
        const change = {
          script: readText(flags.script),
          ...(flags.type === undefined ? {} : { type: flags.type }),
        };
        const { template } = await defineTemplate(client, id, change);
        if (flags.json === true) printJson(template);
        else print(`defined ${template.id} (${template.type})`);
      },
    );
}

/** Creates or changes a template, which reloads its tasks. */
export async function defineTemplate(
  client: EngineClient,
  id: string,
  change: { readonly script: string; readonly type?: string },
): Promise<{ readonly template: Template; readonly isNew: boolean }> {
  try {
    return { template: await client.changeTemplate(id, change), isNew: false };
  } catch (error) {
    // Absent: this is its first definition.
    if (!(error instanceof NotFound)) throw error;
    return { template: await client.createTemplate({ id, ...change }), isNew: true };
  }
}

function listCommand(): Command {
  return clientCommand('list', 'List templates.')
    .argument('[pattern]', 'shell glob on ids')
    .action(async (pattern: string | undefined, flags: ClientFlags) => {
      const templates = await toArray(
        engineClient(flags).templates({ pattern, fields: ['type', 'vars'] }),
      );
      if (flags.json === true) {
        printJson(templates);
        return;
      }
      print(
        formatTable(
          [
            { title: 'ID', value: (template) => template.id },
            { title: 'Type', value: (template) => template.type },
            { title: 'Vars', value: (template) => Object.keys(template.vars).join(',') },
          ],
          templates,
        ),
      );
    });
}

function describeTemplate(template: Template): string {
  return [
    `ID: ${template.id}`,
    `Error: ${template.error}`,
    `Type: ${template.type}`,
    `Created: ${template.created}`,
    `Modified: ${template.modified}`,
    'TICKscript:',
    template.script,
    'Vars:',
    formatTable(
      [
        { title: 'Name', value: ([name]) => name },
        { title: 'Type', value: ([, variable]) => variable.type },
        {
          title: 'Default Value',
          value: ([, variable]) =>
            variable.value === null ? '<required>' : printLossless(variable.value),
        },
        { title: 'Description', value: ([, variable]) => variable.description ?? '' },
      ],
      Object.entries(template.vars),
    ),
    'DOT:',
    template.dot,
  ].join('\n');
}
