// Sections of a configuration for tests.
import { optionsOf } from '@tidemark/settings';
import type { Options, OptionsOf, OptionTable, Sections, SectionSpec } from '@tidemark/settings';

/**
 * Sections with these elements, by the names of the sections; missing options have their defaults.
 * Later changes of the object count.
 */
export function sectionsOf(given: Readonly<Record<string, readonly Options[]>>): Sections {
  const elements = <Table extends OptionTable>(
    section: SectionSpec<Table>,
  ): readonly OptionsOf<Table>[] =>
    (given[section.name] ?? []).map((element) => optionsGiven(section.options, element));
  return {
    elements,
    section: (section, element = '') => {
      const { elementKey: key } = section;
      const all = elements(section);
      if (key === undefined || element === '') return all[0];
      return all.find((options) => options[key] === element);
    },
  };
}

/** Options of a table: the given ones, and defaults for the others. */
export function optionsGiven<Table extends OptionTable>(
  table: Table,
  given: Options,
): OptionsOf<Table> {
  return optionsOf(table, (spec, name) => given[name] ?? spec.default);
}
