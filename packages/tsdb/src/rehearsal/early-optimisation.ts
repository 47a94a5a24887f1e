// When V8 optimises a function: behind so much bytecode that it has run, three times and more often
// for long functions. What runs once per request gets there after hundreds to thousands of them.
import { setFlagsFromString } from 'node:v8';

/**
 * What V8 sets by itself, by the versions that this was measured with. In others nothing is
 * changed.
 */
const USUAL_BUDGET_BYTES: Readonly<Record<string, number>> = { '11.3': 66 << 10 };

/** With less, V8 optimises before it has seen enough, and throws more away. */
const EARLY_BUDGET_BYTES = 10_000;

/**
 * Lets V8 optimise earlier, in all threads of the process, until the result is called. For idle
 * times only: requests would wait for the compiler
 * (docs/benchmarks/2026-11-23-first-requests.md).
 */
export function optimiseEarly(v8Version = process.versions.v8): () => void {
  const usual = USUAL_BUDGET_BYTES[v8Version.split('.', 2).join('.')];
  if (usual === undefined) return () => undefined;
  setBudget(EARLY_BUDGET_BYTES);
  return () => setBudget(usual);
}

function setBudget(sizeBytes: number): void {
  setFlagsFromString(`--interrupt-budget=${sizeBytes}`);
}
