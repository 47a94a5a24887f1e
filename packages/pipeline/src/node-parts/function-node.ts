// The common part of nodes that apply one function of the query language to a field.
import { defineNode } from '../definition/node-definition.ts';
import type { NodeDefinition, NodeRow } from '../definition/node-definition.ts';
import { flagOption, stringArgument, stringOption } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';
import type { Option, OptionsOf, OptionTable } from '../definition/option.ts';

/** The argument that names the field, and the properties of all functions. */
export const FIELD = stringArgument('field');

type FunctionProperties = {
  readonly as: Option<string>;
  readonly isUsingPointTimes: Option<boolean>;
};

/** Options of all functions; those with further arguments have more. */
export type FunctionOptions = {
  readonly field: string;
  /** Name of the result field. */
  readonly as: string;
  readonly isUsingPointTimes: boolean;
};

/** The row of a function; `label` is its name in results and in names of nodes, if different. */
export function defineFunction<const Table extends OptionTable>({
  type,
  label = type,
  summary,
  provides,
  options,
}: {
  readonly type: string;
  readonly label?: string | undefined;
  readonly summary: string;
  readonly provides: NodeDefinition<Table>['provides'];
  /** Arguments in their order, the field among them. */
  readonly options: Table;
}): NodeRow<OptionsOf<Table & FunctionProperties>> {
  const properties: FunctionProperties = {
    as: stringOption(
      'as',
      'name of the result field; the name of the function if not given',
      label,
    ),
    isUsingPointTimes: flagOption('usePointTimes', 'the result has the time of its point'),
  };
  return defineNode<Table & FunctionProperties>({
    type,
    label,
    className: 'InfluxQLNode',
    category: 'function',
    summary,
    wants: 'any',
    provides,
    split: PER_GROUP,
    options: { ...options, ...properties },
  });
}
