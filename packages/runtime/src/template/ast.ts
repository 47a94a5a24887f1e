// Syntax tree of a text template.

/** Offsets of a node in the template text. */
type At = { readonly at: number; readonly text: string };

export type Operand = At &
  (
    | { readonly kind: 'dot' }
    | { readonly kind: 'nil' }
    | { readonly kind: 'literal'; readonly value: string | number | bigint | boolean }
    | { readonly kind: 'field'; readonly names: readonly string[] }
    | { readonly kind: 'variable'; readonly name: string; readonly names: readonly string[] }
    | { readonly kind: 'function'; readonly name: string }
    | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly names: readonly string[] }
  );

export type Command = At & { readonly operands: readonly Operand[] };

export type Pipeline = At & {
  readonly commands: readonly Command[];
  /** `$x := …` declares, `$x = …` assigns; range takes two. */
  readonly variables: readonly string[];
  readonly isAssignment: boolean;
};

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: Pipeline }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipeline: Pipeline;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    }
  | { readonly kind: 'break' | 'continue' }
  /** Runs a named part of the template; without a pipeline it has no data. */
  | (At & {
      readonly kind: 'template';
      readonly name: string;
      readonly pipeline: Pipeline | undefined;
    });
