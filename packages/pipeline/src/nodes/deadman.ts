// deadman: alerts when a node emits too few points. Built from stats, derivative and alert.
import { formatClockDuration } from '@tidemark/core';
import type { ExpressionNode } from '@tidemark/tickscript';
import type { DraftNode } from '../evaluate/draft.ts';
import type { DeadmanConfig } from '../evaluate/deadman-config.ts';
import { parameter, variadic } from '../evaluate/parameter.ts';
import { floatLiteral } from '../evaluate/value.ts';
import type { Value } from '../evaluate/value.ts';
import type { Macro, MacroCall } from '../definition/macro.ts';
import type { LambdaSpec } from '../pipeline.ts';
import { alertNode } from './alert.ts';
import { derivativeNode } from './derivative.ts';
import { addStats } from './stats.ts';

/** `node|deadman(threshold, interval, conditions…)`; returns the alert node. */
export const deadmanMacro: Macro = {
  name: 'deadman',
  summary: 'alerts when too few points come',
  parameters: [
    parameter('threshold', 'float'),
    parameter('interval', 'duration'),
    { ...variadic('condition', 'lambda'), gives: 'boolean' },
  ],
  isEverywhere: true,
  makes: alertNode,
  apply: (call) =>
    addDeadman(call, {
      threshold: call.values.float(0),
      intervalNanos: call.values.nanos(1),
      conditions: call.values.lambdas(2),
      config: call.deadman,
    }),
};

type Deadman = {
  readonly threshold: number;
  readonly intervalNanos: bigint;
  readonly conditions: readonly LambdaSpec[];
  readonly config: DeadmanConfig;
};

/** The deadman that the configuration adds to a source. */
export function addGlobalDeadman(call: Omit<MacroCall, 'values'>): DraftNode {
  const { threshold, intervalNanos } = call.deadman;
  return addDeadman(call, { threshold, intervalNanos, conditions: [], config: call.deadman });
}

function addDeadman(call: Omit<MacroCall, 'values'>, deadman: Deadman): DraftNode {
  const { graph, source, span } = call;
  const { intervalNanos, config } = deadman;
  const interval: Value = { kind: 'duration', nanos: intervalNanos };
  const stats = addStats(call, interval);
  graph.call(stats, 'align', [], span);
  const derivative = graph.add(derivativeNode, {
    parents: [stats],
    values: [{ kind: 'string', value: 'emitted' }],
    span,
  });
  graph.call(derivative, 'unit', [interval], span);
  graph.call(derivative, 'nonNegative', [], span);
  const alert = graph.add(alertNode, { parents: [derivative], values: [], span });
  const id = config.id.replaceAll('NODE_NAME', source.name);
  const message = config.message.replaceAll('INTERVAL', formatClockDuration(intervalNanos));
  graph.call(alert, 'id', [{ kind: 'string', value: id }], span);
  graph.call(alert, 'message', [{ kind: 'string', value: message }], span);
  graph.call(alert, 'crit', [deadmanCondition(deadman.threshold, deadman.conditions)], span);
  return alert;
}

/** `"emitted" <= threshold AND …`. */
function deadmanCondition(threshold: number, conditions: readonly LambdaSpec[]): LambdaSpec {
  const span = { start: 0, end: 0 };
  const operation = { kind: 'binary', isParenthesized: false, isMultiLine: false, span } as const;
  let expression: ExpressionNode = {
    ...operation,
    operator: '<=',
    left: { kind: 'reference', name: 'emitted', span },
    right: floatLiteral(threshold),
  };
  for (const { expression: condition } of conditions) {
    const right: ExpressionNode =
      condition.kind === 'binary' ? { ...condition, isParenthesized: true } : condition;
    expression = { ...operation, operator: 'AND', left: expression, right };
  }
  return { kind: 'lambda', expression };
}
