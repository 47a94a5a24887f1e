// The effect of a click in the schema on the statement: one that the form can express is extended;
// otherwise a new one is created.
import { EMPTY_QUERY, parseBuilt, printBuilt } from '../../query/builder.ts';
import type { BuiltQuery } from '../../query/builder.ts';
import type { Chosen } from './schema-tree.tsx';

export function insertion(text: string, chosen: Chosen): string {
  const { policy, measurement } = chosen;
  const built = parseBuilt(text);
  const base: BuiltQuery = built?.measurement === measurement ? built : EMPTY_QUERY;
  return printBuilt(withChosen({ ...base, policy, measurement }, chosen));
}

function withChosen(query: BuiltQuery, chosen: Chosen): BuiltQuery {
  switch (chosen.kind) {
    case 'measurement':
      return query;
    case 'field': {
      if (query.fields.some(({ name }) => name === chosen.name)) return query;
      const call = query.window === '' ? '' : 'mean';
      return { ...query, fields: [...query.fields, { name: chosen.name, call }] };
    }
    case 'tag': {
      const { groupTags } = query;
      const isIn = groupTags.includes(chosen.name);
      return {
        ...query,
        groupTags: isIn
          ? groupTags.filter((tag) => tag !== chosen.name)
          : [...groupTags, chosen.name],
      };
    }
    case 'value': {
      const others = query.filters.filter(({ tag }) => tag !== chosen.name);
      const values = query.filters.find(({ tag }) => tag === chosen.name)?.values ?? [];
      const next = values.includes(chosen.value) ? values : [...values, chosen.value];
      return { ...query, filters: [...others, { tag: chosen.name, isNot: false, values: next }] };
    }
  }
}
