// At the end every event of a counted point was delivered, first deliveries in order, and nothing
// was delivered again but the newest events around a change of leaders.
import type { Run } from '../simulate.ts';

export function events({ model, raised, marks }: Run): string | undefined {
  const first = [...new Set(model.delivered)];
  const repeats = model.delivered.length - first.length;
  const terms = marks.get('leads') ?? 0;
  if (repeats > Math.max(0, terms - 1)) return `${repeats} events told again in ${terms} terms`;
  const order = raised.filter((point) => first.includes(point));
  if (order.join() !== first.join()) return `events in the order ${first.join(' ')}`;
  const missing = raised.filter((point) => !first.includes(point));
  return missing.length === 0 ? undefined : `events of ${missing.join(' ')} were not told`;
}
