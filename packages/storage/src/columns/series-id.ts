// Numbers that stand for something inside one database.

/** A series: dense, ascending, never used again. */
export type SeriesId = number;
/** A text that is the value of some tag. */
export type SymbolId = number;
