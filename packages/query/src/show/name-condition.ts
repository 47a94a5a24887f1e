// `_name` in the condition of a SHOW statement: the name of the measurement, as if it were a tag of
// its series.
import { rewritePredicate, someOf } from '../predicate.ts';
import { textMatcher } from '../regex.ts';
import type { Predicate } from '../series-source.ts';

const NAME = '_name';

/** Whether a condition reads the name of the measurement. */
export function asksForName(where: Predicate): boolean {
  return someOf(where, isOfName);
}

function isOfName(part: Predicate): boolean {
  return (part.kind === 'tag' || part.kind === 'tag-regex') && part.key === NAME;
}

/** The condition on the series of one measurement. */
export function forMeasurement(where: Predicate, name: string): Predicate {
  return rewritePredicate(where, (part) => {
    switch (part.kind) {
      case 'tag':
        if (!isOfName(part)) return part;
        return { kind: 'constant', value: (part.value === name) === (part.operator === '=') };
      case 'tag-regex': {
        if (!isOfName(part)) return part;
        const isMatch = textMatcher(part.pattern)(name);
        return { kind: 'constant', value: isMatch === (part.operator === '=~') };
      }
      default:
        return part;
    }
  });
}
