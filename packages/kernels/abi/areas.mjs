// Scratch areas of linear memory. Each has one purpose and grows on demand, which loses its
// contents. An area belongs to one module of assembly/, its owner, or to the loader if it has none;
// a test checks that no other module names it. Lifetimes:
//
// - `call`: written for a call of an export, or by it, and unused after that.
// - `result`: written by exports of its owner, and read by the loader until one of them is called
//   again.
//
// Values that live longer have a handle: an address that one export returns and another one frees,
// or a `KernelBuffer` of src/ that is passed in.

export const AREAS = {
  input: { lifetime: 'call', holds: 'what an export reads' },
  output: { lifetime: 'call', holds: 'what an export writes' },
  references: { lifetime: 'call', holds: 'references to the texts of an input, row by row' },
  mask: { lifetime: 'call', holds: 'a mask of rows' },
  groups: { lifetime: 'call', holds: 'groups of rows for windows' },
  times: { lifetime: 'call', holds: 'times of rows for windows' },
  values: { lifetime: 'call', holds: 'values of rows for windows' },
  valid: { lifetime: 'call', holds: 'validity of rows for windows' },
  name: { lifetime: 'call', holds: 'a name or key that is looked up' },
  wideIds: { lifetime: 'call', owner: 'blocks', holds: 'ids of four bytes as integers of eight' },
  scaled: { lifetime: 'call', owner: 'floats', holds: 'floats as integers' },
  exceptions: { lifetime: 'call', owner: 'floats', holds: 'rows of floats that are not scaled' },
  symbols: { lifetime: 'call', owner: 'huffman', holds: 'values as symbols of a code' },
  dictionary: { lifetime: 'result', owner: 'strings', holds: 'hash table and distinct texts' },
  codes: { lifetime: 'result', owner: 'strings', holds: 'codes of texts, row by row' },
  lengths: { lifetime: 'result', owner: 'strings', holds: 'lengths or offsets of distinct texts' },
  texts: { lifetime: 'result', owner: 'strings', holds: 'distinct texts' },
  packedTexts: { lifetime: 'call', owner: 'strings', holds: 'distinct texts, compressed' },
  frames: { lifetime: 'result', owner: 'text-frames', holds: 'where packed frames begin' },
  filters: { lifetime: 'result', owner: 'text-frames', holds: 'filters of frames' },
  compressedFrame: { lifetime: 'call', owner: 'text-pack', holds: 'a frame as an LZ4 block' },
  frameSizes: { lifetime: 'call', owner: 'text-pack', holds: 'sizes of frames that are written' },
  frameFilters: { lifetime: 'call', owner: 'text-pack', holds: 'filters that are written' },
  sequences: { lifetime: 'call', owner: 'sequences', holds: 'bytes of an LZ4 block by kind' },
  expanded: { lifetime: 'call', owner: 'cached', holds: 'values of a cached column in full width' },
  expandedTimes: {
    lifetime: 'call',
    owner: 'cached-windows',
    holds: 'times of a cached column in full width',
  },
  windowRun: {
    lifetime: 'call',
    owner: 'windows',
    holds: 'windows of the rows that are being added',
  },
  talliedTimes: { lifetime: 'call', owner: 'tally-rows', holds: 'times of a cached column' },
  talliedValues: { lifetime: 'call', owner: 'tally-rows', holds: 'values of a cached column' },
  scopedName: { lifetime: 'call', owner: 'names', holds: 'a scope and a name that is looked up' },
  tagWords: { lifetime: 'result', owner: 'series-list', holds: 'split series' },
  keyPart: { lifetime: 'call', owner: 'series-list', holds: 'a part of a key without its escapes' },
  listKey: { lifetime: 'call', owner: 'series-list', holds: 'the key of an entry of a list' },
  sparseStarts: {
    lifetime: 'call',
    owner: 'sparse-rows',
    holds: 'where the values of each row or column of a sparse table begin',
  },
  sparseColumn: {
    lifetime: 'call',
    owner: 'sparse-rows',
    holds: 'the values of a sparse table by column, and one column with a place per row',
  },
  idCounts: { lifetime: 'call', owner: 'row-order', holds: 'how many rows each id has' },
};
