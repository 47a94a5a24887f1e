// Counts short-lived buffers, to have them collected in time. Background work allocates many
// buffers but few objects, so V8's own collections come late: a flush of a million series held 40
// MiB of dead buffers.
import { YoungBuffers } from '@tidemark/process';

const buffers = new YoungBuffers();

/** Reports bytes that were copied into buffers which will soon be garbage. */
export function noteShortLived(sizeBytes: number): void {
  buffers.note(sizeBytes);
}
