// A section of the configuration whose options can be overridden while the service runs.
import type { OptionsOf, OptionTable } from './options.ts';

/**
 * A section of the configuration that belongs to handlers or to another service: `[smtp]`,
 * `[[httppost]]`.
 */
export type SectionSpec<Table extends OptionTable = OptionTable> = {
  readonly name: string;
  /** Older names of the section. */
  readonly aliases?: readonly string[];
  readonly doc: string;
  /**
   * Name of the option that identifies the elements of a list section; absent for a single section.
   */
  readonly elementKey?: string | undefined;
  /** Elements of a list section that exist by default. */
  readonly defaultElements?: readonly OptionsOf<Table>[];
  readonly options: Table;
  /** Why these options are invalid; `undefined` if they are valid. */
  validate?(options: OptionsOf<Table>): string | undefined;
  /** The same over all elements of a list section. */
  validateAll?(elements: readonly OptionsOf<Table>[]): string | undefined;
};

/** The effective options of sections, secrets resolved. */
export interface Sections {
  /**
   * Options of a section's element; `undefined` if there is no such element. Without an element:
   * the single section, or a list section's only or default element.
   */
  section<Table extends OptionTable>(
    section: SectionSpec<Table>,
    element?: string,
  ): OptionsOf<Table> | undefined;
  /** Options of all elements of a section. */
  elements<Table extends OptionTable>(section: SectionSpec<Table>): readonly OptionsOf<Table>[];
}

/** A section with the options of its own table. */
export function defineSection<const Table extends OptionTable>(
  section: SectionSpec<Table> & { readonly elementKey?: keyof Table },
): SectionSpec<Table> {
  return section;
}
