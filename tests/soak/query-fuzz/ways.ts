// The ways to send a statement: precision of times, formats, chunks, forms, bound parameters.
import type { Random } from './random.ts';

export type Way = {
  readonly parameters: Readonly<Record<string, string>>;
  readonly accept?: string | undefined;
  /** Sent as a form instead of in the address. */
  readonly isForm?: boolean | undefined;
};

export const PLAIN: Way = { parameters: {} };

const EPOCHS = ['ns', 'u', 'ms', 's', 'm', 'h'] as const;

/** A way to ask this text, and the text for it: parameters stand in the place of literals. */
export function randomWay(
  random: Random,
  text: string,
): { readonly way: Way; readonly text: string } {
  const epoch = { epoch: random.pick(EPOCHS) };
  const chunks = { chunked: 'true', chunk_size: String(1 + random.below(4)) };
  const isSelect = text.startsWith('SELECT');
  switch (random.below(8)) {
    case 7:
      // The policy of the request, there or not; lists of names lie in all policies.
      return {
        text,
        way: { parameters: isSelect ? { rp: random.pick(['autogen', 'nosuch']) } : epoch },
      };
    case 0:
      return { text, way: { parameters: epoch } };
    case 1:
      return { text, way: { parameters: { ...epoch, pretty: 'true' }, isForm: true } };
    case 2:
      // Statements that list names have chunks of another rule (docs/compat/differences.md).
      return { text, way: { parameters: isSelect ? chunks : epoch } };
    case 3:
      return { text, way: { parameters: {}, accept: 'application/csv' } };
    case 4:
      return { text, way: { parameters: epoch, accept: 'application/csv' } };
    case 5:
      return { text, way: { parameters: {}, accept: 'application/x-msgpack' } };
    default:
      return withParameters(text);
  }
}

const COMPARED_LITERAL = /( (?:=|!=|<|<=|>|>=) )('[^'\\]*'|true|false|-?\d+(?:\.\d+)?)(?=[ )]|$)/g;

function withParameters(text: string): { readonly way: Way; readonly text: string } {
  const literals: string[] = [];
  const bound = text.replace(COMPARED_LITERAL, (_all, operator: string, literal: string) => {
    const name = `p${literals.length}`;
    const value = literal.startsWith("'") ? JSON.stringify(literal.slice(1, -1)) : literal;
    literals.push(`"${name}":${value}`);
    return `${operator}$${name}`;
  });
  return { text: bound, way: { parameters: { params: `{${literals.join()}}` } } };
}

/** How a way reads in a report. */
export function wayText({ parameters, accept, isForm }: Way): string {
  const written = new URLSearchParams(parameters).toString();
  return [isForm === true ? 'form' : '', accept ?? '', written]
    .filter((one) => one !== '')
    .join(' ');
}
