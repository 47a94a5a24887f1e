// The metrics (names, units, help texts) of the counters that a memory budget keeps.
import type { MetricRow } from './metrics.ts';

const COUNTERS = [
  ['Bytes', 'memory_budget_bytes', 'gauge', 'Memory of a budget that is taken.'],
  ['LimitBytes', 'memory_budget_limit_bytes', 'gauge', 'Memory of a budget; 0 is no limit.'],
  ['Waiting', 'memory_budget_waiting', 'gauge', 'Requests waiting for memory of a budget.'],
  ['Waited', 'memory_budget_waited_total', 'counter', 'Requests that had to wait for memory.'],
  [
    'Refused',
    'memory_budget_refused_total',
    'counter',
    'Requests refused after waiting for memory.',
  ],
  [
    'CutOff',
    'memory_budget_cut_off_total',
    'counter',
    'Requests that lost their memory to others for lack of progress.',
  ],
] as const;

/**
 * Rows of one budget, whose counters in the module `memory` are called `bodyLimitBytes` or
 * `body_limit_bytes`.
 */
export function budgetRows(budget: string, form: 'camel' | 'snake'): readonly MetricRow[] {
  return COUNTERS.map(([counter, name, type, help]) => ({
    module: 'memory',
    value: form === 'camel' ? `${budget}${counter}` : `${budget}${snake(counter)}`,
    name,
    type,
    help,
    labels: { budget: snake(budget).replace(/^_/, '') },
  }));
}

function snake(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
