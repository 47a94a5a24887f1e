// Converts between vars of a task and values of a script.
import { checkRegexSyntax, formatExpression, parseLambda } from '@tidemark/tickscript';
import type { VarType } from '@tidemark/tickscript';
import { unreachable } from '@tidemark/core';
import type { Vars, VarValue } from '../vars.ts';
import { EvaluationFailure } from './failure.ts';
import { inlineLambdas } from './lambda.ts';
import type { TextValue } from './text-source.ts';
import type { Value } from './value.ts';

const VAR_TYPES: readonly VarType[] = [
  'int',
  'float',
  'bool',
  'string',
  'regex',
  'duration',
  'lambda',
  'list',
  'star',
];

export function isVarType(name: string): name is VarType {
  return VAR_TYPES.some((each) => each === name);
}

/**
 * The recorded text for the first var (by name) with an invalid expression or regular expression.
 */
export function checkVarTexts(vars: Vars): string | undefined {
  for (const name of [...vars.keys()].sort()) {
    const value = vars.get(name)?.value;
    const problem = value === undefined ? undefined : textProblem(value);
    if (problem !== undefined) return `invalid var ${name}: ${problem}`;
  }
  return undefined;
}

function textProblem(value: VarValue): string | undefined {
  if (value.kind === 'regex') {
    const problem = checkRegexSyntax(value.pattern);
    return problem === undefined ? undefined : `invalid regex pattern: ${problem}`;
  }
  if (value.kind === 'lambda') {
    const { error } = parseLambda(value.text);
    return error === undefined ? undefined : `invalid lambda expression: ${error}`;
  }
  return undefined;
}

/** The value seen by the script. Its texts have been checked. */
export function valueOfVar(name: string, value: VarValue): Value {
  switch (value.kind) {
    case 'regex': {
      const literal = value.pattern.replaceAll('/', '\\/');
      return { kind: 'regex', pattern: value.pattern, literal };
    }
    case 'lambda': {
      const { expression, error } = parseLambda(value.text);
      if (expression !== undefined) return { kind: 'lambda', expression };
      const text = `invalid var ${name}: invalid lambda expression: ${error ?? ''}`;
      const span = { start: 0, end: 0 };
      throw new EvaluationFailure('TICK_INVALID_VAR', text, { span, isPositioned: false });
    }
    case 'secret':
      return { kind: 'string', value: value.value };
    case 'boolean':
    case 'integer':
    case 'float':
    case 'string':
    case 'duration':
    case 'star':
    case 'list':
      return value;
    default:
      return unreachable(value);
  }
}

/** A default as templates show it; `undefined` for values that are not literals. */
export function varValueOf(value: Value): VarValue | undefined {
  switch (value.kind) {
    case 'string':
      return textOf(value);
    case 'boolean':
    case 'integer':
    case 'float':
    case 'duration':
    case 'star':
      return value;
    case 'regex':
      return { kind: 'regex', pattern: value.pattern };
    case 'lambda':
      return { kind: 'lambda', text: formatExpression(inlineLambdas(value.expression)) };
    case 'list':
      return {
        kind: 'list',
        items: value.items
          .filter((each) => each.kind === 'string' || each.kind === 'star')
          .map((each) => (each.kind === 'string' ? textOf(each) : each)),
      };
    default:
      return undefined;
  }
}

/** Without its place in the script. */
function textOf({ value }: TextValue): { readonly kind: 'string'; readonly value: string } {
  return { kind: 'string', value };
}
