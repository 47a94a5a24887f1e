// Vars: values that a task gives to the `var` names of its script, and the defaults that the script
// declares.
import type { VarType } from '@tidemark/tickscript';

/** A var's value. Lambdas and regular expressions are kept as the text that was supplied. */
export type VarValue =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  /** A text that is never shown. */
  | { readonly kind: 'secret'; readonly value: string }
  | { readonly kind: 'duration'; readonly nanos: bigint }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'lambda'; readonly text: string }
  | { readonly kind: 'star' }
  | {
      readonly kind: 'list';
      readonly items: readonly (
        | { readonly kind: 'string'; readonly value: string }
        | { readonly kind: 'star' }
      )[];
    };

/** The type that a task may give to a var. Scripts declare a `secret` as a string. */
export type GivenVarType = VarType | 'secret';

/** `value` is `undefined` for a typed var without default (`null` in JSON). */
export type Var = {
  readonly type: GivenVarType;
  readonly value: VarValue | undefined;
  readonly description: string;
};

/** In the order of declaration or of the JSON object. */
export type Vars = ReadonlyMap<string, Var>;
