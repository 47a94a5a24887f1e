// `tidemark task pipeline FILE`: converts a script to the JSON form of its pipeline, and back; no
// server is needed.
import { Command, Option } from 'commander';

import { print, printJson } from '../output/table.ts';
import { readDocument, readText } from './engine-client/context.ts';

type Flags = { readonly to?: string; readonly json?: boolean; readonly vars?: string };

/** The subcommand. */
export function taskPipelineCommand(): Command {
  return new Command('pipeline')
    .description(
      'Print the pipeline that a script makes as JSON, or the script that makes a pipeline in JSON.',
    )
    .argument('<file>', 'a script or the JSON form of a pipeline, - for standard input')
    .addOption(
      new Option('--to <form>', 'form to print; JSON of a script, a script of JSON').choices([
        'json',
        'script',
        'dot',
      ]),
    )
    .option(
      '--vars <file>',
      "JSON or YAML file of the script's variables: names with type and value",
    )
    .option('--json', 'print JSON, as --to json does')
    .exitOverride()
    .action(async (file: string, flags: Flags) => {
      // Loaded here, so that other commands start without it.
      const { formOf, printAsDot, printAsScript, printPipeline, readPipeline } =
        await import('@tidemark/engine/pipeline-forms');
      const text = readText(file);
      const vars = flags.vars === undefined ? undefined : await readDocument(flags.vars);
      const pipeline = readPipeline(text, vars);
      const other = formOf(text) === 'json' ? 'script' : 'json';
      const form = flags.json === true ? 'json' : (flags.to ?? other);
      if (form === 'json') printJson(printPipeline(pipeline));
      else if (form === 'dot') print(printAsDot(pipeline));
      else print(printAsScript(pipeline).trimEnd());
    });
}
