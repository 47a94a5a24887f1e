// The part of this package that needs no Node, so that definitions used by pages can be built from
// it: tables of options.
export * from './option-rows.ts';
export type { OptionsOf, OptionSpec, OptionTable, OptionType } from './options.ts';
