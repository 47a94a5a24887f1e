// Templates of handler options and configured endpoints.
import { InvalidRequest, messageOf } from '@tidemark/core';
import type { HandlerContext } from '@tidemark/alerting';
import {
  JSON_FUNCTIONS,
  Template,
  TemplateDuration,
  TemplateMap,
  TemplateStruct,
  TemplateTime,
} from '@tidemark/runtime';
import type { TemplateValue } from '@tidemark/runtime';

// Texts of configuration and handlers: few, each reused for every event.
const TEMPLATES_MAX = 1000;
const parsed = new Map<string, Template>();

/**
 * Renders a template over plain data. Throws `InvalidRequest` when it cannot be parsed or executed.
 */
export const renderTemplate: HandlerContext['render'] = (text, scope) => {
  if (!text.includes('{{')) return text;
  try {
    return templateOf(text).execute(structOf(scope));
  } catch (cause) {
    throw new InvalidRequest(messageOf(cause), { cause });
  }
};

/** The syntax error of a template. */
export const checkTemplate: HandlerContext['checkTemplate'] = (name, text) => {
  try {
    new Template(name, text, { functions: JSON_FUNCTIONS });
    return undefined;
  } catch (cause) {
    // The error is the result.
    return messageOf(cause);
  }
};

function templateOf(text: string): Template {
  let template = parsed.get(text);
  if (template === undefined) {
    template = new Template('handler', text, { functions: JSON_FUNCTIONS });
    if (parsed.size >= TEMPLATES_MAX) parsed.clear();
    parsed.set(text, template);
  }
  return template;
}

function structOf(scope: Readonly<Record<string, unknown>>): TemplateStruct {
  const fields = Object.entries(scope).map(([name, value]) => [name, valueOf(value)]);
  return new TemplateStruct('alert.EventData', Object.fromEntries(fields));
}

// Maps of texts print nothing for a missing key, maps of anything print `<no value>`.
function valueOf(value: unknown): TemplateValue {
  if (value instanceof TemplateTime || value instanceof TemplateDuration) return value;
  if (Array.isArray(value)) return value.map(valueOf);
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).map(([key, item]) => [key, valueOf(item)] as const);
    const isOfTexts = entries.every(([, item]) => typeof item === 'string');
    return new TemplateMap(entries, isOfTexts ? '' : undefined);
  }
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value;
    default:
      return undefined;
  }
}
