// Grouping by tags, the common part of the `groupBy` of several nodes.
import type { TagSelection } from '../definition/split.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { scriptTypeName } from '../evaluate/hints.ts';
import { typeName } from '../evaluate/value.ts';

/** `isAll` is `*`; then `tags` is empty. Tags are in the order of the script. */
export type Dimensions = { readonly isAll: boolean; readonly tags: readonly string[] };

export const noDimensions: Dimensions = { isAll: false, tags: [] };

/** The tags in dimensions; some may be excluded from `*`. */
export function tagsOf({ isAll, tags }: Dimensions, exclude: readonly string[] = []): TagSelection {
  return { isAllBut: isAll, tags: isAll ? exclude : tags };
}

/**
 * Dimensions of a call such as `.groupBy('a', 'b')` or `.groupBy(*)`. Errors are reported at
 * validation.
 */
export function dimensionsOf(values: Arguments): Dimensions {
  const tags: string[] = [];
  let isAll = false;
  for (const value of values.values) {
    if (value.kind === 'star') {
      isAll = true;
      if (values.values.length > 1) {
        values.refuseLater("cannot group by both '*' and named dimensions.", {
          hint: 'leave out * or the names',
        });
      }
    } else if (value.kind === 'string') {
      if (value.value === '') {
        values.refuseLater('dimensions cannot not be the empty string', {
          hint: 'leave the empty name out',
        });
      }
      tags.push(value.value);
    } else {
      values.refuseLater(`invalid dimension object of type ${typeName(value)}`, {
        found: scriptTypeName(value),
        expected: ['string', '*'],
        hint: "write tags in single quotes: groupBy('host'), or groupBy(*)",
      });
    }
  }
  return isAll ? { isAll, tags: [] } : { isAll, tags };
}
