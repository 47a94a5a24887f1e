// `_name` in the condition of a SHOW statement: the name of the measurement, as if it were a tag of
// its series.
import { textMatcher } from '../regex.ts';
import type { Predicate } from '../series-source.ts';

const NAME = '_name';

/** Whether a condition reads the name of the measurement. */
export function asksForName(where: Predicate): boolean {
  switch (where.kind) {
    case 'and':
    case 'or':
      return asksForName(where.left) || asksForName(where.right);
    case 'tag':
    case 'tag-regex':
      return where.key === NAME;
    default:
      return false;
  }
}

/** The condition on the series of one measurement. */
export function forMeasurement(where: Predicate, name: string): Predicate {
  switch (where.kind) {
    case 'and':
    case 'or': {
      const left = forMeasurement(where.left, name);
      const right = forMeasurement(where.right, name);
      const decisive = where.kind === 'or';
      if (left.kind === 'constant') return left.value === decisive ? left : right;
      if (right.kind === 'constant') return right.value === decisive ? right : left;
      return { kind: where.kind, left, right };
    }
    case 'tag':
      if (where.key !== NAME) return where;
      return { kind: 'constant', value: (where.value === name) === (where.operator === '=') };
    case 'tag-regex': {
      if (where.key !== NAME) return where;
      const isMatch = textMatcher(where.pattern)(name);
      return { kind: 'constant', value: isMatch === (where.operator === '=~') };
    }
    default:
      return where;
  }
}
