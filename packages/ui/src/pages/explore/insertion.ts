// The effect of a click in the schema on the statement: one that the form can express is changed;
// otherwise a new one is made, which answers at once.
import { EMPTY_QUERY, parseBuilt, printBuilt } from '../../query/builder.ts';
import type { BuiltQuery } from '../../query/builder.ts';
import type { MeasurementDetails } from './schema.ts';
import type { Chosen, ChosenName } from './schema-tree.tsx';

/** More lines are no longer told apart, so a tag with more values is not grouped by. */
const GROUP_VALUES_MAX = 100;
const FIELDS_MAX = 10;

const NUMBERS: ReadonlySet<string> = new Set(['float', 'integer', 'unsigned']);

export function insertion(text: string, chosen: Chosen, details: MeasurementDetails): string {
  const { policy, measurement } = chosen;
  const built = parseBuilt(text);
  const isSame = built?.measurement === measurement && built.policy === policy;
  if (chosen.kind === 'measurement' || !isSame) {
    const first = firstQuery(chosen, details);
    return printBuilt(
      chosen.kind === 'value' ? withValue(first, chosen.name, chosen.value) : first,
    );
  }
  switch (chosen.kind) {
    case 'field':
      return printBuilt(withField(built, chosen.name, details));
    case 'tag':
      return printBuilt({ ...built, groupTags: toggled(built.groupTags, chosen.name) });
    case 'value':
      return printBuilt(withValue(built, chosen.name, chosen.value));
  }
}

/** Means of numbers by intervals, grouped by the tags that distinguish series. */
function firstQuery(chosen: Chosen, details: MeasurementDetails): BuiltQuery {
  const { policy, measurement } = chosen;
  const isWanted = ({ name }: { readonly name: string }): boolean =>
    chosen.kind !== 'field' || chosen.name === name;
  const wanted = details.fields.filter(isWanted);
  const numbers = wanted.filter(({ type }) => NUMBERS.has(type)).slice(0, FIELDS_MAX);
  const base = { ...EMPTY_QUERY, policy, measurement };
  if (numbers.length === 0) {
    return { ...base, fields: wanted.slice(0, FIELDS_MAX).map(({ name }) => ({ name, call: '' })) };
  }
  const tags = details.tags
    .filter(
      ({ name, valueCount }) =>
        (chosen.kind === 'tag' && chosen.name === name) ||
        (valueCount > 1 && valueCount <= GROUP_VALUES_MAX),
    )
    .map(({ name }) => name);
  return {
    ...base,
    fields: numbers.map(({ name }) => ({ name, call: 'mean' })),
    groupTags: tags,
    window: '$interval',
  };
}

function withField(query: BuiltQuery, name: string, details: MeasurementDetails): BuiltQuery {
  const { fields, window } = query;
  if (fields.some((field) => field.name === name)) {
    const others = fields.filter((field) => field.name !== name);
    return others.length === 0 ? query : { ...query, fields: others };
  }
  const type = details.fields.find((field) => field.name === name)?.type ?? '';
  const call = window === '' ? '' : NUMBERS.has(type) ? 'mean' : 'last';
  return { ...query, fields: [...fields, { name, call }] };
}

function withValue(query: BuiltQuery, tag: string, value: string): BuiltQuery {
  const others = query.filters.filter((filter) => filter.tag !== tag);
  const before = query.filters.find((filter) => filter.tag === tag);
  const values = toggled(before?.values ?? [], value);
  const isNot = before?.isNot ?? false;
  return { ...query, filters: values.length === 0 ? others : [...others, { tag, isNot, values }] };
}

const toggled = (all: readonly string[], one: string): readonly string[] =>
  all.includes(one) ? all.filter((each) => each !== one) : [...all, one];

/** Whether a name of the schema is part of the statement. */
export function isChosen(built: BuiltQuery | undefined, one: ChosenName): boolean {
  if (built?.measurement !== one.measurement) return false;
  switch (one.kind) {
    case 'measurement':
      return true;
    case 'field':
      return built.fields.some(({ name }) => name === one.name);
    case 'tag':
      return built.groupTags.includes(one.name);
    case 'value':
      return built.filters.some(
        ({ tag, values }) => tag === one.name && values.includes(one.value),
      );
  }
}
