// Handlers of scripts: `.slack().channel('#ops')` becomes a kind and its options.
import { InvalidRequest } from '@tidemark/core';
import type { HandlerSpec as ScriptHandler, PropertyCall, SpecValue } from '@tidemark/pipeline';
import type { CheckedAction } from './chain.ts';
import type { HandlerContext, HandlerKind, ScriptProperty } from './handler.ts';
import { convertOption, defaultOptions } from './options.ts';
import type { JsonValue, OptionSpec, OptionValue } from './options.ts';
import { findHandlerKind } from './registry.ts';

/** Reads and checks a script's handler. Throws `InvalidRequest` with what is wrong. */
export function readScriptHandler(
  handler: ScriptHandler,
  context: Omit<HandlerContext, 'signal'>,
): CheckedAction {
  const kind = findHandlerKind(handler.kind);
  if (kind?.script === undefined) {
    throw new InvalidRequest(`unsupported action kind ${JSON.stringify(handler.kind)}`);
  }
  const options: Record<string, OptionValue> = { ...defaultOptions(kind.options) };
  applyArguments(kind, handler.arguments, options);
  for (const call of handler.properties) {
    const property = kind.script.properties[call.name];
    if (property === undefined) {
      throw new InvalidRequest(
        `no property ${JSON.stringify(call.name)} on handler ${handler.kind}`,
      );
    }
    applyProperty(kind, property, call, options);
  }
  const problem = kind.validate?.(options, { ...context, signal: AbortSignal.abort() });
  if (problem !== undefined) throw new InvalidRequest(problem);
  return { kind, options };
}

function applyArguments(
  kind: HandlerKind,
  values: readonly SpecValue[],
  options: Record<string, OptionValue>,
): void {
  const targets = kind.script?.arguments ?? [];
  values.forEach((value, i) => {
    const target = targets[Math.min(i, targets.length - 1)];
    if (target === undefined || (i >= targets.length && target.mode !== 'append')) {
      throw new InvalidRequest(`too many arguments for handler ${kind.kind}`);
    }
    applyValues(kind, target, [value], options);
  });
}

function applyProperty(
  kind: HandlerKind,
  property: ScriptProperty,
  call: PropertyCall,
  options: Record<string, OptionValue>,
): void {
  applyValues(kind, property, call.values, options);
}

function applyValues(
  kind: HandlerKind,
  property: ScriptProperty,
  values: readonly SpecValue[],
  options: Record<string, OptionValue>,
): void {
  const plain = values.flatMap(plainValues);
  switch (property.mode) {
    case 'flag':
      options[property.option] = true;
      return;
    case 'append':
      options[property.option] = [...asList(options[property.option]), ...plain.map(asJson)];
      return;
    case 'entry': {
      const [name, value] = plain;
      const before = options[property.option];
      options[property.option] = {
        ...(before !== null && typeof before === 'object' && !Array.isArray(before) ? before : {}),
        [String(name)]:
          specOf(kind, property)?.type === 'string-map' ? String(value) : asJson(value ?? null),
      };
      return;
    }
    case 'object': {
      const entries = (property.keys ?? []).map((key, i) => [key, asJson(plain[i] ?? '')] as const);
      options[property.option] = [...asList(options[property.option]), Object.fromEntries(entries)];
      return;
    }
    case 'set': {
      const spec = specOf(kind, property);
      const converted = convertOption(spec?.type ?? 'string', toConvertible(plain[0], spec));
      if (!converted.ok)
        throw new InvalidRequest(`handler ${kind.kind}: ${property.option}: ${converted.reason}`);
      options[property.option] = converted.value;
      return;
    }
  }
}

function specOf(kind: HandlerKind, property: ScriptProperty): OptionSpec | undefined {
  return kind.options.find((spec) => spec.name === property.option);
}

// A script's integer for a text option is meant as text.
function toConvertible(value: OptionValue | undefined, spec: OptionSpec | undefined): unknown {
  return spec?.type === 'string' && typeof value === 'bigint' ? String(value) : value;
}

function asList(value: OptionValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function asJson(value: OptionValue): JsonValue {
  return typeof value === 'bigint' ? Number(value) : value;
}

function plainValues(value: SpecValue): readonly OptionValue[] {
  switch (value.kind) {
    case 'boolean':
    case 'float':
    case 'integer':
    case 'string':
      return [value.value];
    case 'duration':
      return [value.nanos];
    case 'regex':
      return [value.pattern];
    case 'star':
      return ['*'];
    case 'list':
      return value.items.flatMap(plainValues);
    case 'lambda':
      throw new InvalidRequest('a lambda has no place in a handler');
  }
}
