// Converts a pipeline between its forms: script, JSON, DOT. Loads no server, so that a command can
// use it alone.
import { InvalidRequest } from '@tidemark/core';
import { buildPipeline, formatDot, parsePipeline, printPipelineScript } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import { readVars, requirePipeline } from './definition.ts';
import { parseJson } from '../formats/json.ts';
import { hideSecretVars } from './secret-vars.ts';

export { printPipeline } from '@tidemark/pipeline';

/** The form of a text: the JSON form is an object, and no script begins with a brace. */
export function formOf(text: string): 'script' | 'json' {
  return text.trimStart().startsWith('{') ? 'json' : 'script';
}

/**
 * Reads a script, with the values of its vars in the form of the API, or the JSON form. The
 * pipeline has markers in place of secrets, because it is for display. Throws `InvalidRequest` with
 * the mistake and its place.
 */
export function readPipeline(text: string, vars?: unknown): Pipeline {
  if (formOf(text) === 'json') {
    const { pipeline, error } = parsePipeline(parseJson(Buffer.from(text), 'invalid JSON: '));
    if (pipeline === undefined) throw new InvalidRequest(error);
    return pipeline;
  }
  const shown = hideSecretVars(readVars(vars));
  return requirePipeline(buildPipeline(text, { vars: shown })).pipeline;
}

/** The script of a pipeline. Throws `InvalidRequest` for what only JSON can express. */
export function printAsScript(pipeline: Pipeline): string {
  const { script, error } = printPipelineScript(pipeline);
  if (script === undefined) throw new InvalidRequest(error);
  return script;
}

/** The graph of a pipeline in the language of GraphViz. */
export function printAsDot(pipeline: Pipeline): string {
  return formatDot('pipeline', pipeline);
}
