// What does not keep a task from starting, as recorded, but fails for every point that comes.
import { doomedParts, LAMBDA_FUNCTIONS, MAX_DIAGNOSTICS } from '@tidemark/tickscript';
import type { DoomedPart, LambdaType } from '@tidemark/tickscript';
import { placeOf } from '../node-problem.ts';
import type { SpecValue } from '../pipeline.ts';
import type { DraftNode } from './draft.ts';
import { EvaluationFailure } from './failure.ts';
import { didYouMean } from './hints.ts';

/** Nodes and their properties whose lambdas are conditions. */
const CONDITIONS: ReadonlySet<string> = new Set([
  'where',
  'stateCount',
  'stateDuration',
  'combine',
  'from.where',
  ...['info', 'warn', 'crit'].flatMap((level) => [`alert.${level}`, `alert.${level}Reset`]),
]);

/** Findings about the lambdas of all nodes, in the order of the nodes. */
export function warningsOf(nodes: readonly DraftNode[]): readonly EvaluationFailure[] {
  const failures: EvaluationFailure[] = [];
  for (const node of nodes) {
    const { type } = node.row;
    failures.push(...warningsAbout(node, node.arguments, { call: type }));
    for (const { name, values } of node.properties) {
      failures.push(...warningsAbout(node, values, { call: `${type}.${name}`, property: name }));
    }
    if (failures.length >= MAX_DIAGNOSTICS.value) break;
  }
  return failures.slice(0, MAX_DIAGNOSTICS.value);
}

function warningsAbout(
  node: DraftNode,
  values: readonly SpecValue[],
  { call, property }: { readonly call: string; readonly property?: string },
): readonly EvaluationFailure[] {
  return values.flatMap((value) => {
    if (value.kind !== 'lambda') return [];
    return doomedParts(value.expression, wantedBy(call)).map((part) => {
      const { text, span: within, found, expected } = part;
      const properties = property === undefined ? [] : [property];
      const span = placeOf(node, { span: within, properties });
      const details = { span, isPositioned: false, found, expected, hint: hintFor(part) };
      return new EvaluationFailure('TICK_FAILS_ON_POINTS', `${node.name}: ${text}`, details);
    });
  });
}

function wantedBy(call: string): LambdaType | undefined {
  if (CONDITIONS.has(call)) return 'boolean';
  return call.endsWith('Autoscale.replicas') ? 'int' : undefined;
}

function hintFor({ found, expected, hint }: DoomedPart): string | undefined {
  if (hint !== undefined || found === undefined || expected !== undefined) return hint;
  return didYouMean(found, LAMBDA_FUNCTIONS.keys());
}
