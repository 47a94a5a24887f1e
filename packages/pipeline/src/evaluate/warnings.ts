// Mistakes that do not prevent the start of a task, as recorded, but fail on every point.
import { failingParts, LAMBDA_FUNCTIONS, MAX_DIAGNOSTICS } from '@tidemark/tickscript';
import type { FailingPart } from '@tidemark/tickscript';
import { placeOf } from '../definition/node-diagnostic.ts';
import type { SpecValue } from '../pipeline.ts';
import type { DraftNode } from './draft.ts';
import { EvaluationFailure } from './failure.ts';
import { didYouMean } from './hints.ts';
import type { Parameter } from './parameter.ts';

/** Findings about the lambdas of all nodes, in the order of the nodes. */
export function warningsOf(nodes: readonly DraftNode[]): readonly EvaluationFailure[] {
  const failures: EvaluationFailure[] = [];
  for (const node of nodes) {
    const { row } = node;
    failures.push(...warningsAbout(node, node.arguments, { parameters: row.parameters }));
    for (const { name, values } of node.properties) {
      const parameters = row.properties.find((each) => each.name === name)?.parameters ?? [];
      failures.push(...warningsAbout(node, values, { parameters, property: name }));
    }
    if (failures.length >= MAX_DIAGNOSTICS.value) break;
  }
  return failures.slice(0, MAX_DIAGNOSTICS.value);
}

function warningsAbout(
  node: DraftNode,
  values: readonly SpecValue[],
  {
    parameters,
    property,
  }: { readonly parameters: readonly Parameter[]; readonly property?: string },
): readonly EvaluationFailure[] {
  return values.flatMap((value, index) => {
    if (value.kind !== 'lambda') return [];
    return failingParts(
      value.expression,
      parameters[Math.min(index, parameters.length - 1)]?.gives,
    ).map((part) => {
      const { text, span: within, found, expected } = part;
      const properties = property === undefined ? [] : [property];
      const span = placeOf(node, { span: within, properties });
      const details = { span, isPositioned: false, found, expected, hint: hintFor(part) };
      return new EvaluationFailure('TICK_FAILS_ON_POINTS', `${node.name}: ${text}`, details);
    });
  });
}

function hintFor({ found, expected, hint }: FailingPart): string | undefined {
  if (hint !== undefined || found === undefined || expected !== undefined) return hint;
  return didYouMean(found, LAMBDA_FUNCTIONS.keys());
}
