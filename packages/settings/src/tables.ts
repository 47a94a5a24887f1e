// What of this package needs no Node, so that definitions which pages use can be made of it: tables
// of options.
export * from './option-rows.ts';
export type { OptionsOf, OptionSpec, OptionTable, OptionType } from './options.ts';
