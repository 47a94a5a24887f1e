// Types of generate.mjs for tests.

export function outdatedFiles(): string[];

export function parseSignature(signature: string): {
  readonly name: string;
  readonly parameters: readonly (readonly [name: string, type: string])[];
  readonly result: string;
};
