// Checks that in the end every event of a point was delivered, events of one id in order, and none
// twice except, after a change of leader, the newest of its id, again in order and before anything
// newer.
//
// A request that was under way when the lease of its sender ended, because that was suspended, may
// arrive late: nothing can recall it ("Fencing" in docs/guide/engine-cluster.md). It is left out
// where it breaks the order. One that was sent after the lease has ended is a fault.
import type { Expected } from '../model/reference.ts';
import type { Run } from '../simulate.ts';

export function events({ model, dead }: Run, expected: Expected): string | undefined {
  if (dead.has('levels')) return undefined;
  for (const [id, messages] of expected.events) {
    const told = model.delivered.filter((event) => event.id === id);
    const terms: number[] = [];
    let next = 0;
    for (const { message, term, isLate } of told) {
      const index = messages.indexOf(message);
      if (isLate && index >= 0 && index !== next) continue;
      if (index < 0) return `${id} was told ${message}, which no point raises`;
      if (index > next) return `${id} was told ${message} before ${messages[next]}`;
      if (index < next && terms[index] === term && terms[next - 1] === term)
        return `${id} was told ${message} twice in term ${term}`;
      terms[index] = term;
      next = index + 1;
    }
    if (next < messages.length) return `${id} was not told ${messages.slice(next).join(', ')}`;
  }
  return undefined;
}
