// Buffers of this thread that nobody holds for long. Background work makes many of them and few
// objects besides, so that the engine's own collections come late: a flush of a million series held
// 40 MiB of buffers that were done with.
import { YoungBuffers } from '@tidemark/process';

const buffers = new YoungBuffers();

/** So many bytes were copied into buffers that are done with soon. */
export function noteShortLived(sizeBytes: number): void {
  buffers.note(sizeBytes);
}
