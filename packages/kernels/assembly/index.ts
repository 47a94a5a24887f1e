// Everything that the loader can call.
export {
  blockBound,
  encodeBlock,
  encodeStringBlock,
  finishBlock,
  finishStringBlock,
  startBlock,
} from './blocks';
export { crc32c } from './crc32c';
export { memoryInUse, scratch, trimScratch } from './memory';
export { stringBytes, stringCodes, stringEntries, stringOffsets, stringsBound } from './strings';
