// What a decoder says about bytes that it cannot read.

/**
 * Why bytes are not a block: `truncated` ends early, `encoding` is unknown, `value` contradicts
 * itself.
 */
export type CodecErrorReason = 'truncated' | 'encoding' | 'value' | 'too-large';

/**
 * Thrown by every decoder for bytes that no encoder wrote. Storage turns it into `Corruption` with
 * file and offset.
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
  encoding: 'encoded block has an unknown encoding',
  value: 'encoded block contradicts itself',
  'too-large': 'encoded block is larger than any encoder writes',
};

// In step with the ERROR_ constants of assembly/bytes.ts: -1, -2, …
const REASONS: readonly CodecErrorReason[] = ['truncated', 'encoding', 'value', 'too-large'];

/** Throws for the negative results of kernels. */
export function checkResult(result: number, what: string): number {
  if (result >= 0) return result;
  throw new CodecError(REASONS[-result - 1] ?? 'value', what);
}
