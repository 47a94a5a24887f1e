// A section of the configuration whose options can be overridden while the service runs.
import type { Options, OptionSpec } from './options.ts';

/**
 * A section of the configuration that belongs to handlers or to another service: `[smtp]`,
 * `[[httppost]]`.
 */
export type SectionSpec = {
  readonly name: string;
  /** Older names under which the section may be written and addressed. */
  readonly aliases?: readonly string[];
  readonly doc: string;
  /**
   * Name of the option that tells the elements of a list section apart; absent for a single
   * section.
   */
  readonly elementKey?: string | undefined;
  /** Elements of a list section that exist without being written down. */
  readonly defaultElements?: readonly Options[];
  readonly options: readonly OptionSpec[];
  /** Why these options can not be used; `undefined` when they can. */
  readonly validate?: (options: Options) => string | undefined;
  /** The same over all elements of a list section. */
  readonly validateAll?: (elements: readonly Options[]) => string | undefined;
};
