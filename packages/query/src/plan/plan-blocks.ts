// The output of EXPLAIN for each call of a SELECT, in the recorded words.
import { compareBytes } from '@tidemark/core';

import { print } from '../print.ts';
import type { SelectPlan } from './select-plan.ts';

/** The reads of one call, or of the raw columns, of a plan: the lines of one block of EXPLAIN. */
export type PlanBlock = {
  readonly expression: string;
  readonly auxiliaryFields: string | undefined;
  /** Names of the fields that are read. */
  readonly fields: readonly string[];
};

/** One block per call of the outermost SELECT, or one for a raw query. */
export function planBlocks(plan: SelectPlan): readonly PlanBlock[] {
  const auxiliary = (inputs: readonly number[]): string | undefined =>
    inputs.length === 0
      ? undefined
      : inputs
          .map((input) => inputText(plan, input))
          .sort(compareBytes)
          .join(', ');
  const fields = (inputs: readonly (number | undefined)[]): readonly string[] =>
    inputs.flatMap((index) => {
      const input = index === undefined ? undefined : plan.inputs[index];
      return input?.kind === 'field' ? [input.name] : [];
    });
  if (plan.calls.length === 0) {
    const selected = plan.inputs.slice(0, plan.selectedInputCount).map((_, i) => i);
    return [
      { expression: '<nil>', auxiliaryFields: auxiliary(selected), fields: fields(selected) },
    ];
  }
  return plan.calls.map((call) => ({
    expression:
      call.input === undefined
        ? print(call.expression)
        : typedCall(plan, print(call.expression), call.input),
    auxiliaryFields: auxiliary(plan.auxiliaryInputs),
    fields: fields([call.input, ...plan.auxiliaryInputs]),
  }));
}

function inputText(plan: SelectPlan, index: number): string {
  const input = plan.inputs[index];
  if (input === undefined) return '';
  return `${input.name}::${input.kind === 'field' ? input.type : input.kind}`;
}

/** `mean(heat)` with the type of its field: `mean(heat::float)`. */
function typedCall(plan: SelectPlan, key: string, index: number): string {
  const input = plan.inputs[index];
  if (input === undefined) return key;
  const typed = inputText(plan, index);
  const at = key.indexOf(input.name, key.indexOf('(') + 1);
  if (at < 0) return key;
  const rest = key.slice(at + input.name.length).replace(/^"?::\w+/, '');
  return `${key.slice(0, at)}${typed}${rest}`;
}
