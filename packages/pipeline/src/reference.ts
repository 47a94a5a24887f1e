// Reference pages of nodes and handlers, made from their registry rows.
import { formatDuration } from '@tidemark/core';
import { formatFloat } from '@tidemark/tickscript';
import { formatParameters } from './complete.ts';
import { HANDLERS } from './definition/handler-registry.ts';
import type { HandlerRow } from './definition/handler-definition.ts';
import { QUIET } from './definition/node-definition.ts';
import type { NodeCategory, NodeRow } from './definition/node-definition.ts';
import { NODES } from './definition/registry.ts';
import type { SpecValue } from './pipeline.ts';

const CATEGORIES: readonly (readonly [NodeCategory, string])[] = [
  ['source', 'Sources'],
  ['transformation', 'Transformations'],
  ['function', 'Functions of the query language'],
  ['combination', 'Combinations'],
  ['output', 'Outputs'],
];

/** The page of all nodes, in Markdown. */
export function formatNodeReference(): string {
  const parts = ['# Nodes', '', `Every node has \`.${QUIET.name}()\`: ${QUIET.summary}.`, ''];
  for (const [category, title] of CATEGORIES) {
    parts.push(`## ${title}`, '');
    for (const row of NODES) if (row.category === category) parts.push(...formatNode(row));
  }
  return `${parts.join('\n').trimEnd()}\n`;
}

function formatNode(row: NodeRow): readonly string[] {
  const call = row.isRoot === true ? row.type : `|${row.type}${formatParameters(row.parameters)}`;
  const lines = [`### ${row.type}`, '', `\`${call}\` – ${row.summary}. ${edgesOf(row)}`, ''];
  if (row.properties.length > 0) {
    lines.push('| Property | Default | Meaning |', '|---|---|---|');
    for (const { name, parameters, summary, defaultValue } of row.properties) {
      const value = defaultValue === undefined ? '' : `\`${formatValue(defaultValue)}\``;
      lines.push(`| \`.${name}${formatParameters(parameters)}\` | ${value} | ${summary} |`);
    }
    lines.push('');
  }
  if (row.hasHandlers) lines.push('Handlers are properties too; see the page of handlers.', '');
  return lines;
}

function edgesOf({ wants, provides }: NodeRow): string {
  const input = wants === 'any' ? 'Takes streams and batches' : `Takes a ${wants}`;
  const output = provides === 'same' ? 'gives the same' : `gives a ${provides}`;
  return provides === 'none' ? `${input}.` : `${input}, ${output}.`;
}

/** The page of all handlers of the alert node, in Markdown. */
export function formatHandlerReference(): string {
  const parts = ['# Handlers', '', ...HANDLERS.flatMap(formatHandler)];
  return `${parts.join('\n').trimEnd()}\n`;
}

function formatHandler(row: HandlerRow): readonly string[] {
  const also = row.aliases.map((each) => `, also \`.${each}\``).join('');
  const lines = [
    `## ${row.name}`,
    '',
    `\`.${row.name}${formatParameters(row.parameters)}\`${also} – ${row.summary}. Kind of topic handlers: \`${row.kind}\`.`,
    '',
  ];
  if (row.properties.length > 0) {
    lines.push('| Property | Meaning |', '|---|---|');
    for (const { name, parameters, summary } of row.properties) {
      lines.push(`| \`.${name}${formatParameters(parameters)}\` | ${summary} |`);
    }
    lines.push('');
  }
  return lines;
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
