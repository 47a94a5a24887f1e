// Errors of decoders, for bytes that they cannot read.
import { CODEC_ERRORS } from './abi.gen.ts';

/**
 * `truncated`: the block ends too early; `encoding`: the encoding is unknown; `value`: the contents
 * contradict each other.
 */
export type CodecErrorReason = keyof typeof CODEC_ERRORS;

/**
 * Thrown by every decoder for bytes that no encoder wrote. Storage turns it into `Corruption` with
 * the file and the offset.
 */
export class CodecError extends Error {
  override readonly name = 'CodecError';
  readonly reason: CodecErrorReason;

  constructor(reason: CodecErrorReason, what: string) {
    super(`${MESSAGES[reason]}. what=\`${what}\``);
    this.reason = reason;
  }
}

const MESSAGES: Readonly<Record<CodecErrorReason, string>> = {
  truncated: 'encoded block ends early',
  encoding: 'encoded block has an encoding that this version does not know',
  value: 'encoded block contradicts itself',
  'too-large': 'encoded block is larger than any encoder writes',
};

const REASONS = new Map<number, CodecErrorReason>(
  (Object.keys(CODEC_ERRORS) as CodecErrorReason[]).map((reason) => [CODEC_ERRORS[reason], reason]),
);

/** Throws the error for a kernel's negative result; returns other results. */
export function checkResult(result: number, what: string): number {
  if (result >= 0) return result;
  throw new CodecError(REASONS.get(result) ?? 'value', what);
}
