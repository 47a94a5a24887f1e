// Specialises an expression for points of one shape: resolves references to slot readers, calls to
// signatures, and operators to types. Type errors of the shape are found here, once.
import { unreachable } from '@tidemark/core';
import type { ExpressionNode, FunctionNode } from '@tidemark/tickscript';
import type { Schema, Value } from '../data/schema.ts';
import type { TagKeys } from '../data/series.ts';
import { EvaluationError } from './errors.ts';
import type { CallContext, FunctionRow, FunctionState, Signature } from './function.ts';
import type { EarlierResults, FunctionTable, StateSlots } from './lambda.ts';
import { binary, unary } from './operators.ts';
import type { Regex } from './regex.ts';
import { compileRegex } from './regex.ts';
import type { Run, Typed } from './typed.ts';
import { failing } from './typed.ts';

export type Shape = {
  readonly schema: Schema;
  readonly keys: TagKeys;
  readonly earlier: EarlierResults;
  readonly slots: StateSlots;
  readonly functions: FunctionTable;
};

/** Specialises the expression of a lambda. */
export function specialise(expression: ExpressionNode, shape: Shape): Typed {
  return expr(expression, shape, expression);
}

function expr(node: ExpressionNode, shape: Shape, owner: ExpressionNode): Typed {
  switch (node.kind) {
    case 'boolean':
    case 'string':
    case 'float':
      return constant(node.kind, node.value);
    case 'integer':
      return constant('int', node.value);
    case 'duration':
      return constant('duration', node.nanos);
    case 'regex':
      return constant('regex', compileRegex(node.pattern));
    case 'reference':
      return reference(node.name, shape);
    case 'unary':
      return unary(node.operator, expr(node.operand, shape, owner));
    case 'binary':
      return binary(node.operator, expr(node.left, shape, owner), expr(node.right, shape, owner));
    case 'lambda':
      return expr(node.expression, shape, node.expression);
    case 'function':
      return call(node, shape, owner);
    case 'star':
    case 'list':
    case 'identifier':
    case 'chain':
      return failing(`unexpected ${node.kind} in a lambda expression`);
    default:
      return unreachable(node);
  }
}

function constant(type: Typed['type'], value: Value | Regex): Typed {
  return { type, run: () => value, constant: { value } };
}

function reference(name: string, shape: Shape): Typed {
  if (name === 'time') return { type: 'time', run: (p) => p.time };
  const field = shape.schema.field(name);
  if (field !== undefined && field.type !== 'null') {
    const { slot } = field;
    const isFloatColumn = slot.kind === 'column' && field.type === 'float';
    return {
      type: field.type,
      run: field.read,
      ...(isFloatColumn ? { floatColumn: slot.index } : {}),
    };
  }
  const tag = shape.keys.indexOf.get(name);
  if (tag !== undefined) {
    return { type: 'string', run: (p) => p.series.values[tag] as string };
  }
  const earlier = shape.earlier.get(name);
  if (earlier !== undefined) {
    const index = earlier.index;
    return { type: earlier.type, run: (_, f) => f.results[index] as Value };
  }
  return {
    type: 'missing',
    name,
    run: () => {
      throw new EvaluationError(`missing value: "${name}"`);
    },
  };
}

const ARGUMENTS_MAX = 4;

function call(node: FunctionNode, shape: Shape, owner: ExpressionNode): Typed {
  const row = shape.functions.get(node.name);
  if (row === undefined) return failing(`undefined function: "${node.name}"`);
  const args = node.arguments.map((argument) => expr(argument, shape, owner));
  const broken = args.findIndex((arg) => arg.failure !== undefined);
  if (broken >= 0) {
    return failing(`Failed to handle ${broken + 1} argument: ${args[broken]?.failure?.message}`);
  }
  if (args.length > ARGUMENTS_MAX) {
    return failing(`too many arguments provided: ${args.length} to "${node.name}"`);
  }
  const signature = row.signatures.find(
    (s) => s.args.length === args.length && s.args.every((type, i) => type === args[i]?.type),
  );
  if (signature === undefined) return failing(noSignature(node, row, { args, shape }));
  const run = callRun(row, signature, { args, slot: shape.slots.get(owner)?.get(row.name) });
  return { type: signature.result, run };
}

function noSignature(
  node: FunctionNode,
  row: FunctionRow,
  call: { readonly args: readonly Typed[]; readonly shape: Shape },
): string {
  const missing = call.args.filter((arg) => arg.type === 'missing');
  if (missing.length > 0) {
    const names = missing.map((arg) => `"${arg.name}"`).join(', ');
    const scope = [...call.shape.schema.indexOf.keys(), ...call.shape.keys.names];
    const [noun, verb] = missing.length === 1 ? ['argument', 'is'] : ['arguments', 'are'];
    const values = scope.map((name) => `"${name}"`).join(', ');
    return `Cannot call function "${row.name}" ${noun} ${names} ${verb} missing, values in scope are [${values}]`;
  }
  const given = call.args.map((arg, i) => `${argumentText(node.arguments[i])}: ${arg.type}`);
  const available = row.signatures.map((s) => `(${s.args.join(',')})`).join(', ');
  return `Cannot call function "${row.name}" with args (${given.join(',')}), available signatures are [${available}].`;
}

function argumentText(node: ExpressionNode | undefined): string {
  switch (node?.kind) {
    case 'reference':
      return JSON.stringify(node.name);
    case 'duration':
      return node.text;
    case 'regex':
      return node.literal;
    case 'integer':
    case 'float':
    case 'string':
    case 'boolean':
      return String(node.value);
    case 'function':
      return `${node.name}()`;
    default:
      return 'expression';
  }
}

type Callee = (...args: (Value | Regex | FunctionState | CallContext)[]) => Value | Regex;

function callRun(
  row: FunctionRow,
  signature: Signature,
  options: { readonly args: readonly Typed[]; readonly slot: number | undefined },
): Run {
  const callee = signature.call as Callee;
  const args = options.args.map((arg) => arg.run);
  let run = plainRun(callee, args);
  if (options.slot !== undefined) run = statefulRun(callee, args, options.slot);
  else if (row.isContextual === true) {
    run = (p, f) => callee(f.context, ...args.map((arg) => arg(p, f)));
  }
  if (row.name === 'isPresent') return () => callee();
  return row.isTotal === true ? run : explained(row.name, run, args);
}

function plainRun(callee: Callee, args: readonly Run[]): Run {
  const [a, b, c, d] = args;
  if (a === undefined) return () => callee();
  if (b === undefined) return (p, f) => callee(a(p, f));
  if (c === undefined) return (p, f) => callee(a(p, f), b(p, f));
  if (d === undefined) return (p, f) => callee(a(p, f), b(p, f), c(p, f));
  return (p, f) => callee(a(p, f), b(p, f), c(p, f), d(p, f));
}

function statefulRun(callee: Callee, args: readonly Run[], slot: number): Run {
  const [a] = args;
  if (a === undefined) return (_, f) => callee(f.states[slot] as FunctionState);
  return (p, f) => {
    // The argument first: when it fails the state must not move.
    const value = a(p, f);
    return callee(f.states[slot] as FunctionState, value);
  };
}

/** Distinguishes a failure of the function from one of its arguments, in the recorded words. */
function explained(name: string, run: Run, args: readonly Run[]): Run {
  if (args.length === 0) return run;
  return (p, f) => {
    try {
      return run(p, f);
    } catch (cause) {
      if (cause instanceof EvaluationError && !cause.message.startsWith('error calling')) {
        throw new EvaluationError(`error calling "${name}": ${cause.message}`);
      }
      throw cause;
    }
  };
}
