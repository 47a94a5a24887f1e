// Reference pages of nodes and handlers, generated from their definitions.
import { formatDuration } from '@tidemark/core';
import { formatFloat } from '@tidemark/tickscript';
import { formatParameters } from './complete.ts';
import type { HandlerDefinition } from './definition/handler-definition.ts';
import { QUIET } from './definition/node-definition.ts';
import type { NodeCategory, NodeRow } from './definition/node-definition.ts';
import { NODES } from './definition/registry.ts';
import { HANDLER_DEFINITIONS } from './handlers/registry.gen.ts';
import type { SpecValue } from './pipeline.ts';

const CATEGORIES: readonly (readonly [NodeCategory, string])[] = [
  ['source', 'Sources'],
  ['transformation', 'Transformations'],
  ['function', 'Functions of the query language'],
  ['combination', 'Combinations'],
  ['output', 'Outputs'],
];

const HANDLERS_TOO = 'Handlers are properties, too; see [their page](alert-handlers.md).';

/** The page of all nodes, in Markdown. */
export function formatNodeReference(): string {
  const parts = CATEGORIES.flatMap(([category, title]) => [
    `## ${title}`,
    ...NODES.filter((row) => row.category === category).flatMap(formatNode),
  ]);
  const quiet = `Every node has ${quote(`.${QUIET.name}()`)}: ${QUIET.summary}.`;
  return `${['# Nodes of the script language', quiet, ...parts].join('\n\n')}\n`;
}

function formatNode(row: NodeRow): readonly string[] {
  const call = row.isRoot === true ? row.type : `|${row.type}${formatParameters(row.parameters)}`;
  const properties = row.properties.map(({ name, parameters, summary, defaultValue }) => [
    quote(`.${name}${formatParameters(parameters)}`),
    defaultValue === undefined ? '' : quote(formatValue(defaultValue)),
    summary,
  ]);
  return [
    `### ${row.type}`,
    `${quote(call)} – ${row.summary}. ${edgesOf(row)}`,
    ...table(['Property', 'Default', 'Meaning'], properties),
    ...(row.hasHandlers ? [HANDLERS_TOO] : []),
  ];
}

function edgesOf({ wants, provides }: NodeRow): string {
  const input = wants === 'any' ? 'Takes streams and batches' : `Takes a ${wants}`;
  const output = provides === 'same' ? 'gives the same' : `gives a ${provides}`;
  return provides === 'none' ? `${input}.` : `${input}, ${output}.`;
}

/** The page of all kinds of handlers, in Markdown. */
export function formatHandlerReference(): string {
  return `${['# Alert handlers', ...HANDLER_DEFINITIONS.flatMap(formatHandler)].join('\n\n')}\n`;
}

function formatHandler(definition: HandlerDefinition): readonly string[] {
  const { kind, aliases = [], doc, options, script } = definition;
  const also = aliases.length === 0 ? [] : [`Also ${aliases.map(quote).join(', ')}.`];
  const calls = script && [script.name, ...script.aliases].map((name) => quote(`.${name}()`));
  const scripts = calls === undefined ? 'Not in scripts.' : `In scripts: ${calls.join(', ')}.`;
  const rows = Object.entries(options).map(([name, row]) => [
    quote(name),
    row.type,
    row.reaches === 'program' || row.reaches === 'file'
      ? `${row.doc} Only what \`alert.allowed-${row.reaches}s\` lists.`
      : row.doc,
  ]);
  const properties = (script?.properties ?? []).map(({ name, parameters, summary }) => [
    quote(`.${name}${formatParameters(parameters)}`),
    summary,
  ]);
  return [
    `## ${kind}`,
    [doc, ...also, scripts].join(' '),
    ...table(['Option', 'Type', 'Meaning'], rows),
    ...table(['Property in scripts', 'Meaning'], properties),
  ];
}

const quote = (text: string): string => `\`${text}\``;

/** Empty without rows. */
function table(titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = `|${titles.map(() => '---').join('|')}|`;
  return [[line(titles), rule, ...rows.map(line)].join('\n')];
}

function formatValue(value: SpecValue): string {
  switch (value.kind) {
    case 'boolean':
      return value.value ? 'TRUE' : 'FALSE';
    case 'integer':
      return String(value.value);
    case 'float':
      return formatFloat(value.value);
    case 'duration':
      return formatDuration(value.nanos);
    case 'string':
      return `'${value.value}'`;
    default:
      return value.kind;
  }
}
